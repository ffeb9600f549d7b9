-- 02  How long do commits wait, and for which log? Run it on the primary under load.
-- WRITELOG: the log file of this server.
-- HADR_SYNC_COMMIT: the log files of the synchronous secondaries.
-- The view adds up since the instance started, so only a difference means anything.
SELECT wait_type, waiting_tasks_count, wait_time_ms
INTO #before
FROM sys.dm_os_wait_stats
WHERE wait_type IN (N'WRITELOG', N'HADR_SYNC_COMMIT');

WAITFOR DELAY '00:00:10';

SELECT a.wait_type,
       (a.waiting_tasks_count - b.waiting_tasks_count) / 10 AS waits_per_second,
       CAST((a.wait_time_ms - b.wait_time_ms) * 1.0
            / NULLIF(a.waiting_tasks_count - b.waiting_tasks_count, 0)
            AS decimal(9, 2)) AS average_ms
FROM sys.dm_os_wait_stats AS a
JOIN #before AS b ON b.wait_type = a.wait_type
ORDER BY a.wait_type;

DROP TABLE #before;
