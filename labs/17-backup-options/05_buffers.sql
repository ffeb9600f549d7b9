-- 05  How many buffers, how large, how many sets of them?
-- Trace flags 3213 and 3605 write it to the error log. They are not
-- documented for production use: look, and turn them off.
DBCC TRACEON(3213, 3605, -1);
BACKUP DATABASE [model] TO DISK = N'NUL'
WITH COPY_ONLY, COMPRESSION, MAXTRANSFERSIZE = 4194304, BUFFERCOUNT = 300;
DBCC TRACEOFF(3213, 3605, -1);

EXEC sys.sp_readerrorlog 0, 1, N'buffer';
EXEC sys.sp_readerrorlog 0, 1, N'MaxTransferSize';
