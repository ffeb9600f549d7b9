-- The primary: wait, at most ten minutes, until all three copies of OLTP are SYNCHRONIZED; else say what each replica reports.
SET NOCOUNT ON;
DECLARE @tries int = 0;
WHILE @tries < 600
      AND (SELECT COUNT(*) FROM sys.dm_hadr_database_replica_states WHERE synchronization_state_desc = N'SYNCHRONIZED') < 3
BEGIN
    SET @tries = @tries + 1;
    WAITFOR DELAY '00:00:01';
END;
SELECT r.replica_server_name, s.role_desc, s.connected_state_desc, s.synchronization_health_desc,
       ISNULL(s.last_connect_error_description, N'') AS last_connect_error
FROM sys.availability_replicas AS r
JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
ORDER BY r.replica_server_name;
IF @tries = 600
    THROW 50000, N'after 600 s not every copy of OLTP is SYNCHRONIZED; the errorlogs say why (docker compose logs sql1 sql2 sql3)', 1;
GO
