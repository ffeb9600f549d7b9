create procedure sys.sp_MSforeachdb @command1 nvarchar(2000), @replacechar nchar(1) = N'?', @command2 nvarchar(2000) = null,
    @command3 nvarchar(2000) = null, @precommand nvarchar(2000) = null, @postcommand nvarchar(2000) = null as
declare @name sysname, @command nvarchar(max)
if @precommand is not null exec (@precommand)
declare databases_to_visit cursor local for select name from sys.databases where state = 0 and has_dbaccess(name) = 1 order by database_id
open databases_to_visit
fetch next from databases_to_visit into @name
while @@fetch_status = 0
begin
    set @command = replace(@command1, @replacechar, @name)
    exec (@command)
    if @command2 is not null
    begin
        set @command = replace(@command2, @replacechar, @name)
        exec (@command)
    end
    if @command3 is not null
    begin
        set @command = replace(@command3, @replacechar, @name)
        exec (@command)
    end
    fetch next from databases_to_visit into @name
end
close databases_to_visit
deallocate databases_to_visit
if @postcommand is not null exec (@postcommand)
return 0
