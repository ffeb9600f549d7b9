create procedure sys.sp_who2 @loginame sysname = null as
select convert(char(5), spid) as SPID, status as Status, loginame as Login, case hostname when '' then '  .' else hostname end as HostName,
    case blocked when 0 then '  .' else convert(varchar(5), blocked) end as BlkBy, db_name(dbid) as DBName, cmd as Command, cpu as CPUTime,
    physical_io as DiskIO, convert(varchar(14), last_batch, 101) as LastBatch, program_name as ProgramName, convert(char(5), spid) as SPID,
    convert(char(5), request_id) as REQUESTID
from sys.sysprocesses where @loginame is null or loginame = @loginame or convert(varchar(5), spid) = @loginame
    or (lower(@loginame) = 'active' and cmd <> 'AWAITING COMMAND')
order by sysprocesses.spid
