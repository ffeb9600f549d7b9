"""Messages about memory-optimized tables and natively compiled modules: number -> (severity, state, text).

Source: "Database Engine events and errors" (10000 to 10999, 11000 to 12999, 31000 to 41399; SQL Server documentation). The list
gives the 107xx and 123xx messages severity 15; what servers send is 16, as printed with 10794 in public error reports. States:
76, 88 and 96 of 10794, 110 of 41302 and 0 of 41368 are from such reports, the others are not confirmed.
"""

from __future__ import annotations

MEMORY: dict[int, tuple[int, int, str]] = {
    10775: (
        16,
        1,
        "Object '{0}' is not a memory optimized table or a natively compiled inline table-valued function and cannot be "
        "accessed from a natively compiled module.",
    ),
    10778: (
        16,
        1,
        "Foreign key relationships between memory optimized tables and non-memory optimized tables are not supported.",
    ),
    10779: (16, 1, "The durability option 'schema_only' is supported only with memory optimized tables."),
    10782: (16, 1, "BEGIN ATOMIC is supported only in natively compiled modules."),
    10783: (16, 1, "The body of a natively compiled module must be an ATOMIC block."),
    10784: (16, 1, "The WITH clause of BEGIN ATOMIC statement must specify a value for the option '{0}'."),
    10789: (16, 1, "The option '{0}' must be specified for index '{1}' on table '{2}'. It is required for hash indexes."),
    10790: (16, 1, "The option '{0}' can be specified only for hash indexes."),
    10791: (16, 1, "Hash indexes are permitted only in memory optimized tables."),
    10794: (16, 76, "The {0} '{1}' is not supported with {2}."),
    10796: (
        16,
        1,
        "The SCHEMABINDING option is supported only for natively compiled modules, and is required for those modules.",
    ),
    10797: (16, 1, "Only one MEMORY_OPTIMIZED_DATA filegroup is allowed per database."),
    12306: (16, 1, "Cursors are not supported with {0}."),
    12310: (16, 1, "Common Table Expressions (CTE) are not supported with {0}."),
    12317: (
        16,
        76,
        "Clustered indexes, which are the default for primary keys, are not supported with {0}. Specify a NONCLUSTERED index "
        "instead.",
    ),
    12322: (16, 1, "Temporary tables are not supported with {0}."),
    12331: (16, 1, "DDL statements ALTER, DROP and CREATE inside user transactions are not supported with {0}."),
    12339: (16, 1, "The use of seed and increment values other than 1 is not supported with {0}."),
    41302: (
        16,
        110,
        "The current transaction attempted to update a record that has been updated since this transaction started. The "
        "transaction was aborted.",
    ),
    41321: (16, 1, "The memory optimized table '{0}' with DURABILITY=SCHEMA_AND_DATA must have a primary key."),
    41325: (17, 0, "The current transaction failed to commit due to a serializable validation failure."),
    41326: (16, 1, "Memory optimized tables cannot be created in system databases."),
    41327: (16, 1, "The memory optimized table '{0}' must have at least one index or a primary key."),
    41332: (
        16,
        0,
        "Memory optimized tables and natively compiled modules cannot be accessed or created when the session TRANSACTION "
        "ISOLATION LEVEL is set to SNAPSHOT.",
    ),
    41333: (
        16,
        0,
        "The following transactions must access memory optimized tables and natively compiled modules under snapshot isolation: "
        "RepeatableRead transactions, Serializable transactions, and transactions that access tables that are not memory "
        "optimized in RepeatableRead or Serializable isolation.",
    ),
    41337: (
        16,
        1,
        "Cannot create {0}. To create {0}, the database must have a MEMORY_OPTIMIZED_FILEGROUP that is online and has at least "
        "one container.",
    ),
    41368: (
        16,
        0,
        "Accessing memory optimized tables using the READ COMMITTED isolation level is supported only for autocommit "
        "transactions. It is not supported for explicit or implicit transactions. Provide a supported isolation level for the "
        "memory optimized table using a table hint, such as WITH (SNAPSHOT).",
    ),
}
