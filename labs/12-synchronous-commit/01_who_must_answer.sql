-- 01  Whom does a commit wait for? Run it on the primary. Changes nothing.

-- The mode of each replica, as it was declared, and whether the replica is there.
SELECT r.replica_server_name, s.role_desc, r.availability_mode_desc, r.session_timeout,
       s.connected_state_desc, s.synchronization_health_desc
FROM sys.availability_replicas AS r
JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
ORDER BY r.replica_server_name;

-- What counts at this moment: commits on the primary wait for the copies
-- that have is_commit_participant = 1.
SELECT r.replica_server_name, d.synchronization_state_desc, d.is_commit_participant,
       d.is_suspended, d.log_send_queue_size AS log_send_queue_kb
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP')
ORDER BY r.replica_server_name;
