create procedure sys.sp_helpfile @filename sysname = null as
select f.name, f.file_id as fileid, f.physical_name as filename, case f.type when 0 then 'PRIMARY' end as filegroup,
    convert(nvarchar(15), convert(bigint, f.size) * 8) + ' KB' as size,
    case f.max_size when -1 then 'Unlimited' else convert(nvarchar(15), convert(bigint, f.max_size) * 8) + ' KB' end as maxsize,
    case f.is_percent_growth when 1 then convert(nvarchar(15), f.growth) + '%' else convert(nvarchar(15), convert(bigint, f.growth) * 8) + ' KB' end as growth,
    case f.type when 1 then 'log only' else 'data only' end as usage
from sys.database_files f where @filename is null or f.name = @filename order by f.file_id
