create procedure sys.sp_pkeys @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, t.name as TABLE_NAME, c.name as COLUMN_NAME, convert(smallint, k.key_ordinal) as KEY_SEQ,
    i.name as PK_NAME
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id join sys.indexes i on i.object_id = t.object_id and i.is_primary_key = 1
    join sys.index_columns k on k.object_id = i.object_id and k.index_id = i.index_id
    join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
where t.name = @table_name and (@table_owner is null or s.name = @table_owner)
order by 1, 2, 3, 5
