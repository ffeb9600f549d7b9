create procedure sys.sp_helplogins @LoginNamePattern sysname = null as
if @LoginNamePattern is not null and not exists (select 1 from sys.server_principals where type = 'S' and name = @LoginNamePattern)
begin
    raiserror (15007, 11, 2, @LoginNamePattern)
    return 1
end
select p.name as LoginName, p.sid as SID, p.default_database_name as DefDBName, p.default_language_name as DefLangName,
    convert(char(5), case when has_dbaccess(p.default_database_name) = 1 then 'yes' else 'NO' end) as AUser, convert(char(7), 'no') as ARemote
from sys.server_principals p where p.type = 'S' and (@LoginNamePattern is null or p.name = @LoginNamePattern) order by p.name
select p.name as LoginName, db_name() as DBName, u.name as UserName, convert(char(8), 'User') as UserOrAlias
from sys.server_principals p join sys.database_principals u on u.sid = p.sid
where p.type = 'S' and u.type = 'S' and (@LoginNamePattern is null or p.name = @LoginNamePattern) order by p.name
return 0
