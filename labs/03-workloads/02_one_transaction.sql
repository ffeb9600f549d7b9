-- 02  What does one transaction of each kind touch? Each runs inside a transaction of ours, so that its locks and
-- its log are still there to be counted when it has ended.
-- Keys: rows that it changed. Pages: those the rows are on. Log: records with headers, as the log file gets them.
SET NOCOUNT ON;
DECLARE @touched TABLE (kind varchar(12) NOT NULL, rows_changed int, pages_changed int, log_bytes bigint);
DECLARE @kind varchar(12), @number int = 1;
WHILE @number <= 5
BEGIN
    SET @kind = CHOOSE(@number, 'new_order', 'payment', 'order_status', 'delivery', 'stock_level');
    BEGIN TRANSACTION;
    IF @number = 1 EXEC dbo.new_order 1, 5, 7, 20260105;
    IF @number = 2 EXEC dbo.payment 1, 5, 7, 20260105;
    IF @number = 3 EXEC dbo.order_status 1, 5, 7, 20260105;
    IF @number = 4 EXEC dbo.delivery 1, 5, 7, 20260105;
    IF @number = 5 EXEC dbo.stock_level 1, 5, 7, 20260105;
    INSERT INTO @touched
    SELECT @kind,
           (SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = @@SPID AND resource_type = N'KEY'),
           (SELECT COUNT(*) FROM sys.dm_tran_locks
            WHERE request_session_id = @@SPID AND resource_type = N'PAGE' AND request_mode = N'IX'),
           (SELECT SUM(t.database_transaction_log_bytes_used)
            FROM sys.dm_tran_database_transactions AS t
            JOIN sys.dm_tran_session_transactions AS s ON s.transaction_id = t.transaction_id
            WHERE s.session_id = @@SPID AND t.database_id = DB_ID());
    ROLLBACK TRANSACTION;
    SET @number += 1;
END;
SELECT kind, rows_changed, pages_changed, COALESCE(log_bytes, 0) AS log_bytes FROM @touched;
