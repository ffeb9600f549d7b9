create procedure sys.sp_columns @table_name nvarchar(384), @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @column_name nvarchar(384) = null, @NameScope int = 0, @ODBCVer int = 2, @fUsePattern bit = 1 as
select TABLE_CATALOG as TABLE_QUALIFIER, TABLE_SCHEMA as TABLE_OWNER, TABLE_NAME, COLUMN_NAME,
    /*odbc_type DATA_TYPE*/ as DATA_TYPE,
    convert(sysname, c.DATA_TYPE + case when i.object_id is null then '' else ' identity' end) as TYPE_NAME,
    convert(int, coalesce(case CHARACTER_MAXIMUM_LENGTH when -1 then 0 else CHARACTER_MAXIMUM_LENGTH end, NUMERIC_PRECISION,
        case DATA_TYPE when 'date' then 10 when 'datetime' then 23 when 'smalldatetime' then 16 when 'time' then 8 + DATETIME_PRECISION + sign(DATETIME_PRECISION)
        when 'datetime2' then 19 + DATETIME_PRECISION + sign(DATETIME_PRECISION)
        when 'datetimeoffset' then 26 + DATETIME_PRECISION + sign(DATETIME_PRECISION) when 'uniqueidentifier' then 36 when 'bit' then 1 end)) as [PRECISION],
    convert(int, coalesce(case CHARACTER_OCTET_LENGTH when -1 then 0 else CHARACTER_OCTET_LENGTH end,
        case DATA_TYPE when 'bit' then 1 when 'tinyint' then 1 when 'smallint' then 2 when 'int' then 4 when 'bigint' then 8 when 'float' then 8
        when 'real' then 4 when 'datetime' then 16 when 'date' then 6 when 'time' then 12 when 'datetime2' then 16 when 'datetimeoffset' then 20 when 'smalldatetime' then 16 when 'uniqueidentifier' then 16
        when 'money' then 21 when 'smallmoney' then 12 else NUMERIC_PRECISION + 2 end)) as LENGTH,
    convert(smallint, coalesce(NUMERIC_SCALE, DATETIME_PRECISION)) as SCALE, convert(smallint, NUMERIC_PRECISION_RADIX) as RADIX,
    convert(smallint, case c.IS_NULLABLE when 'YES' then 1 else 0 end) as NULLABLE, convert(varchar(254), null) as REMARKS,
    convert(nvarchar(4000), COLUMN_DEFAULT) as COLUMN_DEF, convert(smallint, null) as SQL_DATA_TYPE, convert(smallint, null) as SQL_DATETIME_SUB,
    convert(int, CHARACTER_OCTET_LENGTH) as CHAR_OCTET_LENGTH, convert(int, ORDINAL_POSITION) as ORDINAL_POSITION,
    convert(varchar(254), c.IS_NULLABLE) as IS_NULLABLE, convert(tinyint, case when i.object_id is null then 38 else 56 end) as SS_DATA_TYPE
from INFORMATION_SCHEMA.COLUMNS c
    left join sys.identity_columns i on i.object_id = object_id(quotename(c.TABLE_SCHEMA) + '.' + quotename(c.TABLE_NAME)) and i.name = c.COLUMN_NAME
where TABLE_NAME like @table_name and (@table_owner is null or TABLE_SCHEMA like @table_owner) and (@column_name is null or COLUMN_NAME like @column_name)
order by 1, 2, 3, ORDINAL_POSITION
