-- 02  Who redoes? Run it on a secondary. Changes nothing.
-- One thread reads the log and hands it out (DB STARTUP),
-- workers apply it (PARALLEL REDO TASK), a helper writes pages.
SELECT command, COUNT(*) AS threads, SUM(cpu_time) AS cpu_ms,
       MIN(wait_type) AS waits_for
FROM sys.dm_exec_requests
WHERE database_id = DB_ID(N'OLTP')
  AND command IN (N'DB STARTUP', N'PARALLEL REDO TASK', N'PARALLEL REDO HELP TASK')
GROUP BY command
ORDER BY command;

-- The same as numbers of threads (SQL Server 2019 and later).
SELECT name, num_redo_threads, num_parallel_redo_threads
FROM sys.dm_hadr_db_threads;

-- Waits of the redo threads since the instance started.
SELECT wait_type, waiting_tasks_count, wait_time_ms
FROM sys.dm_os_wait_stats
WHERE wait_type IN (N'PARALLEL_REDO_WORKER_WAIT_WORK', N'REDO_THREAD_PENDING_WORK')
ORDER BY wait_type;
