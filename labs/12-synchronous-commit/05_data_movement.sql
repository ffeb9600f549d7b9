-- 05  Is every copy as safe as its mode promises? Run it on the primary.
SELECT r.replica_server_name, r.availability_mode_desc, d.synchronization_state_desc,
       d.is_commit_participant, d.is_suspended, d.suspend_reason_desc
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP')
ORDER BY r.replica_server_name;

-- Log that exists on the primary only, in MB: what a failover to this copy would lose.
SELECT r.replica_server_name, d.log_send_queue_size / 1024 AS log_send_queue_mb
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP') AND d.is_primary_replica = 0
ORDER BY r.replica_server_name;
