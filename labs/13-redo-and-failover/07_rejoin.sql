-- 07  Fourth step: on the old primary. It becomes a secondary of the new one.
USE [master];
GO
ALTER AVAILABILITY GROUP [ag1] SET (ROLE = SECONDARY);
GO
-- A forced failover leaves every other copy suspended
-- until somebody resumes it, on its own server.
ALTER DATABASE [OLTP] SET HADR RESUME;
GO
SELECT role_desc, connected_state_desc
FROM sys.dm_hadr_availability_replica_states
WHERE is_local = 1;
