create procedure sys.sp_tables @table_name nvarchar(384) = null, @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @table_type varchar(100) = null, @fUsePattern bit = 1 as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, o.name as TABLE_NAME,
    convert(varchar(32), case o.type when 'U' then 'TABLE' else 'VIEW' end) as TABLE_TYPE, convert(varchar(254), null) as REMARKS
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
where o.type in ('U', 'V') and (@table_name is null or o.name like @table_name) and (@table_owner is null or s.name like @table_owner)
    and (@table_type is null or charindex(case o.type when 'U' then '''TABLE''' else '''VIEW''' end, @table_type) > 0)
order by 4, 2, 3
