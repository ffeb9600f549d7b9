-- 05  A secondary joins. Run it on sql2 and on sql3.
-- The grant lets automatic seeding create databases here.
USE master;
GO
ALTER AVAILABILITY GROUP ag1 JOIN WITH (CLUSTER_TYPE = NONE);
ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE;
