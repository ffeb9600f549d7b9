create procedure sys.sp_helpuser @name_in_db sysname = null as
if @name_in_db is not null and not exists (select 1 from sys.database_principals where name = @name_in_db)
begin
    raiserror (15198, 16, 1, @name_in_db)
    return 1
end
select u.name as UserName, coalesce(r.name, 'public') as RoleName, l.name as LoginName, l.default_database_name as DefDBName,
    u.default_schema_name as DefSchemaName, u.principal_id as UserID, u.sid as SID
from sys.database_principals u left join sys.database_role_members m on m.member_principal_id = u.principal_id
    left join sys.database_principals r on r.principal_id = m.role_principal_id
    left join sys.server_principals l on l.sid = u.sid and l.type = 'S'
where u.type <> 'R' and (@name_in_db is null or u.name = @name_in_db) order by u.name
return 0
