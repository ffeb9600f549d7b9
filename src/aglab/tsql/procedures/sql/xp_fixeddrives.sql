create procedure sys.xp_fixeddrives as
select fixed_drive_path as drive, convert(int, free_space_in_bytes / 1048576) as [MB free] from sys.dm_os_enumerate_fixed_drives order by 1
return 0
