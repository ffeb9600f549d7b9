create procedure sys.sp_helpfilegroup @filegroupname sysname = null as
select g.name as groupname, g.data_space_id as groupid, (select count(*) from sys.database_files f where f.data_space_id = g.data_space_id) as filecount
from sys.filegroups g where @filegroupname is null or g.name = @filegroupname order by g.data_space_id
