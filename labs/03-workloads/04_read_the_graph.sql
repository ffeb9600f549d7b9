-- 04  The newest deadlock in the errorlog. Read it from the bottom: resource-list says who holds what and who
-- waits for it; process-list says which statement of which procedure each was at.
CREATE TABLE #log (line int IDENTITY NOT NULL PRIMARY KEY, LogDate datetime, ProcessInfo nvarchar(50), Text nvarchar(max));
INSERT INTO #log EXEC sys.sp_readerrorlog 0, 1;

DECLARE @first int = (SELECT MAX(line) FROM #log WHERE Text = N'deadlock-list');
DECLARE @last int = (SELECT MIN(line) FROM #log WHERE line > @first AND Text LIKE N'Deadlock encountered%');
SELECT Text
FROM #log
WHERE line >= @first AND line < COALESCE(@last, @first + 100)
  AND (Text LIKE N'%victim=%' OR Text LIKE N'%frame procname=%' OR Text LIKE N'%lock hobtid=%'
       OR Text LIKE N'%owner id=%' OR Text LIKE N'%waiter id=%')
ORDER BY line;

DROP TABLE #log;
