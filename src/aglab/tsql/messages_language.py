"""Messages on the language: batches, derived targets, FOR XML, statistics, synonyms.

Source: "Database Engine events and errors" (SQL Server documentation), tables 0 to 999, 1000 to 1999, 2000 to 2999, 4000 to
4999, 6000 to 6999 15000 to 15999 and 18000 to 18999 for SQL Server 2022; states are not listed there and are 1 where nothing
else is known.
"""

from __future__ import annotations

LANGUAGE: dict[int, tuple[int, int, str]] = {
    111: (15, 1, "'{0}' must be the first statement in a query batch."),
    127: (15, 1, "A TOP N or FETCH rowcount value may not be negative."),
    131: (15, 3, "The size ({0}) given to the {1} '{2}' exceeds the maximum allowed for any data type ({3})."),
    243: (16, 1, "Type {0} is not a defined system type."),
    252: (16, 1, "Recursive common table expression '{0}' does not contain a top-level UNION ALL operator."),
    1031: (15, 1, "Percent values must be between 0 and 100."),
    1046: (15, 1, "Subqueries are not allowed in this context. Only scalar expressions are allowed."),
    1053: (
        15,
        1,
        "For DROP STATISTICS, you must provide both the object (table or view) name and the statistics name, in the form "
        '"objectname.statisticsname".',
    ),
    1927: (16, 1, "There are already statistics on table '{0}' named '{1}'."),
    4403: (
        16,
        1,
        "Cannot update the view or function '{0}' because it contains aggregates, or a DISTINCT or GROUP BY clause, or PIVOT or "
        "UNPIVOT operator.",
    ),
    4405: (16, 1, "View or function '{0}' is not updatable because the modification affects multiple base tables."),
    4406: (16, 1, "Update or insert of view or function '{0}' failed because it contains a derived or constant field."),
    4511: (16, 1, "Create View or Function failed because no column name was specified for column {0}."),
    6809: (
        16,
        1,
        "Unnamed tables cannot be used as XML identifiers as well as unnamed columns cannot be used for attribute names. Name "
        "unnamed columns/tables using AS in the SELECT statement.",
    ),
    6841: (
        16,
        1,
        "FOR XML could not serialize the data for node '{0}' because it contains a character ({1}) which is not allowed in XML. "
        "To retrieve this data using FOR XML, convert it to binary, varbinary or image data type and use the BINARY BASE64 "
        "directive.",
    ),
    6852: (
        16,
        1,
        "Attribute-centric column '{0}' must not come after a non-attribute-centric sibling in XML hierarchy in FOR XML PATH.",
    ),
    6864: (16, 1, "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization."),
    15014: (16, 1, "The role '{0}' does not exist in the current database."),
    15070: (10, 1, "Object '{0}' was successfully marked for recompilation."),
    15165: (16, 1, "Could not find object '{0}' or you do not have permission."),
    15402: (11, 1, "'{0}' is not a fixed server role."),
    15410: (11, 1, "User or role '{0}' does not exist in this database."),
    15281: (
        16,
        1,
        "SQL Server blocked access to {0} '{1}' of component '{2}' because this component is turned off as part of the security "
        "configuration for this server. A system administrator can enable the use of '{2}' by using sp_configure. For more "
        "information about enabling '{2}', search for '{2}' in SQL Server Books Online.",
    ),
    18054: (
        16,
        1,
        "Error {0}, severity {1}, state {2} was raised, but no message with that error number was found in sys.messages. If "
        "error is larger than 50000, make sure the user-defined message is added using sp_addmessage.",
    ),
}
