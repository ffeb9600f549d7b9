create procedure sys.sp_helpdevice @devname sysname = null as
select convert(sysname, null) as device_name, convert(nvarchar(260), null) as physical_name, convert(nvarchar(255), null) as description,
    convert(int, null) as status, convert(tinyint, null) as cntrltype, convert(int, null) as size where 1 = 0
return 0
