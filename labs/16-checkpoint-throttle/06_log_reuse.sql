-- 06  The price of a slow checkpoint: log that cannot be reused.
-- CHECKPOINT in log_reuse_wait_desc: the log is waiting for a checkpoint to finish.
SELECT d.name, d.recovery_model_desc, d.log_reuse_wait_desc, d.target_recovery_time_in_seconds
FROM sys.databases AS d
WHERE d.name = N'OLTP';

SELECT RTRIM(counter_name) AS counter_name, cntr_value
FROM sys.dm_os_performance_counters
WHERE counter_name IN (N'Percent Log Used', N'Log File(s) Used Size (KB)')
  AND instance_name = N'OLTP';
