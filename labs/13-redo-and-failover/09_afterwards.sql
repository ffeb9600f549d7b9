-- 09  Last step: on the new primary. Commits no longer insist on a secondary.
ALTER AVAILABILITY GROUP [ag1]
SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0);
GO
SELECT r.replica_server_name, d.is_primary_replica, d.synchronization_state_desc,
       d.is_suspended, d.suspend_reason_desc
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
ORDER BY r.replica_server_name;
