-- 01  One load, two counts. Run it on the primary while users work.
-- Batch Requests/sec counts what clients send to the instance: one batch, one procedure call.
-- Transactions/sec counts what begins and ends in one database. One reading means nothing: both add up.
SELECT RTRIM(counter_name) AS counter_name, RTRIM(instance_name) AS instance_name, cntr_value
INTO #before
FROM sys.dm_os_performance_counters
WHERE counter_name = N'Batch Requests/sec'
   OR (counter_name = N'Transactions/sec' AND instance_name = N'OLTP');

WAITFOR DELAY '00:01:00';

SELECT b.counter_name, b.instance_name, a.cntr_value - b.cntr_value AS in_this_minute
FROM sys.dm_os_performance_counters AS a
JOIN #before AS b ON b.counter_name = a.counter_name AND b.instance_name = a.instance_name
ORDER BY b.counter_name;

DROP TABLE #before;
