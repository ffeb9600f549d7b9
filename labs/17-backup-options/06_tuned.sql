-- 06  The paper's tuned full backup: four devices that throw everything away.
-- NUL leaves the source and the processors as the only limits. Nothing can
-- be restored from it: COPY_ONLY (not in the paper's script) keeps it from
-- becoming the base of differentials.
BACKUP DATABASE [OLTP]
TO DISK = N'NUL', DISK = N'NUL', DISK = N'NUL', DISK = N'NUL'
WITH COPY_ONLY, COMPRESSION, CHECKSUM, STATS = 10,
     MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 64;
