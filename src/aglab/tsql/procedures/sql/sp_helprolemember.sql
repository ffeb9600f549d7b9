create procedure sys.sp_helprolemember @rolename sysname = null as
if @rolename is not null and not exists (select 1 from sys.database_principals where type = 'R' and name = @rolename)
begin
    raiserror (15409, 11, 1, @rolename)
    return 1
end
select r.name as DbRole, u.name as MemberName, u.sid as MemberSID
from sys.database_role_members m join sys.database_principals r on r.principal_id = m.role_principal_id
    join sys.database_principals u on u.principal_id = m.member_principal_id
where @rolename is null or r.name = @rolename order by r.name, u.name
return 0
