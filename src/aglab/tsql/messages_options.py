"""Messages on options and hints.

Source: "Database Engine events and errors" (SQL Server documentation), tables 1000 to 1999, 3000 to 3999 and 10000 to 10999.
"""

from __future__ import annotations

OPTIONS: dict[int, tuple[int, int, str]] = {
    1047: (15, 1, "Conflicting locking hints specified."),
    1065: (
        15,
        1,
        "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, UPDATE, DELETE or MERGE "
        "statements.",
    ),
    2706: (11, 1, "Table '{0}' does not exist."),
    2767: (15, 1, "Could not locate statistics '{0}' in the system catalogs."),
    3604: (0, 1, "Duplicate key was ignored."),
    3612: (0, 1, "\n SQL Server Execution Times:\n   CPU time = {0} ms,  elapsed time = {1} ms."),
    3613: (0, 1, "SQL Server parse and compile time: \n   CPU time = {0} ms, elapsed time = {1} ms."),
    7919: (16, 3, "Repair statement not processed. Database needs to be in single user mode."),
    8985: (
        16,
        1,
        "Could not locate file '{0}' for database '{1}' in sys.database_files. The file either does not exist, or was dropped.",
    ),
    9008: (
        0,
        1,
        "Cannot shrink log file {0} ({1}) because the logical log file located at the end of the file is in use.",
    ),
    9809: (16, 1, "The style {0} is not supported for conversions from {1} to {2}."),
    9814: (
        16,
        0,
        "The date provided is before the start of the Hijri calendar which in Microsoft's 'Kuwaiti Algorithm' is July 15th, 622 "
        "C.E. (Julian calendar) or July 18th, 622 C.E (proleptic Gregorian calendar).",
    ),
    10715: (15, 1, "'{0}' is not a valid hint."),
    15198: (16, 1, "The name supplied ({0}) is not a user, role, or aliased login."),
    15409: (11, 1, "'{0}' is not a role."),
    15412: (11, 1, "'{0}' is not a known fixed role."),
    15471: (0, 1, "The text for object '{0}' is encrypted."),
}
