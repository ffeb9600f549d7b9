"""Messages of bulk loads and of user-defined types.

Numbers, severities and words: "Database engine events and errors" (0 to 999, 1000 to 1999, 3000 to 3999, 4000 to 4999, 5000 to
5999). 4804 is listed with severity 21; clients report it with 16 where the stream does not fit its INSERT BULK, as here.
"""

from __future__ import annotations

BULK: dict[int, tuple[int, int, str]] = {
    117: (15, 1, "The {0} '{1}' contains more than the maximum number of prefixes. The maximum is {2}."),
    243: (16, 1, "Type {0} is not a defined system type."),
    218: (16, 1, "Could not find the type '{0}'. Either it does not exist or you do not have the necessary permission."),
    219: (16, 1, "The type '{0}' already exists, or you do not have permission to create it."),
    346: (15, 1, 'The parameter "{0}" can not be declared READONLY since it is not a table-valued parameter.'),
    350: (16, 1, 'The column "{0}" does not have a valid data type. A column cannot be of a user-defined table type.'),
    352: (15, 1, 'The table-valued parameter "{0}" must be declared with the READONLY option.'),
    500: (
        16,
        1,
        "Trying to pass a table-valued parameter with {0} column(s) where the corresponding user-defined table type requires "
        "{1} column(s).",
    ),
    1077: (16, 1, "INSERT into an identity column not allowed on table variables."),
    3732: (
        16,
        1,
        "Cannot drop type '{0}' because it is being referenced by object '{1}'. There may be other objects that reference this "
        "type.",
    ),
    4804: (
        16,
        3,
        "While reading current row from host, a premature end-of-message was encountered--an incoming data stream was "
        "interrupted when the server expected to see more data. The host program may have terminated. Ensure that you are "
        "using a supported client application programming interface (API).",
    ),
    4815: (16, 1, "Received an invalid column length from the bcp client for colid {0}."),
    4816: (16, 1, "Invalid column type from bcp client for colid {0}."),
    4817: (16, 1, "Could not bulk load. The sorted column '{0}' is not valid. The ORDER hint is ignored."),
    4818: (16, 1, "Could not bulk load. The sorted column '{0}' was specified more than once. The ORDER hint is ignored."),
    4819: (
        16,
        1,
        "Cannot bulk load. The bulk data stream was incorrectly specified as sorted or the data violates a uniqueness constraint "
        "imposed by the target table. Sort order incorrect for the following two rows: primary key of first row: {0}, primary "
        "key of second row: {1}.",
    ),
    4834: (16, 4, "You do not have permission to use the bulk load statement."),
    4891: (16, 1, "Insert bulk failed due to a schema change of the target table."),
    5304: (
        16,
        1,
        "Bulk copy failed. User does not have ALTER TABLE permission on table '{0}'. ALTER TABLE permission is required on the "
        "target table of a bulk copy operation if the table has triggers or check constraints, but 'FIRE_TRIGGERS' or "
        "'CHECK_CONSTRAINTS' bulk hints are not specified as options to the bulk copy command.",
    ),
}
