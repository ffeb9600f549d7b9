"""Messages of partial, file and page backups and restores.

Source: "Database engine events and errors" 3000 to 4999 (SQL Server documentation); states are not part of it. 4303, 4308 and
4339 reach a client as information.
"""

from __future__ import annotations

RESTORE: dict[int, tuple[int, int, str]] = {
    3004: (
        16,
        1,
        "The primary filegroup cannot be backed up as a file backup because the database is using the SIMPLE recovery model. "
        "Consider taking a partial backup by specifying READ_WRITE_FILEGROUPS.",
    ),
    3007: (
        16,
        1,
        'The backup of the file or filegroup "{0}" is not permitted because it is not online. Container state: "{1}" ({2}). '
        "Restore status: {3}. BACKUP can be performed by using the FILEGROUP or FILE clauses to restrict the selection to "
        "include only online data.",
    ),
    3034: (
        16,
        1,
        "No files were selected to be processed. You may have selected one or more filegroups that have no members.",
    ),
    3039: (
        16,
        1,
        "Cannot perform a differential backup for file '{0}' because a current file backup does not exist. Reissue BACKUP "
        "DATABASE omitting the WITH DIFFERENTIAL option.",
    ),
    3054: (
        16,
        1,
        "Differential file backups can include only read-only data for databases using the simple recovery model. Consider "
        "taking a partial backup by specifying READ_WRITE_FILEGROUPS.",
    ),
    3103: (
        16,
        1,
        "A partial restore sequence cannot be initiated by this command. To initiate a partial restore sequence, use the WITH "
        "PARTIAL clause of the RESTORE statement and provide a backup set which includes a full copy of at least the primary "
        "data file. The WITH PARTIAL clause of the RESTORE statement may not be used for any other purpose.",
    ),
    3111: (
        16,
        1,
        "Page {0} is a control page which cannot be restored in isolation. To repair this page, the entire file must be "
        "restored.",
    ),
    3115: (
        16,
        1,
        "The database is using the simple recovery model. It is not possible to restore a subset of the read-write data.",
    ),
    3144: (16, 1, "File '{0}' was not backed up in file {1} on device '{2}'. The file cannot be restored from this backup set."),
    3194: (
        16,
        1,
        "Page {0} is beyond the end of the file. Only pages that are in the current range of the file can be restored.",
    ),
    3235: (
        16,
        1,
        'The file "{0}" is not part of database "{1}". You can only list files that are members of this database.',
    ),
    3149: (
        16,
        1,
        'The file or filegroup "{0}" is not in a valid state for the "Recover Data Only" option to be used. Only secondary files '
        "in the OFFLINE or RECOVERY_PENDING state can be processed.",
    ),
    4303: (
        0,
        1,
        "The roll forward start point is now at log sequence number (LSN) {0}. Additional roll forward past LSN {1} is required "
        "to complete the restore sequence.",
    ),
    4308: (
        0,
        1,
        "The online restore is complete, but WITH NORECOVERY was specified. Use RESTORE WITH RECOVERY to bring affected data "
        "online.",
    ),
    4310: (16, 1, 'RESTORE PAGE is not allowed on file "{0}" because the file is not online.'),
    4320: (
        16,
        1,
        'The file "{0}" was not fully restored by a database or file restore. The entire file must be successfully restored '
        "before applying this backup set.",
    ),
    4333: (16, 1, "The database cannot be recovered because the log was not restored."),
    4339: (
        0,
        1,
        "This RESTORE statement successfully performed some actions, but the database could not be brought online because one or "
        "more RESTORE steps are needed. Previous messages indicate reasons why recovery cannot occur at this point.",
    ),
    4344: (16, 1, "RESTORE PAGE is not allowed on read-only databases or filegroups."),
    4346: (16, 1, "RESTORE PAGE is not allowed with databases that use the simple recovery model."),
    4350: (
        16,
        1,
        "The list of pages provided with the RESTORE PAGE statement is incorrectly formatted. Prior to the problem {0} pages "
        "were correctly identified. The problem was hit at character offset {1}. Check that all pages are identified by numeric "
        "<file>:<page> pairs with commas separating each pair. For example: PAGE='1:57,2:31'.",
    ),
    8653: (
        16,
        1,
        "The query processor is unable to produce a plan for the table or view '{0}' because the table resides in a filegroup "
        "that is not online.",
    ),
}
