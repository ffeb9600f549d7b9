"""System procedures written in T-SQL over the catalogue views."""

from __future__ import annotations

TEXTS: dict[str, str] = {
    "sp_who": """create procedure sys.sp_who @loginame sysname = null as
select spid, ecid, status, loginame, hostname, convert(char(5), blocked) as blk, db_name(dbid) as dbname, cmd, request_id
from sys.sysprocesses where @loginame is null or loginame = @loginame or convert(varchar(5), spid) = @loginame
    or (lower(@loginame) = 'active' and cmd <> 'AWAITING COMMAND')
order by spid""",
    "sp_who2": """create procedure sys.sp_who2 @loginame sysname = null as
select convert(char(5), spid) as SPID, status as Status, loginame as Login, case hostname when '' then '  .' else hostname end as HostName,
    case blocked when 0 then '  .' else convert(varchar(5), blocked) end as BlkBy, db_name(dbid) as DBName, cmd as Command, cpu as CPUTime,
    physical_io as DiskIO, convert(varchar(14), last_batch, 101) as LastBatch, program_name as ProgramName, convert(char(5), spid) as SPID,
    convert(char(5), request_id) as REQUESTID
from sys.sysprocesses where @loginame is null or loginame = @loginame or convert(varchar(5), spid) = @loginame
    or (lower(@loginame) = 'active' and cmd <> 'AWAITING COMMAND')
order by sysprocesses.spid""",
    "sp_lock": """create procedure sys.sp_lock @spid1 int = null, @spid2 int = null as
select convert(smallint, request_session_id) as spid, convert(smallint, resource_database_id) as dbid,
    convert(int, case resource_type when 'OBJECT' then resource_associated_entity_id else 0 end) as ObjId, convert(smallint, 0) as IndId,
    case resource_type when 'DATABASE' then 'DB' when 'OBJECT' then 'TAB' when 'APPLICATION' then 'APP' else resource_type end as Type,
    substring(resource_description, 1, 32) as Resource, request_mode as Mode, request_status as Status
from sys.dm_tran_locks where @spid1 is null or request_session_id in (@spid1, @spid2)
order by request_session_id""",
    "sp_databases": """create procedure sys.sp_databases as
select d.name as DATABASE_NAME, convert(int, sum(convert(bigint, f.size)) * 8) as DATABASE_SIZE, convert(varchar(254), null) as REMARKS
from sys.databases d join sys.master_files f on f.database_id = d.database_id group by d.name order by d.name""",
    "sp_helpdb": """create procedure sys.sp_helpdb @dbname sysname = null as
if @dbname is not null and db_id(@dbname) is null
begin
    raiserror(15010, -1, -1, @dbname)
    return 1
end
select d.name, str(sum(convert(float, f.size)) * 8 / 1024, 10, 2) + ' MB' as db_size, 'sa' as owner, d.database_id as dbid,
    convert(nvarchar(11), d.create_date) as created,
    'Status=' + d.state_desc + ', Updateability=' + case d.is_read_only when 1 then 'READ_ONLY' else 'READ_WRITE' end + ', UserAccess='
        + d.user_access_desc + ', Recovery=' + d.recovery_model_desc + ', Version=957, Collation=' + d.collation_name as status,
    d.compatibility_level
from sys.databases d join sys.master_files f on f.database_id = d.database_id
where @dbname is null or d.name = @dbname
group by d.name, d.database_id, d.create_date, d.state_desc, d.is_read_only, d.user_access_desc, d.recovery_model_desc, d.collation_name,
    d.compatibility_level
order by d.name
if @dbname is not null
    select f.name, f.file_id as fileid, f.physical_name as filename, case f.type when 0 then 'PRIMARY' end as filegroup,
        convert(nvarchar(15), convert(bigint, f.size) * 8) + ' KB' as size,
        case f.max_size when -1 then 'Unlimited' else convert(nvarchar(15), convert(bigint, f.max_size) * 8) + ' KB' end as maxsize,
        case f.is_percent_growth when 1 then convert(nvarchar(15), f.growth) + '%' else convert(nvarchar(15), convert(bigint, f.growth) * 8) + ' KB' end as growth,
        case f.type when 1 then 'log only' else 'data only' end as usage
    from sys.master_files f where f.database_id = db_id(@dbname) order by f.file_id""",
    "sp_helpfile": """create procedure sys.sp_helpfile @filename sysname = null as
select f.name, f.file_id as fileid, f.physical_name as filename, case f.type when 0 then 'PRIMARY' end as filegroup,
    convert(nvarchar(15), convert(bigint, f.size) * 8) + ' KB' as size,
    case f.max_size when -1 then 'Unlimited' else convert(nvarchar(15), convert(bigint, f.max_size) * 8) + ' KB' end as maxsize,
    case f.is_percent_growth when 1 then convert(nvarchar(15), f.growth) + '%' else convert(nvarchar(15), convert(bigint, f.growth) * 8) + ' KB' end as growth,
    case f.type when 1 then 'log only' else 'data only' end as usage
from sys.database_files f where @filename is null or f.name = @filename order by f.file_id""",
    "sp_helpindex": """create procedure sys.sp_helpindex @objname nvarchar(776) as
select i.name as index_name, lower(i.type_desc) + case when i.is_unique = 1 then ', unique' else '' end
    + case when i.is_primary_key = 1 then ', primary key' else '' end + ' located on PRIMARY' as index_description,
    (select string_agg(c.name + case when k.is_descending_key = 1 then '(-)' else '' end, ', ') within group (order by k.key_ordinal)
     from sys.index_columns k join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
     where k.object_id = i.object_id and k.index_id = i.index_id and k.is_included_column = 0) as index_keys
from sys.indexes i where i.object_id = object_id(@objname) and i.index_id > 0 order by i.name""",
    "sp_tables": """create procedure sys.sp_tables @table_name nvarchar(384) = null, @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @table_type varchar(100) = null, @fUsePattern bit = 1 as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, o.name as TABLE_NAME,
    convert(varchar(32), case o.type when 'U' then 'TABLE' else 'VIEW' end) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
where o.type in ('U', 'V') and (@table_name is null or o.name like @table_name) and (@table_owner is null or s.name like @table_owner)
    and (@table_type is null or charindex(case o.type when 'U' then '''TABLE''' else '''VIEW''' end, @table_type) > 0)
order by 4, 2, 3""",
    "sp_stored_procedures": """create procedure sys.sp_stored_procedures @sp_name nvarchar(390) = null, @sp_owner nvarchar(384) = null, @sp_qualifier sysname = null,
    @fUsePattern bit = 1 as
select db_name() as PROCEDURE_QUALIFIER, s.name as PROCEDURE_OWNER, convert(nvarchar(134), o.name + ';1') as PROCEDURE_NAME,
    -1 as NUM_INPUT_PARAMS, -1 as NUM_OUTPUT_PARAMS, -1 as NUM_RESULT_SETS, convert(varchar(254), null) as REMARKS,
    convert(smallint, case o.type when 'P' then 1 else 2 end) as PROCEDURE_TYPE
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
where o.type in ('P', 'FN', 'TF', 'IF') and (@sp_name is null or o.name like @sp_name) and (@sp_owner is null or s.name like @sp_owner)
order by 2, 3""",
    "sp_pkeys": """create procedure sys.sp_pkeys @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, t.name as TABLE_NAME, c.name as COLUMN_NAME, convert(smallint, k.key_ordinal) as KEY_SEQ,
    i.name as PK_NAME
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id join sys.indexes i on i.object_id = t.object_id and i.is_primary_key = 1
    join sys.index_columns k on k.object_id = i.object_id and k.index_id = i.index_id
    join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
where t.name = @table_name and (@table_owner is null or s.name = @table_owner)
order by 1, 2, 3, 5""",
}

