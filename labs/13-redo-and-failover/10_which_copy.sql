-- 10  The primary is gone. Run it on every secondary. Changes nothing.
-- Who has hardened the most log? That is the one to take.
SELECT @@SERVERNAME AS server, d.synchronization_state_desc,
       d.last_hardened_lsn, d.last_hardened_time, d.redo_queue_size AS redo_queue_kb
FROM sys.dm_hadr_database_replica_states AS d
WHERE d.is_local = 1;
