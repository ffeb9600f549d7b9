"""Messages on cursors.

Source: "Database Engine events and errors" (SQL Server documentation), tables 1000 to 1999 and 16000 to 17999. States are not
listed there; state 2 and severity 16 of 16950 (the table has 10) and severity 10 of 16954 (the table has 16; drivers get it as a
note when a batch runs without a cursor) are from public reports. The others' states are not confirmed.
"""

from __future__ import annotations

CURSORS: dict[int, tuple[int, int, str]] = {
    1048: (15, 1, "Conflicting cursor options {0} and {1}."),
    1049: (15, 1, "Mixing old and new syntax to specify cursor options is not allowed."),
    16902: (16, 1, "{0}: The value of the parameter {1} is invalid."),
    16903: (16, 1, 'The "{0}" procedure was called with an incorrect number of parameters.'),
    16904: (16, 1, "sp_cursor: optype: You can only specify ABSOLUTE in conjunction with DELETE or UPDATE."),
    16905: (16, 1, "The cursor is already open."),
    16907: (16, 1, "{0} is not allowed in cursor statements."),
    16909: (16, 1, "{0}: The cursor identifier value provided ({1:x}) is not valid."),
    16911: (16, 1, "{0}: The fetch type {1} cannot be used with forward only cursors."),
    16915: (16, 1, "A cursor with the name '{0}' already exists."),
    16916: (16, 1, "A cursor with the name '{0}' does not exist."),
    16917: (16, 1, "Cursor is not open."),
    16922: (16, 1, "Cursor Fetch: Implicit conversion from data type {0} to {1} is not allowed."),
    16924: (16, 1, "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns."),
    16925: (16, 1, "The fetch type {0} cannot be used with dynamic cursors."),
    16929: (16, 1, "The cursor is READ ONLY."),
    16930: (16, 1, "The requested row is not in the fetch buffer."),
    16931: (16, 1, "There are no rows in the current fetch buffer."),
    16932: (16, 1, "The cursor has a FOR UPDATE list and the requested column to be updated is not in this list."),
    16933: (
        16,
        1,
        "The cursor does not include the table being modified or the table is not updatable through the cursor.",
    ),
    16934: (10, 1, "Optimistic concurrency check failed. The row was modified outside of this cursor."),
    16935: (16, 1, "No parameter values were specified for the sp_cursor-{0} statement."),
    16936: (16, 1, "sp_cursor: One or more values parameters were invalid."),
    16937: (
        16,
        1,
        "A server cursor cannot be opened on the given statement or statements. Use a default result set or client cursor.",
    ),
    16943: (
        16,
        1,
        "Could not complete cursor operation because the table schema changed after the cursor was declared.",
    ),
    16947: (16, 1, "No rows were updated or deleted."),
    16948: (
        16,
        1,
        "The variable '{0}' is not a cursor variable, but it is used in a place where a cursor variable is expected.",
    ),
    16949: (
        16,
        1,
        "The variable '{0}' is a cursor variable, but it is used in a place where a cursor variable is not valid.",
    ),
    16950: (16, 2, "The variable '{0}' does not currently have a cursor allocated to it."),
    16951: (
        16,
        1,
        "The variable '{0}' cannot be used as a parameter because a CURSOR OUTPUT parameter must not have a cursor allocated to "
        "it before execution of the procedure.",
    ),
    16954: (10, 1, "Executing SQL directly; no cursor."),
    16955: (16, 1, "Could not create an acceptable cursor."),
    16956: (10, 1, "The created cursor is not of the requested type."),
    16957: (16, 1, "FOR UPDATE cannot be specified on a READ ONLY cursor."),
}
