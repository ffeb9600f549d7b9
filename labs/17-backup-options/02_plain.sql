-- 02  A full backup to one file, every option left at its default.
-- FORMAT begins a new media set: a file that holds a backup without
-- compression takes no compressed one.
-- COPY_ONLY: an experiment must not become the base of your differentials.
BACKUP DATABASE [OLTP] TO DISK = N'OLTP_lab17.bak'
WITH FORMAT, COPY_ONLY, NO_COMPRESSION, STATS = 25;
