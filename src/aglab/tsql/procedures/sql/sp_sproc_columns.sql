create procedure sys.sp_sproc_columns @procedure_name nvarchar(390) = '%', @procedure_owner nvarchar(384) = null,
    @procedure_qualifier sysname = null, @column_name nvarchar(384) = null, @ODBCVer int = 2, @fUsePattern bit = 1 as
select db_name() as PROCEDURE_QUALIFIER, s.name as PROCEDURE_OWNER, convert(nvarchar(134), o.name + ';1') as PROCEDURE_NAME,
    convert(sysname, p.name) as COLUMN_NAME, convert(smallint, p.kind) as COLUMN_TYPE,
    /*odbc_type t.name*/ as DATA_TYPE,
    t.name as TYPE_NAME,
    convert(int, case when p.max_length = -1 then 0 when t.name in ('nchar', 'nvarchar') then p.max_length / 2
        when t.name in ('char', 'varchar', 'binary', 'varbinary') then p.max_length else p.precision end) as [PRECISION],
    convert(int, case p.max_length when -1 then 0 else p.max_length end) as LENGTH, convert(smallint, p.scale) as SCALE,
    convert(smallint, case when p.precision > 0 then 10 end) as RADIX, convert(smallint, case p.kind when 5 then 0 else 1 end) as NULLABLE,
    convert(varchar(254), null) as REMARKS, convert(nvarchar(4000), null) as COLUMN_DEF, convert(smallint, null) as SQL_DATA_TYPE,
    convert(smallint, null) as SQL_DATETIME_SUB, convert(int, case when t.name like '%char%' then nullif(p.max_length, -1) end) as CHAR_OCTET_LENGTH,
    convert(int, p.parameter_id) as ORDINAL_POSITION, convert(varchar(254), case p.kind when 5 then 'NO' else 'YES' end) as IS_NULLABLE,
    convert(tinyint, 38) as SS_DATA_TYPE
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
    join (select object_id, 0 as parameter_id, N'@RETURN_VALUE' as name, 5 as kind, 56 as user_type_id, 4 as max_length, 10 as precision, 0 as scale
        from sys.procedures
        union all select object_id, parameter_id, name, case is_output when 1 then 2 else 1 end, user_type_id, max_length, precision, scale
        from sys.parameters where parameter_id > 0) p on p.object_id = o.object_id
    join sys.types t on t.user_type_id = p.user_type_id
where o.name like @procedure_name and (@procedure_owner is null or s.name like @procedure_owner) and (@column_name is null or p.name like @column_name)
order by 2, 3, p.parameter_id
