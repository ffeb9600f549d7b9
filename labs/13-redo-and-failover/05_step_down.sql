-- 05  Second step: on the old primary.
-- Its role becomes RESOLVING, its users are sent away. From here until
-- the last step nobody can work: the clock of the outage runs.
USE [master];
GO
ALTER AVAILABILITY GROUP [ag1] OFFLINE;
GO
SELECT role_desc, operational_state_desc
FROM sys.dm_hadr_availability_replica_states
WHERE is_local = 1;
