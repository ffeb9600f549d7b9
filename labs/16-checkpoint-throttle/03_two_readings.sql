-- 03  Two readings of the counters, ten seconds apart. Run it while the load runs.
-- cntr_value of a ".../sec" counter is a running total: only a difference over time is a rate.
SELECT counter_name, cntr_value
INTO #before
FROM sys.dm_os_performance_counters
WHERE counter_name IN (N'Checkpoint pages/sec', N'Background writer pages/sec')
   OR (counter_name IN (N'Transactions/sec', N'Log Bytes Flushed/sec') AND instance_name = N'OLTP');

WAITFOR DELAY '00:00:10';

SELECT RTRIM(a.counter_name) AS counter_name, (a.cntr_value - b.cntr_value) / 10 AS per_second
FROM sys.dm_os_performance_counters AS a
JOIN #before AS b ON b.counter_name = a.counter_name
WHERE a.instance_name IN (N'OLTP', N'')
ORDER BY counter_name;

DROP TABLE #before;
