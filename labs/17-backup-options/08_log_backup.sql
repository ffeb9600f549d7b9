-- 08  What does the log wait for, before and after a log backup?
-- A full backup (not copy-only) must exist, or BACKUP LOG ends with error 4214.
SELECT name, recovery_model_desc, log_reuse_wait_desc
FROM sys.databases
WHERE name = N'OLTP';

BACKUP LOG [OLTP] TO DISK = N'OLTP_lab17.trn'
WITH COMPRESSION, CHECKSUM, STATS = 10,
     MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 16;

CHECKPOINT;
WAITFOR DELAY '00:00:10';

SELECT name, recovery_model_desc, log_reuse_wait_desc
FROM sys.databases
WHERE name = N'OLTP';
