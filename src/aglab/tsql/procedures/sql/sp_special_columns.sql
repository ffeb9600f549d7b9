create procedure sys.sp_special_columns @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null,
    @col_type char(1) = 'R', @scope char(1) = 'T', @nullable char(1) = 'U', @ODBCVer int = 2 as
select convert(smallint, 1) as SCOPE, c.name as COLUMN_NAME,
    /*odbc_type t.name*/ as DATA_TYPE,
    convert(sysname, t.name + case c.is_identity when 1 then ' identity' else '' end) as TYPE_NAME, convert(int, c.precision) as [PRECISION],
    convert(int, c.max_length) as LENGTH, convert(smallint, c.scale) as SCALE, convert(smallint, 1) as PSEUDO_COLUMN
from sys.tables o join sys.schemas s on s.schema_id = o.schema_id join sys.indexes i on i.object_id = o.object_id and i.is_primary_key = 1
    join sys.index_columns k on k.object_id = o.object_id and k.index_id = i.index_id
    join sys.columns c on c.object_id = o.object_id and c.column_id = k.column_id join sys.types t on t.user_type_id = c.user_type_id
where o.name = @table_name and (@table_owner is null or s.name = @table_owner) and @col_type = 'R'
order by k.key_ordinal
