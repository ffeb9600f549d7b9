-- The first primary: availability group ag1. Log travels on the network "ag", where sql1 is also called sql1-ag.
-- sqlcmd variables: group_options ("CLUSTER_TYPE = NONE" or "DB_FAILOVER = ON, CLUSTER_TYPE = EXTERNAL"), failover_mode (MANUAL or
-- EXTERNAL). CLUSTER_TYPE = NONE has no automatic failover and no cluster that keeps two primaries apart: the book teaches both.
USE master;
IF NOT EXISTS (SELECT 1 FROM sys.availability_groups WHERE name = N'ag1')
    CREATE AVAILABILITY GROUP ag1
        WITH ($(group_options))
        FOR REPLICA ON
            N'sql1' WITH (ENDPOINT_URL = N'tcp://sql1-ag:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT,
                          FAILOVER_MODE = $(failover_mode), SEEDING_MODE = AUTOMATIC,
                          SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL)),
            N'sql2' WITH (ENDPOINT_URL = N'tcp://sql2-ag:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT,
                          FAILOVER_MODE = $(failover_mode), SEEDING_MODE = AUTOMATIC,
                          SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL)),
            N'sql3' WITH (ENDPOINT_URL = N'tcp://sql3-ag:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT,
                          FAILOVER_MODE = $(failover_mode), SEEDING_MODE = AUTOMATIC,
                          SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL));
GO
ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE;
GO
