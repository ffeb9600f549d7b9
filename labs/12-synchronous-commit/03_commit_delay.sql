-- 03  The same by counters: what a synchronous commit costs,
-- and how many transactions share one log write.
-- Transaction Delay adds up the milliseconds of all commits;
-- divide it by Mirrored Write Transactions/sec.
SELECT RTRIM(counter_name) AS counter_name, cntr_value
INTO #before
FROM sys.dm_os_performance_counters
WHERE instance_name = N'OLTP'
  AND counter_name IN (N'Transaction Delay', N'Mirrored Write Transactions/sec',
                       N'Log Flushes/sec', N'Transactions/sec');

WAITFOR DELAY '00:00:10';

SELECT RTRIM(a.counter_name) AS counter_name, (a.cntr_value - b.cntr_value) / 10 AS per_second
INTO #rates
FROM sys.dm_os_performance_counters AS a
JOIN #before AS b ON b.counter_name = a.counter_name
WHERE a.instance_name = N'OLTP';

SELECT CAST(d.per_second * 1.0 / NULLIF(m.per_second, 0) AS decimal(9, 2)) AS commit_delay_ms,
       CAST(t.per_second * 1.0 / NULLIF(f.per_second, 0) AS decimal(9, 1)) AS transactions_per_flush
FROM #rates AS d
JOIN #rates AS m ON m.counter_name = N'Mirrored Write Transactions/sec'
JOIN #rates AS t ON t.counter_name = N'Transactions/sec'
JOIN #rates AS f ON f.counter_name = N'Log Flushes/sec'
WHERE d.counter_name = N'Transaction Delay';

DROP TABLE #rates;
DROP TABLE #before;
