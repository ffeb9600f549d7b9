"""Messages about files, filegroups, partitions and page reads: number -> (severity, state, text), as messages_table has them.

Source: "Database Engine events and errors" (1000 to 1999, 2000 to 2999, 3000 to 3999, 4000 to 4999, 5000 to 5999, 7000 to 7999;
SQL Server documentation) and sys.messages. States other than 1 are not confirmed.
Severity 10 goes over the wire as 0, as "Database Engine error severities" says.
"""

from __future__ import annotations

STORAGE: dict[int, tuple[int, int, str]] = {
    308: (16, 1, "Index '{0}' on table '{1}' (specified in the FROM clause) does not exist."),
    622: (
        16,
        3,
        'The filegroup "{0}" has no files assigned to it. Tables, indexes, text columns, ntext columns, and image columns'
        " cannot be populated on this filegroup until a file is added.",
    ),
    1907: (
        16,
        1,
        "Cannot recreate index '{0}'. The new index definition does not match the constraint being enforced by the "
        "existing index.",
    ),
    1908: (
        16,
        1,
        "Column '{0}' is partitioning column of the index '{1}'. Partition columns for a unique index must be a subset of"
        " the index key.",
    ),
    2726: (
        16,
        1,
        "Partition function '{0}' uses {1} columns which does not match with the number of partition columns used to "
        "partition the table or index.",
    ),
    3615: (
        0,
        1,
        "Table '{0}'. Scan count {1}, logical reads {2}, physical reads {3}, page server reads 0, read-ahead reads {4}, "
        "page server read-ahead reads 0, lob logical reads 0, lob physical reads 0, lob page server reads 0, lob read-"
        "ahead reads 0, lob page server read-ahead reads 0.",
    ),
    3756: (
        16,
        1,
        "TRUNCATE TABLE statement failed. Index '{0}' is not partitioned, but table '{1}' uses partition function '{2}'. "
        "Index and table must use an equivalent partition function.",
    ),
    4903: (
        0,
        1,
        "Warning: The specified partition {0} for the table '{1}' was ignored in ALTER TABLE SWITCH statement because the"
        " table is not partitioned.",
    ),
    4904: (16, 1, "ALTER TABLE SWITCH statement failed. The specified partition {0} of target table '{1}' must be empty."),
    4905: (16, 1, "ALTER TABLE SWITCH statement failed. The target table '{0}' must be empty."),
    4911: (
        16,
        1,
        "Cannot specify a partitioned table without partition number in ALTER TABLE SWITCH statement. The table '{0}' is "
        "partitioned.",
    ),
    4913: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. The table '{0}' has clustered index '{1}' while the table '{2}' does not "
        "have clustered index.",
    ),
    4938: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. Partition {0} of {1} '{2}' is in filegroup '{3}' and partition {4} of {5} "
        "'{6}' is in filegroup '{7}'.",
    ),
    4939: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. {0} '{1}' is in filegroup '{2}' and partition {3} of {4} '{5}' is in "
        "filegroup '{6}'.",
    ),
    4940: (16, 1, "ALTER TABLE SWITCH statement failed. {0} '{1}' is in filegroup '{2}' and {3} '{4}' is in filegroup '{5}'."),
    4942: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed because column '{0}' at ordinal {1} in table '{2}' has a different name than"
        " the column '{3}' at the same ordinal in table '{4}'.",
    ),
    4943: (16, 1, "ALTER TABLE SWITCH statement failed because table '{0}' has {1} columns and table '{2}' has {3} columns."),
    4944: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed because column '{0}' has data type {1} in source table '{2}' which is "
        "different from its type {3} in target table '{4}'.",
    ),
    4947: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. There is no identical index in source table '{0}' for the index '{1}' in "
        "target table '{2}' .",
    ),
    4948: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. The source table '{0}' is in database '{1}' while the target table '{2}' is"
        " in database '{3}'.",
    ),
    4950: (16, 1, "ALTER TABLE SWITCH statement failed because partition number {0} does not exist in table '{1}'."),
    4955: (16, 1, "ALTER TABLE SWITCH statement failed. The source table '{0}' and target table '{1}' are same."),
    4970: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. Target table '{0}' has a table level check constraint '{1}' but the source "
        "table '{2}' does not have a corresponding constraint.",
    ),
    4972: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. Check constraints or partition function of source table '{0}' allows values"
        " that are not allowed by check constraints or partition function on target table '{1}'.",
    ),
    4973: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. Range defined by partition {0} in table '{1}' is not a subset of range "
        "defined by partition {2} in table '{3}'.",
    ),
    4982: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed. Check constraints of source table '{0}' allow values that are not allowed "
        "by range defined by partition {1} on target table '{2}'.",
    ),
    4985: (
        16,
        1,
        "ALTER TABLE SWITCH statement failed because column '{0}' does not have the same nullability attribute in tables "
        "'{1}' and '{2}'.",
    ),
    5012: (16, 1, "The name of the primary filegroup cannot be changed."),
    5014: (16, 1, "The {0} '{1}' does not exist in database '{2}'."),
    5021: (0, 1, "The {0} name '{1}' has been set."),
    5031: (16, 1, "Cannot remove the file '{0}' because it is the only file in the DEFAULT filegroup."),
    5035: (
        16,
        1,
        "Filegroup '{0}' already exists in this database. Specify a different name or remove the conflicting filegroup if"
        " it is empty.",
    ),
    5036: (16, 1, "MODIFY FILE failed. Specify logical name."),
    5038: (16, 1, 'MODIFY FILE failed for file "{0}". At least one property per file must be specified.'),
    5040: (16, 1, "MODIFY FILE failed. Size is greater than MAXSIZE."),
    5042: (16, 1, "The {0} '{1}' cannot be removed because it is not empty."),
    5044: (0, 1, "The {0} '{1}' has been removed."),
    5045: (16, 1, "The {0} already has the '{1}' property set."),
    5046: (0, 1, "The {0} property '{1}' has been set."),
    5047: (16, 1, "Cannot change the READONLY property of the PRIMARY filegroup."),
    5050: (16, 1, "Cannot change the properties of empty filegroup '{0}'. The filegroup must contain at least one file."),
    5104: (16, 1, "File '{0}' already used."),
    7704: (16, 1, "The type '{0}' is not valid for this operation."),
    7706: (16, 1, "Partition function '{0}' is being used by one or more partition schemes."),
    7707: (
        16,
        1,
        "The associated partition function '{0}' generates more partitions than there are file groups mentioned in the "
        "scheme '{1}'.",
    ),
    7708: (
        16,
        1,
        "Duplicate range boundary values are not allowed in partition function boundary values list. Partition boundary "
        "values at ordinal {0} and {1} are equal.",
    ),
    7709: (
        0,
        1,
        "Warning: Range value list for partition function '{0}' is not sorted by value. Mapping of partitions to "
        "filegroups during CREATE PARTITION SCHEME will use the sorted boundary values if the function '{0}' is "
        "referenced in CREATE PARTITION SCHEME.",
    ),
    7710: (
        16,
        1,
        "Warning: The partition scheme '{0}' does not have any next used filegroup. Partition scheme has not been changed.",
    ),
    7712: (
        0,
        1,
        "Partition scheme '{0}' has been created successfully. '{1}' is marked as the next used filegroup in partition "
        "scheme '{2}'.",
    ),
    7713: (0, 1, "{0} filegroups specified after the next used filegroup are ignored."),
    7714: (16, 1, "Partition range value is missing."),
    7715: (16, 1, "The specified partition range value could not be found."),
    7717: (16, 1, 'The partition scheme "{0}" is currently being used to partition one or more tables.'),
    7719: (16, 1, "CREATE/ALTER partition function failed as only a maximum of {0} partitions can be created."),
    7721: (
        16,
        1,
        "Duplicate range boundary values are not allowed in partition function boundary values list. The boundary value "
        "being added is already present at ordinal {0} of the boundary value list.",
    ),
    7722: (16, 1, "Invalid partition number {0} specified for {1} '{2}', partition number can range from 1 to {3}."),
    7723: (
        16,
        1,
        "Only a single filegroup can be specified while creating partition scheme using option ALL to specify all the "
        "filegroups.",
    ),
    7724: (
        16,
        1,
        "Computed column cannot be used as a partition key if it is not persisted. Partition key column '{0}' in table "
        "'{1}' is not persisted.",
    ),
    7726: (
        16,
        1,
        "Partition column '{0}' has data type {1} which is different from the partition function '{2}' parameter data type {3}.",
    ),
    7728: (16, 1, "Invalid partition range: {0} TO {1}. Lower bound must not be greater than upper bound."),
    7729: (16, 1, "Cannot specify partition number in the {0} statement as the {1} '{2}' is not partitioned."),
    7733: (16, 1, "'{0}' statement failed. The {1} '{2}' is partitioned while {3} '{4}' is not partitioned."),
    7999: (16, 1, "Could not find any index named '{0}' for table '{1}'."),
}
