"""BACKUP and RESTORE on a node: options, media, virtual time beside the load, msdb history, rows that come back.

``options`` reads the WITH clause, ``record`` is one finished backup set, ``media`` keeps backup files in the state directory,
``moving`` lets time pass with progress, ``backup`` and ``restore`` carry out the statements, ``headers`` answers RESTORE
HEADERONLY and its like, ``history`` shows msdb's tables.

What it leaves out: a backup file holds the rows of user tables as they were at its end (a log backup too, with the time of each
commit since the backup before it, for STOPAT), while sizes and durations are those of the simulated database. Every node sees the
same backup share. Sources: BACKUP, RESTORE and "Backup and restore tables" (Transact-SQL); message texts: "Database engine events
and errors" 3000 to 4999 (SQL Server 2022).
"""

from aglab.twin.backups.backup import backup
from aglab.twin.backups.headers import headers
from aglab.twin.backups.record import BackupSet
from aglab.twin.backups.restore import restore

__all__ = ["BackupSet", "backup", "headers", "restore"]
