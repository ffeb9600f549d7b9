-- 03  What would a failover to this server cost? Changes nothing.
-- Run it on the secondary that shall take over.
SELECT @@SERVERNAME AS target, d.synchronization_state_desc, c.is_failover_ready,
       d.redo_queue_size AS redo_queue_kb, d.redo_rate AS redo_kb_per_s,
       CAST(d.redo_queue_size * 1.0 / NULLIF(d.redo_rate, 0)
            AS decimal(12, 1)) AS estimated_recovery_s
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.dm_hadr_database_replica_cluster_states AS c
  ON c.replica_id = d.replica_id AND c.group_database_id = d.group_database_id
WHERE d.is_local = 1 AND c.database_name = N'OLTP';
