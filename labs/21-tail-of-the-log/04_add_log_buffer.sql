-- 04  The same, mended: this server's database, this server's DAX volume,
-- and the size that it will have anyway. On a volume without direct access
-- this makes an ordinary second log file. So look at the column.
ALTER DATABASE [OLTP] ADD LOG FILE
    (NAME = N'OLTP_tail', FILENAME = N'/mnt/dax/OLTP_tail.pldf',
     SIZE = 20MB, FILEGROWTH = 0);

SELECT name, physical_name, size / 128 AS size_mb, is_persistent_log_buffer
FROM sys.master_files
WHERE database_id = DB_ID(N'OLTP') AND type_desc = N'LOG'
ORDER BY file_id;
