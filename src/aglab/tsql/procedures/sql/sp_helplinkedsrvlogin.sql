create procedure sys.sp_helplinkedsrvlogin @rmtsrvname sysname = null, @locallogin sysname = null as
select name as [Linked Server], convert(sysname, null) as [Local Login], convert(smallint, 1) as [Is Self Mapping],
    convert(sysname, null) as [Remote Login] from sys.servers where server_id > 0 and (@rmtsrvname is null or name = @rmtsrvname)
return 0
