create procedure sys.sp_columns @table_name nvarchar(384), @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @column_name nvarchar(384) = null, @NameScope int = 0, @ODBCVer int = 2, @fUsePattern bit = 1 as
select TABLE_CATALOG as TABLE_QUALIFIER, TABLE_SCHEMA as TABLE_OWNER, TABLE_NAME, COLUMN_NAME,
    convert(smallint, case DATA_TYPE when 'bit' then -7 when 'tinyint' then -6 when 'smallint' then 5 when 'int' then 4 when 'bigint' then -5
        when 'decimal' then 3 when 'numeric' then 2 when 'money' then 3 when 'smallmoney' then 3 when 'float' then 6 when 'real' then 7
        when 'date' then case @ODBCVer when 3 then 91 else -9 end when 'time' then -154 when 'datetime' then case @ODBCVer when 3 then 93 else 11 end
        when 'smalldatetime' then case @ODBCVer when 3 then 93 else 11 end when 'datetime2' then case @ODBCVer when 3 then 93 else -9 end
        when 'datetimeoffset' then -155 when 'char' then 1 when 'varchar' then 12 when 'nchar' then -8 when 'nvarchar' then -9 when 'text' then -1
        when 'ntext' then -10 when 'binary' then -2 when 'varbinary' then -3 when 'image' then -4 when 'uniqueidentifier' then -11 when 'xml' then -152
        else -150 end) as DATA_TYPE,
    convert(sysname, c.DATA_TYPE + case when i.object_id is null then '' else ' identity' end) as TYPE_NAME,
    convert(int, coalesce(case CHARACTER_MAXIMUM_LENGTH when -1 then 0 else CHARACTER_MAXIMUM_LENGTH end, NUMERIC_PRECISION,
        case DATA_TYPE when 'date' then 10 when 'datetime' then 23 when 'smalldatetime' then 16 when 'time' then 16 when 'datetime2' then 27
        when 'datetimeoffset' then 34 when 'uniqueidentifier' then 36 when 'bit' then 1 end)) as [PRECISION],
    convert(int, coalesce(case CHARACTER_OCTET_LENGTH when -1 then 0 else CHARACTER_OCTET_LENGTH end,
        case DATA_TYPE when 'bit' then 1 when 'tinyint' then 1 when 'smallint' then 2 when 'int' then 4 when 'bigint' then 8 when 'float' then 8
        when 'real' then 4 when 'datetime' then 16 when 'date' then 6 when 'datetime2' then 16 when 'uniqueidentifier' then 16
        when 'money' then 21 when 'smallmoney' then 12 else NUMERIC_PRECISION + 2 end)) as LENGTH,
    convert(smallint, coalesce(NUMERIC_SCALE, DATETIME_PRECISION)) as SCALE, convert(smallint, NUMERIC_PRECISION_RADIX) as RADIX,
    convert(smallint, case IS_NULLABLE when 'YES' then 1 else 0 end) as NULLABLE, convert(varchar(254), null) as REMARKS,
    convert(nvarchar(4000), COLUMN_DEFAULT) as COLUMN_DEF, convert(smallint, null) as SQL_DATA_TYPE, convert(smallint, null) as SQL_DATETIME_SUB,
    convert(int, CHARACTER_OCTET_LENGTH) as CHAR_OCTET_LENGTH, convert(int, ORDINAL_POSITION) as ORDINAL_POSITION,
    convert(varchar(254), IS_NULLABLE) as IS_NULLABLE, convert(tinyint, case when i.object_id is null then 38 else 56 end) as SS_DATA_TYPE
from INFORMATION_SCHEMA.COLUMNS c
    left join sys.identity_columns i on i.object_id = object_id(quotename(c.TABLE_SCHEMA) + '.' + quotename(c.TABLE_NAME)) and i.name = c.COLUMN_NAME
where TABLE_NAME like @table_name and (@table_owner is null or TABLE_SCHEMA like @table_owner) and (@column_name is null or COLUMN_NAME like @column_name)
order by 1, 2, 3, ORDINAL_POSITION
