create procedure sys.sp_helpsrvrole @srvrolename sysname = null as
select p.name as ServerRole,
    case p.name when 'sysadmin' then 'System Administrators' when 'securityadmin' then 'Security Administrators'
        when 'serveradmin' then 'Server Administrators' when 'setupadmin' then 'Setup Administrators'
        when 'processadmin' then 'Process Administrators' when 'diskadmin' then 'Disk Administrators'
        when 'dbcreator' then 'Database Creators' when 'bulkadmin' then 'Bulk Insert Administrators' end as Description
from sys.server_principals p
where p.type = 'R' and p.is_fixed_role = 1 and (@srvrolename is null or p.name = @srvrolename) order by p.principal_id
