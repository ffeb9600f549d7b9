-- 07  Today's words for it (documented for SQL Server 2017 and later):
-- a directory, and no file name or size.
ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = ON (DIRECTORY_NAME = '/mnt/dax');

SELECT name, physical_name, size / 128 AS size_mb, is_persistent_log_buffer
FROM sys.master_files
WHERE database_id = DB_ID(N'OLTP') AND is_persistent_log_buffer = 1;

-- Off again: the statement drains the buffer and deletes its file.
ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = OFF;

-- Data files on persistent memory are another feature, the hybrid buffer
-- pool (2019 and later): off for the instance and on for each database
-- unless somebody changed it.
SELECT is_configured, is_enabled
FROM sys.server_memory_optimized_hybrid_buffer_pool_configuration;

SELECT name, is_memory_optimized_enabled
FROM sys.databases
WHERE name = N'OLTP';
