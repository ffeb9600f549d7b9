-- Each secondary: join ag1, and let automatic seeding create its databases here. sqlcmd variable: cluster_type.
USE master;
IF NOT EXISTS (SELECT 1 FROM sys.availability_groups WHERE name = N'ag1')
    ALTER AVAILABILITY GROUP ag1 JOIN WITH (CLUSTER_TYPE = $(cluster_type));
GO
ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE;
GO
