-- 11  Why does the log of the primary grow? Run it on the primary. Changes nothing.
SELECT name, log_reuse_wait_desc FROM sys.databases WHERE name = N'OLTP';

SELECT RTRIM(counter_name) AS counter_name, cntr_value
FROM sys.dm_os_performance_counters
WHERE instance_name = N'OLTP' AND counter_name = N'Percent Log Used';
