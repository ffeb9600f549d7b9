-- 08  How far is seeding? Run it on sql1. Changes nothing.

-- What runs now: one row for each stream.
SELECT remote_machine_name AS to_node, role_desc, transferred_size_bytes / 1000000000 AS gb_done,
       database_size_bytes / 1000000000 AS gb, transfer_rate_bytes_per_second / 1000000 AS mb_s
FROM sys.dm_hadr_physical_seeding_stats
ORDER BY remote_machine_name;

-- What has been: every attempt, and why one failed.
SELECT r.replica_server_name, s.current_state, s.failure_state_desc, s.number_of_attempts,
       DATEDIFF(second, s.start_time, s.completion_time) AS seconds
FROM sys.dm_hadr_automatic_seeding AS s
JOIN sys.availability_replicas AS r ON r.replica_id = s.ag_remote_replica_id
ORDER BY r.replica_server_name;