_STATISTICS = """create procedure sys.{name} @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null, @index_name sysname = '%',
    @is_unique char(1) = 'N', @accuracy char(1) = 'Q' as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, t.name as TABLE_NAME, convert(smallint, null) as NON_UNIQUE, convert(sysname, null) as INDEX_QUALIFIER,
    convert(sysname, null) as INDEX_NAME, convert(smallint, 0) as TYPE, convert(smallint, null) as SEQ_IN_INDEX, convert(sysname, null) as COLUMN_NAME,
    convert(char(1), null) as COLLATION, convert(int, p.row_count) as CARDINALITY, convert(int, p.used_page_count) as PAGES, convert(varchar(128), null) as FILTER_CONDITION
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id
    join sys.dm_db_partition_stats p on p.object_id = t.object_id and p.index_id < 2
where t.name = @table_name and (@table_owner is null or s.name = @table_owner)
union all
select db_name(), s.name, t.name, convert(smallint, case i.is_unique when 1 then 0 else 1 end), t.name, i.name,
    convert(smallint, case i.index_id when 1 then 1 else 3 end), convert(smallint, k.key_ordinal), c.name,
    convert(char(1), case k.is_descending_key when 1 then 'D' else 'A' end), convert(int, p.row_count), convert(int, p.used_page_count), null
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id join sys.indexes i on i.object_id = t.object_id and i.index_id > 0
    join sys.index_columns k on k.object_id = i.object_id and k.index_id = i.index_id and k.is_included_column = 0
    join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
    join sys.dm_db_partition_stats p on p.object_id = i.object_id and p.index_id = i.index_id
where t.name = @table_name and (@table_owner is null or s.name = @table_owner) and i.name like @index_name
    and (@is_unique <> 'Y' or i.is_unique = 1)
order by 4, 7, 6, 8"""

_COLUMNS = """create procedure sys.{name} @table_name nvarchar(384), @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
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
order by 1, 2, 3, ORDINAL_POSITION"""

_TYPES = """create procedure sys.{name} @data_type int = 0, @ODBCVer tinyint = 2 as
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
    (N'date', case @ODBCVer when 3 then 91 else -9 end, 10, N'''', N'''', null, 0, 3, null, null, null, 0, null, 0),
    (N'time', case @ODBCVer when 3 then -154 else -9 end, 16, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
    (N'datetime', case @ODBCVer when 3 then 93 else 11 end, 23, N'''', N'''', null, 0, 3, null, null, 3, 3, null, 12),
    (N'datetime2', case @ODBCVer when 3 then 93 else -9 end, 27, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
    (N'datetimeoffset', case @ODBCVer when 3 then -155 else -9 end, 34, N'''', N'''', N'scale', 0, 3, null, null, 0, 7, null, 0),
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
order by 2, 1"""

for _name in ("sp_statistics", "sp_statistics_100"):
    TEXTS[_name] = _STATISTICS.format(name=_name)
for _name in ("sp_columns", "sp_columns_100"):
    TEXTS[_name] = _COLUMNS.format(name=_name)
for _name in ("sp_datatype_info", "sp_datatype_info_100"):
    TEXTS[_name] = _TYPES.format(name=_name)
