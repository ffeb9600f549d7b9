create procedure sys.sp_datatype_info @data_type int = 0, @ODBCVer tinyint = 2 as
select t.TYPE_NAME, convert(smallint, t.DATA_TYPE) as DATA_TYPE, t.[PRECISION], t.LITERAL_PREFIX, t.LITERAL_SUFFIX, t.CREATE_PARAMS,
    convert(smallint, 1) as NULLABLE, convert(smallint, t.CASE_SENSITIVE) as CASE_SENSITIVE, convert(smallint, t.SEARCHABLE) as SEARCHABLE,
    convert(smallint, t.UNSIGNED) as UNSIGNED_ATTRIBUTE, convert(smallint, 0) as MONEY, convert(smallint, t.AUTO_INCREMENT) as AUTO_INCREMENT,
    t.TYPE_NAME as LOCAL_TYPE_NAME, convert(smallint, t.MIN_SCALE) as MINIMUM_SCALE, convert(smallint, t.MAX_SCALE) as MAXIMUM_SCALE,
    convert(smallint, t.DATA_TYPE) as SQL_DATA_TYPE, convert(smallint, null) as SQL_DATETIME_SUB, convert(int, t.RADIX) as NUM_PREC_RADIX,
    convert(smallint, null) as INTERVAL_PRECISION, convert(smallint, t.USERTYPE) as USERTYPE
from (values
    (N'bit', -7, 1, null, null, null, 0, 2, null, 0, 0, 0, null, 16), (N'tinyint', -6, 3, null, null, null, 0, 2, 1, 0, 0, 0, 10, 5),
    (N'smallint', 5, 5, null, null, null, 0, 2, 0, 0, 0, 0, 10, 6), (N'int', 4, 10, null, null, null, 0, 2, 0, 0, 0, 0, 10, 7),
    (N'bigint', -5, 19, null, null, null, 0, 2, 0, 0, 0, 0, 10, 0), (N'decimal', 3, 38, null, null, N'precision,scale', 0, 2, 0, 0, 0, 38, 10, 24),
    (N'numeric', 2, 38, null, null, N'precision,scale', 0, 2, 0, 0, 0, 38, 10, 10), (N'money', 3, 19, N'$', null, null, 0, 2, 0, 0, 4, 4, 10, 11),
    (N'float', 6, 53, null, null, null, 0, 2, 0, 0, null, null, 2, 8), (N'real', 7, 24, null, null, null, 0, 2, 0, 0, null, null, 2, 23),
    (N'date', case when @ODBCVer > 2 then 91 else -9 end, 10, N'''', N'''', null, 0, 3, null, null, null, 0, null, 0),
    (N'time', case when @ODBCVer > 2 then -154 else -9 end, 16, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
    (N'datetime', case when @ODBCVer > 2 then 93 else 11 end, 23, N'''', N'''', null, 0, 3, null, null, 3, 3, null, 12),
    (N'datetime2', case when @ODBCVer > 2 then 93 else -9 end, 27, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
    (N'datetimeoffset', case when @ODBCVer > 2 then -155 else -9 end, 34, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
    (N'char', 1, 8000, N'''', N'''', N'length', 0, 3, null, null, null, null, null, 1),
    (N'varchar', 12, 8000, N'''', N'''', N'max length', 0, 3, null, null, null, null, null, 2),
    (N'nchar', -8, 4000, N'N''', N'''', N'length', 0, 3, null, null, null, null, null, 0),
    (N'nvarchar', -9, 4000, N'N''', N'''', N'max length', 0, 3, null, null, null, null, null, 0),
    (N'text', -1, 2147483647, N'''', N'''', null, 0, 1, null, null, null, null, null, 19),
    (N'ntext', -10, 1073741823, N'N''', N'''', null, 0, 1, null, null, null, null, null, 0),
    (N'binary', -2, 8000, N'0x', null, N'length', 0, 2, null, null, null, null, null, 3),
    (N'varbinary', -3, 8000, N'0x', null, N'max length', 0, 2, null, null, null, null, null, 4),
    (N'image', -4, 2147483647, N'0x', null, null, 0, 0, null, null, null, null, null, 20),
    (N'uniqueidentifier', -11, 36, N'''', N'''', null, 0, 2, null, null, null, null, null, 0),
    (N'xml', -152, 0, N'N''', N'''', null, 1, 0, null, null, null, null, null, 0),
    (N'sql_variant', -150, 8000, null, null, null, 0, 2, null, 0, null, null, 10, 0)
) t(TYPE_NAME, DATA_TYPE, [PRECISION], LITERAL_PREFIX, LITERAL_SUFFIX, CREATE_PARAMS, CASE_SENSITIVE, SEARCHABLE, UNSIGNED, AUTO_INCREMENT, MIN_SCALE,
    MAX_SCALE, RADIX, USERTYPE)
where @data_type = 0 or t.DATA_TYPE = @data_type
order by 2, 1
