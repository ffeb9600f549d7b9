create procedure sys.sp_helprole @rolename sysname = null as
if @rolename is not null and not exists (select 1 from sys.database_principals where type = 'R' and name = @rolename)
begin
    raiserror (15409, 11, 1, @rolename)
    return 1
end
select name as RoleName, principal_id as RoleId, convert(int, 0) as IsAppRole
from sys.database_principals where type = 'R' and (@rolename is null or name = @rolename) order by principal_id
return 0
