-- CLUSTER_TYPE = EXTERNAL after a restart: every replica waits for its cluster manager. There is none here, so this script does what one
-- would: it says who speaks and asks for a failover without loss, which a replica that is not synchronized refuses.
EXEC sp_set_session_context @key = N'external_cluster', @value = N'yes';
ALTER AVAILABILITY GROUP ag1 FAILOVER;
GO
