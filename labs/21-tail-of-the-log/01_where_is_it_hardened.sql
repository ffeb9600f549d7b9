-- 01  Where is a commit of OLTP hardened? Run it in OLTP. Changes nothing.

-- Two LOG files are two places for one log, used one after the other.
-- is_persistent_log_buffer = 1 is something else: 20 MB of persistent memory
-- in which a commit is hardened before its block reaches the log file.
SELECT file_id, name, type_desc, physical_name,
       size / 128 AS size_mb, growth, is_persistent_log_buffer
FROM sys.database_files
ORDER BY file_id;

-- FORCED: a commit is answered before it is hardened anywhere.
SELECT name, delayed_durability_desc, user_access_desc, is_encrypted
FROM sys.databases
WHERE name = N'OLTP';
