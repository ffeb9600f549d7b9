-- 06  Take a log buffer away. It must be drained first, and that needs the
-- database alone: every other session, users at work included, is cut off.
ALTER DATABASE [OLTP] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
ALTER DATABASE [OLTP] REMOVE FILE OLTP_tail;
ALTER DATABASE [OLTP] SET MULTI_USER;

SELECT name, type_desc, is_persistent_log_buffer
FROM sys.master_files
WHERE database_id = DB_ID(N'OLTP')
ORDER BY file_id;
