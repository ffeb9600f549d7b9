-- 02  Make OLTP use automatic checkpoints, the kind that -k throttles and that Table 6 measures.
-- ALTER DATABASE takes effect at once; no restart.
ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS;

SELECT name, target_recovery_time_in_seconds
FROM sys.databases
WHERE name = N'OLTP';
