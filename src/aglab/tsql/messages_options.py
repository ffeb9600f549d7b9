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
    9809: (16, 1, "The style {0} is not supported for conversions from {1} to {2}."),
    9814: (
        16,
        0,
        "The date provided is before the start of the Hijri calendar which in Microsoft's 'Kuwaiti Algorithm' is July 15th, 622 "
        "C.E. (Julian calendar) or July 18th, 622 C.E (proleptic Gregorian calendar).",
    ),
    10715: (15, 1, "'{0}' is not a valid hint."),
    15471: (0, 1, "The text for object '{0}' is encrypted."),
    16911: (16, 1, "{0}: The fetch type {1} cannot be used with forward only cursors."),
}
