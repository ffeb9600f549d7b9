create procedure sys.sp_addrolemember @rolename sysname, @membername sysname as
declare @command nvarchar(600)
if not exists (select * from sys.database_principals where type = 'R' and name = @rolename)
begin
    raiserror(15014, 16, 1, @rolename)
    return 1
end
if not exists (select * from sys.database_principals where name = @membername)
begin
    raiserror(15410, 11, 1, @membername)
    return 1
end
set @command = 'ALTER ROLE ' + quotename(@rolename) + ' ADD MEMBER ' + quotename(@membername)
exec (@command)
return 0
