"""Messages about transparent data encryption: number -> (severity, state, text).

Source: "Database Engine events and errors (31000 to 41399)" (SQL Server documentation). Severity 10 goes over the wire as 0.
States are not confirmed.
"""

from __future__ import annotations

ENCRYPTION: dict[int, tuple[int, int, str]] = {
    33091: (
        0,
        1,
        "Warning: The certificate used for encrypting the database encryption key has not been backed up. You should immediately "
        "back up the certificate and the private key associated with the certificate. If the certificate ever becomes "
        "unavailable or if you must restore or attach the database on another server, you must have backups of both the "
        "certificate and the private key or you will not be able to open the database.",
    ),
    33101: (
        16,
        1,
        "Cannot use {0} '{1}', because its private key is not present or it is not protected by the database master key. SQL "
        "Server requires the ability to automatically access the private key of the {0} used for this operation.",
    ),
    33102: (
        16,
        1,
        "Cannot encrypt a system database. Database encryption operations cannot be performed for 'master', 'model', 'tempdb', "
        "'msdb', or 'resource' databases.",
    ),
    33103: (16, 1, "A database encryption key already exists for this database."),
    33104: (16, 1, "A database encryption key does not exist for this database."),
    33105: (
        16,
        1,
        "Cannot drop the database encryption key because it is currently in use. Database encryption needs to be turned off to "
        "be able to drop the database encryption key.",
    ),
    33106: (16, 1, "Cannot change database encryption state because no database encryption key is set."),
    33107: (16, 1, "Cannot enable database encryption because it is already enabled."),
    33108: (16, 1, "Cannot disable database encryption because it is already disabled."),
    33109: (16, 1, "Cannot disable database encryption while an encryption, decryption, or key change scan is in progress."),
    33110: (16, 1, "Cannot change database encryption key while an encryption, decryption, or key change scan is in progress."),
}
