create procedure sys.sp_dropsrvrolemember @loginame sysname, @rolename sysname = null as
declare @command nvarchar(600)
if not exists (select * from sys.server_principals where type = 'R' and name = @rolename)
begin
    raiserror(15402, 11, 1, @rolename)
    return 1
end
if not exists (select * from sys.server_principals where type <> 'R' and name = @loginame)
begin
    raiserror(15007, 16, 1, @loginame)
    return 1
end
set @command = 'ALTER SERVER ROLE ' + quotename(@rolename) + ' DROP MEMBER ' + quotename(@loginame)
exec (@command)
return 0
