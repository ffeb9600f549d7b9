create procedure sys.sp_tables @table_name nvarchar(384) = null, @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @table_type varchar(100) = null, @fUsePattern bit = 1 as
-- SQLTables lists databases, schemas or kinds of tables where one argument is % and the others are empty.
if @table_qualifier = '%' and @table_owner = '' and @table_name = ''
    select d.name as TABLE_QUALIFIER, convert(sysname, null) as TABLE_OWNER, convert(sysname, null) as TABLE_NAME,
        convert(varchar(32), null) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
    from sys.databases d order by 1
else if @table_owner = '%' and @table_qualifier = '' and @table_name = ''
    select convert(sysname, null) as TABLE_QUALIFIER, s.name as TABLE_OWNER, convert(sysname, null) as TABLE_NAME,
        convert(varchar(32), null) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
    from sys.schemas s order by 2
else if @table_type = '%' and @table_qualifier = '' and @table_owner = '' and @table_name = ''
    select convert(sysname, null) as TABLE_QUALIFIER, convert(sysname, null) as TABLE_OWNER, convert(sysname, null) as TABLE_NAME,
        convert(varchar(32), t.kind) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
    from (values ('SYSTEM TABLE'), ('TABLE'), ('VIEW')) t(kind) order by 4
else
    select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, o.name as TABLE_NAME,
        convert(varchar(32), case o.type when 'U' then 'TABLE' else 'VIEW' end) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
    from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
    where o.type in ('U', 'V') and (@table_name is null or o.name like @table_name) and (@table_owner is null or s.name like @table_owner)
        and (@table_type is null or @table_type = '%' or charindex(case o.type when 'U' then '''TABLE''' else '''VIEW''' end, @table_type) > 0)
    order by 4, 2, 3
