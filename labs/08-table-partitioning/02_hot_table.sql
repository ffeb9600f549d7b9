-- 02  Which table is worth cutting? Run a little of the workload, then ask for the statements with the most logical reads.
-- The second query is the paper's, with the comma before FROM taken out and fewer columns.
USE PartitionLab;
SET NOCOUNT ON;
DECLARE @i int = 0, @n int, @name char(60);
WHILE @i < 50
BEGIN
    SELECT @n = COUNT(*) FROM dbo.E_TRADE WHERE T_CA_ID = @i AND T_NOTE <> 'none';
    SELECT @n = SUM(T_QTY) FROM dbo.E_TRADE WHERE T_ID BETWEEN @i * 100 AND @i * 100 + 99;
    SELECT @name = CA_NAME FROM dbo.E_ACCOUNT WHERE CA_ID = @i;
    SET @i += 1;
END;
GO
USE PartitionLab;
SELECT TOP (3)
    SUBSTRING(qt.text, (qs.statement_start_offset / 2) + 1,
        ((CASE qs.statement_end_offset WHEN -1 THEN DATALENGTH(qt.text) ELSE qs.statement_end_offset END
          - qs.statement_start_offset) / 2) + 1) AS statement,
    qs.execution_count, qs.total_logical_reads
FROM sys.dm_exec_query_stats AS qs
CROSS APPLY sys.dm_exec_sql_text(qs.sql_handle) AS qt
WHERE qt.encrypted = 0 AND qt.text LIKE N'%WHILE @i%' AND qt.text NOT LIKE N'%dm_exec_query_stats%'
ORDER BY qs.total_logical_reads DESC;
