create procedure sys.sp_who @loginame sysname = null as
select spid, ecid, status, loginame, hostname, convert(char(5), blocked) as blk, db_name(dbid) as dbname, cmd, request_id
from sys.sysprocesses where @loginame is null or loginame = @loginame or convert(varchar(5), spid) = @loginame
    or (lower(@loginame) = 'active' and cmd <> 'AWAITING COMMAND')
order by spid
