-- 04  Planned failover without a cluster manager, first step: on the primary.
-- The target commits synchronously, and from now on no commit is answered
-- unless one secondary has it.
ALTER AVAILABILITY GROUP [ag1]
MODIFY REPLICA ON N'sql2' WITH (AVAILABILITY_MODE = SYNCHRONOUS_COMMIT);
GO
ALTER AVAILABILITY GROUP [ag1]
SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1);
GO
-- Go on only when the target is SYNCHRONIZED and nothing waits to be sent to it.
SELECT r.replica_server_name, d.synchronization_state_desc,
       d.log_send_queue_size AS log_send_queue_kb,
       g.required_synchronized_secondaries_to_commit
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
JOIN sys.availability_groups AS g ON g.group_id = d.group_id
WHERE d.is_primary_replica = 0
ORDER BY r.replica_server_name;
