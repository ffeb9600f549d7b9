create procedure sys.sp_helpserver @server sysname = null as
select s.name, convert(nvarchar(128), s.data_source) as network_name, 'rpc,rpc out,use remote collation' as status,
    convert(char(4), s.server_id) as id, s.collation_name, s.connect_timeout, s.query_timeout
from sys.servers s where @server is null or s.name = @server order by s.name
