-- 09  Could this database be restored to its last log backup? Read from the
-- top: a full backup that is not copy-only, then log backups whose LSNs join,
-- each on a device that still holds it.
SELECT b.backup_set_id, b.type, b.is_copy_only, f.physical_device_name,
       b.first_lsn, b.last_lsn
FROM msdb.dbo.backupset AS b
JOIN msdb.dbo.backupmediafamily AS f
  ON f.media_set_id = b.media_set_id AND f.family_sequence_number = 1
WHERE b.database_name = N'OLTP' AND b.is_copy_only = 0
ORDER BY b.backup_set_id;
