-- 04  Log written here, and log sent to all replicas together: is it once for each secondary?
SELECT RTRIM(counter_name) AS counter_name, instance_name, cntr_value
INTO #before
FROM sys.dm_os_performance_counters
WHERE (counter_name = N'Log Bytes Flushed/sec' AND instance_name = N'OLTP')
   OR (counter_name = N'Bytes Sent to Transport/sec' AND instance_name = N'_Total');

WAITFOR DELAY '00:00:10';

SELECT RTRIM(a.counter_name) AS counter_name, (a.cntr_value - b.cntr_value) / 10 AS bytes_per_second
FROM sys.dm_os_performance_counters AS a
JOIN #before AS b ON b.counter_name = a.counter_name AND b.instance_name = a.instance_name
ORDER BY counter_name;

DROP TABLE #before;
