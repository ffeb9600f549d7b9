-- 05  Which file takes the writes? Change the newest quarter of the trades, write the dirty pages, and compare two readings.
USE PartitionLab;
SET NOCOUNT ON;
DROP TABLE IF EXISTS #before;
CHECKPOINT;
SELECT f.file_id, s.num_of_writes, s.num_of_bytes_written
INTO #before
FROM sys.database_files AS f CROSS APPLY sys.dm_io_virtual_file_stats(DB_ID(), f.file_id) AS s
WHERE f.type = 0;

UPDATE dbo.E_TRADE SET T_PRICE = T_PRICE + 1 WHERE T_ID > 15000;
CHECKPOINT;

SELECT f.name, s.num_of_writes - b.num_of_writes AS writes,
    (s.num_of_bytes_written - b.num_of_bytes_written) / 8192 AS pages
FROM sys.database_files AS f
CROSS APPLY sys.dm_io_virtual_file_stats(DB_ID(), f.file_id) AS s
JOIN #before AS b ON b.file_id = f.file_id
ORDER BY f.file_id;
