create procedure sys.sp_helpsort as
select description as [Server default collation] from sys.fn_helpcollations()
where name = convert(sysname, serverproperty('Collation'))
return 0
