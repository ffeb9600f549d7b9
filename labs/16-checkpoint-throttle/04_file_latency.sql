-- 04  How long did reads and writes of each OLTP file take, on average since the instance started?
-- io_stall_* are milliseconds. Watch the data file: checkpoint writes make its *reads* slow.
SELECT f.name, f.type_desc,
       s.num_of_reads, s.num_of_writes,
       s.io_stall_read_ms  * 1.0 / NULLIF(s.num_of_reads, 0)  AS avg_read_ms,
       s.io_stall_write_ms * 1.0 / NULLIF(s.num_of_writes, 0) AS avg_write_ms
FROM sys.dm_io_virtual_file_stats(DB_ID(N'OLTP'), NULL) AS s
JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id
ORDER BY f.file_id;
