-- 01  What was backed up here, how quickly, and how? Changes nothing.
-- MB/s counts database bytes, not the bytes of the file.
SELECT TOP (6) b.backup_set_id, b.type, b.is_copy_only, m.is_compressed,
       b.has_backup_checksums, m.media_family_count AS devices,
       DATEDIFF(SECOND, b.backup_start_date, b.backup_finish_date) AS seconds,
       CAST(b.backup_size / 1000000 / NULLIF(DATEDIFF(SECOND, b.backup_start_date,
            b.backup_finish_date), 0) AS int) AS mb_s,
       CAST(b.backup_size / b.compressed_backup_size AS decimal(9, 2)) AS ratio
FROM msdb.dbo.backupset AS b
JOIN msdb.dbo.backupmediaset AS m ON m.media_set_id = b.media_set_id
WHERE b.database_name = N'OLTP'
ORDER BY b.backup_set_id DESC;
