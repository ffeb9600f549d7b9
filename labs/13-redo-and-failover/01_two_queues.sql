-- 01  How much log waits, and where? Run it on the primary. Changes nothing.
-- log_send_queue_size: on the primary only, not sent yet. It would be lost.
-- redo_queue_size: hardened on the secondary, not redone yet: safe, but it takes time.
SELECT r.replica_server_name, d.synchronization_state_desc,
       d.log_send_queue_size AS log_send_queue_kb, d.log_send_rate AS log_send_kb_per_s,
       d.redo_queue_size AS redo_queue_kb, d.redo_rate AS redo_kb_per_s
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP') AND d.is_primary_replica = 0
ORDER BY r.replica_server_name;

-- KB divided by KB/s are seconds.
SELECT r.replica_server_name,
       CAST(d.log_send_queue_size * 1.0 / NULLIF(d.log_send_rate, 0)
            AS decimal(12, 1)) AS seconds_to_send,
       CAST(d.redo_queue_size * 1.0 / NULLIF(d.redo_rate, 0)
            AS decimal(12, 1)) AS seconds_to_redo
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP') AND d.is_primary_replica = 0
ORDER BY r.replica_server_name;
