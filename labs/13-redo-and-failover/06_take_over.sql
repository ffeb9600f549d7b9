-- 06  Third step: on the server that takes over. Waits until its database is open.
-- With CLUSTER_TYPE = NONE this is the only failover statement there is,
-- with loss or without.
USE [master];
GO
DECLARE @began datetime2(3) = SYSDATETIME();
ALTER AVAILABILITY GROUP [ag1] FORCE_FAILOVER_ALLOW_DATA_LOSS;

-- The statement returns at once. The database opens
-- when it has redone what it had hardened.
WHILE NOT EXISTS (SELECT 1 FROM sys.dm_hadr_database_replica_states
                  WHERE is_local = 1 AND is_primary_replica = 1
                    AND database_state_desc = N'ONLINE')
  AND SYSDATETIME() < DATEADD(hour, 4, @began)
    WAITFOR DELAY '00:00:01';

SELECT @@SERVERNAME AS new_primary,
       DATEDIFF(second, @began, SYSDATETIME()) AS recovery_s,
       (SELECT state_desc FROM sys.databases WHERE name = N'OLTP') AS state_desc;
