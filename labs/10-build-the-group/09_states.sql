-- 09  Is it a group? Run it on sql1. Changes nothing.

-- The sessions: is each replica there?
SELECT r.replica_server_name, s.role_desc, s.connected_state_desc, s.synchronization_health_desc
FROM sys.availability_replicas AS r
JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
ORDER BY r.replica_server_name;

-- The data: is each copy in step? (A replica without a copy has no row.)
SELECT r.replica_server_name, d.synchronization_state_desc, d.is_commit_participant
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
JOIN sys.availability_databases_cluster AS c ON c.group_database_id = d.group_database_id
WHERE c.database_name = N'OLTP'
ORDER BY r.replica_server_name;
