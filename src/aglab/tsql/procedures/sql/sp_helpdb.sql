create procedure sys.sp_helpdb @dbname sysname = null as
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
    from sys.master_files f where f.database_id = db_id(@dbname) order by f.file_id
