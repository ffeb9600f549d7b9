-- 02  What does a commit wait for, and what does the log volume do?
-- Run it in OLTP under load. Both views add up since the instance started,
-- so only a difference means anything.
SELECT waiting_tasks_count, wait_time_ms
INTO #waits
FROM sys.dm_os_wait_stats
WHERE wait_type = N'WRITELOG';

SELECT file_id, num_of_writes, num_of_bytes_written, io_stall_write_ms
INTO #files
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL);

WAITFOR DELAY '00:00:10';

SELECT (a.waiting_tasks_count - b.waiting_tasks_count) / 10 AS waits_per_second,
       CAST((a.wait_time_ms - b.wait_time_ms) * 1000.0
            / NULLIF(a.waiting_tasks_count - b.waiting_tasks_count, 0)
            AS decimal(9, 0)) AS writelog_us
FROM sys.dm_os_wait_stats AS a
CROSS JOIN #waits AS b
WHERE a.wait_type = N'WRITELOG';

SELECT f.name,
       (a.num_of_writes - b.num_of_writes) / 10 AS writes_per_second,
       CAST((a.num_of_bytes_written - b.num_of_bytes_written) / 1024.0
            / NULLIF(a.num_of_writes - b.num_of_writes, 0)
            AS decimal(9, 1)) AS kb_per_write,
       CAST((a.io_stall_write_ms - b.io_stall_write_ms) * 1000.0
            / NULLIF(a.num_of_writes - b.num_of_writes, 0)
            AS decimal(9, 0)) AS write_us
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS a
JOIN #files AS b ON b.file_id = a.file_id
JOIN sys.database_files AS f ON f.file_id = a.file_id
WHERE f.type_desc = N'LOG'
ORDER BY f.file_id;

DROP TABLE #waits;
DROP TABLE #files;
