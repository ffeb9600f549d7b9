-- Samples the counters of this node on the server itself. Runs as it is on any SQL Server 2016 or later.
-- {samples} samples, {delay} apart, of database {database}. The client turns totals into rates.
SET NOCOUNT ON;
CREATE TABLE #counters (sample int NOT NULL, at_time datetime2(3) NOT NULL, object_name nvarchar(128) NOT NULL,
                        counter_name nvarchar(128) NOT NULL, instance_name nvarchar(128) NULL, cntr_value bigint NOT NULL,
                        cntr_type int NOT NULL);
CREATE TABLE #files (sample int NOT NULL, at_time datetime2(3) NOT NULL, type_desc nvarchar(60) NOT NULL, num_of_reads bigint NOT NULL,
                     num_of_bytes_read bigint NOT NULL, io_stall_read_ms bigint NOT NULL, num_of_writes bigint NOT NULL,
                     num_of_bytes_written bigint NOT NULL, io_stall_write_ms bigint NOT NULL);
DECLARE @sample int = 0;
WHILE @sample <= {samples}
BEGIN
    INSERT INTO #counters (sample, at_time, object_name, counter_name, instance_name, cntr_value, cntr_type)
    SELECT @sample, SYSDATETIME(), RTRIM(object_name), RTRIM(counter_name), RTRIM(instance_name), cntr_value, cntr_type
    FROM sys.dm_os_performance_counters
    WHERE counter_name IN ({counters});

    INSERT INTO #files (sample, at_time, type_desc, num_of_reads, num_of_bytes_read, io_stall_read_ms, num_of_writes,
                        num_of_bytes_written, io_stall_write_ms)
    SELECT @sample, SYSDATETIME(), f.type_desc, s.num_of_reads, s.num_of_bytes_read, s.io_stall_read_ms, s.num_of_writes,
           s.num_of_bytes_written, s.io_stall_write_ms
    FROM sys.dm_io_virtual_file_stats(DB_ID(N'{database}'), NULL) AS s
    JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id;

    SET @sample = @sample + 1;
    IF @sample <= {samples} WAITFOR DELAY '{delay}';
END;
SELECT sample, at_time, object_name, counter_name, instance_name, cntr_value, cntr_type FROM #counters ORDER BY sample;
SELECT sample, at_time, type_desc, num_of_reads, num_of_bytes_read, io_stall_read_ms, num_of_writes, num_of_bytes_written, io_stall_write_ms
FROM #files ORDER BY sample;
DROP TABLE #counters;
DROP TABLE #files;
