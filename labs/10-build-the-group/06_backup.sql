-- 06  A database may join with the full recovery model and a full backup: an unbroken
-- chain of log must begin somewhere. Run it on sql1. On a server of your own the backup
-- goes to a real file, or you will miss it one day.
USE master;
GO
IF DB_ID(N'OLTP') IS NULL
    CREATE DATABASE OLTP;
IF (SELECT recovery_model_desc FROM sys.databases WHERE name = N'OLTP') <> N'FULL'
    ALTER DATABASE OLTP SET RECOVERY FULL;
BACKUP DATABASE OLTP TO DISK = N'/var/opt/mssql/data/OLTP_before_group.bak' WITH INIT;
