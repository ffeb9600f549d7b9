create procedure sys.sp_helpsrvrolemember @srvrolename sysname = null as
if @srvrolename is not null and not exists (select 1 from sys.server_principals where type = 'R' and name = @srvrolename)
begin
    raiserror (15412, 11, 1, @srvrolename)
    return 1
end
select r.name as ServerRole, m.name as MemberName, m.sid as MemberSID
from sys.server_role_members x join sys.server_principals r on r.principal_id = x.role_principal_id
    join sys.server_principals m on m.principal_id = x.member_principal_id
where @srvrolename is null or r.name = @srvrolename order by r.name, m.name
return 0
