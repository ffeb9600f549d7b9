create procedure sys.sp_databases as
select d.name as DATABASE_NAME, convert(int, sum(convert(bigint, f.size)) * 8) as DATABASE_SIZE, convert(varchar(254), null) as REMARKS
from sys.databases d join sys.master_files f on f.database_id = d.database_id group by d.name order by d.name
