-- 05  Give OLTP the default of SQL Server 2016 and later: indirect checkpoints, 60 seconds.
-- From now on the background writer keeps the number of dirty pages low; -k has nothing to throttle.
ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 60 SECONDS;

SELECT name, target_recovery_time_in_seconds
FROM sys.databases
WHERE name = N'OLTP';
