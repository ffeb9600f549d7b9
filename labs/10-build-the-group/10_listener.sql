-- 10  One name for the group. Run it on the primary.
-- Without a cluster there is no address that could move: the listener takes the address at
-- which the primary already answers. After a failover drop it and create it on the new one.
USE master;
GO
DECLARE @statement nvarchar(400);
SELECT @statement = N'ALTER AVAILABILITY GROUP ag1 ADD LISTENER N''ag1-listener'' (
        WITH IP ((N''' + local_net_address + N''', N''255.255.255.255'')),
        PORT = ' + CONVERT(nvarchar(10), local_tcp_port) + N')'
FROM sys.dm_exec_connections
WHERE session_id = @@SPID;
EXEC (@statement);
SELECT dns_name, is_conformant FROM sys.availability_group_listeners;
