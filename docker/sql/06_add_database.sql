-- The primary: database OLTP. A database can join a group only with the full recovery model and after a full backup, so that an
-- unbroken chain of log begins somewhere.
USE master;
IF DB_ID(N'OLTP') IS NULL
    CREATE DATABASE OLTP;
GO
IF (SELECT recovery_model_desc FROM sys.databases WHERE name = N'OLTP') <> N'FULL'
    ALTER DATABASE OLTP SET RECOVERY FULL;
GO
IF NOT EXISTS (SELECT 1 FROM sys.availability_databases_cluster WHERE database_name = N'OLTP')
BEGIN
    BACKUP DATABASE OLTP TO DISK = N'/var/opt/mssql/data/OLTP_before_group.bak' WITH INIT;
    ALTER AVAILABILITY GROUP ag1 ADD DATABASE OLTP;
END;
GO
