-- 06  The paper's tuned full backup: four devices that throw everything away.
-- NUL leaves the source and the processors as the only limits. Nothing can be restored from it,
-- so COPY_ONLY (not in the paper's script) keeps it out of the chain of differentials.
BACKUP DATABASE [OLTP]
TO DISK = N'NUL', DISK = N'NUL', DISK = N'NUL', DISK = N'NUL'
WITH COPY_ONLY, MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 64, COMPRESSION, CHECKSUM, STATS = 10;
