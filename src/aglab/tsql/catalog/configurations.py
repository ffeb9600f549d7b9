"""sp_configure's options: number, name, minimum, maximum, default, dynamic, advanced.

Source: "Server configuration options" and sys.configurations (SQL Server 2022 documentation).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Configuration:
    """One option: ``value`` is configured, ``value_in_use`` is what runs (after RECONFIGURE, or a restart when not dynamic)."""

    configuration_id: int
    name: str
    minimum: int
    maximum: int
    value: int
    value_in_use: int
    description: str
    is_dynamic: bool
    is_advanced: bool


# id, name, minimum, maximum, default, description, dynamic, advanced
_ROWS: tuple[tuple[int, str, int, int, int, str, bool, bool], ...] = (
    (101, "recovery interval (min)", 0, 32767, 0, "Maximum recovery interval in minutes", True, True),
    (102, "allow updates", 0, 1, 0, "Allow updates to system tables", True, False),
    (103, "user connections", 0, 32767, 0, "Number of user connections allowed", False, True),
    (106, "locks", 5000, 2147483647, 0, "Number of locks for all users", False, True),
    (107, "open objects", 0, 2147483647, 0, "Number of open database objects", False, True),
    (109, "fill factor (%)", 0, 100, 0, "Default fill factor percentage", False, True),
    (114, "disallow results from triggers", 0, 1, 0, "Disallow returning results from triggers", True, True),
    (115, "nested triggers", 0, 1, 1, "Allow triggers to be invoked within triggers", True, False),
    (116, "server trigger recursion", 0, 1, 1, "Allow recursion for server level triggers", True, False),
    (117, "remote access", 0, 1, 1, "Allow remote access", False, False),
    (124, "default language", 0, 9999, 0, "default language", True, False),
    (400, "cross db ownership chaining", 0, 1, 0, "Allow cross db ownership chaining", True, False),
    (503, "max worker threads", 128, 65535, 0, "Maximum worker threads", True, True),
    (505, "network packet size (B)", 512, 32767, 4096, "Network packet size", True, True),
    (518, "show advanced options", 0, 1, 0, "show advanced options", True, False),
    (542, "remote proc trans", 0, 1, 0, "Create DTC transaction for remote procedures", True, False),
    (544, "c2 audit mode", 0, 1, 0, "c2 audit mode", False, True),
    (1126, "default full-text language", 0, 2147483647, 1033, "default full-text language", True, True),
    (1127, "two digit year cutoff", 1753, 9999, 2049, "two digit year cutoff", True, True),
    (1505, "index create memory (KB)", 704, 2147483647, 0, "Memory for index create sorts (kBytes)", True, True),
    (1517, "priority boost", 0, 1, 0, "Priority boost", False, True),
    (1519, "remote login timeout (s)", 0, 2147483647, 10, "remote login timeout", True, False),
    (1520, "remote query timeout (s)", 0, 2147483647, 600, "remote query timeout", True, False),
    (1531, "cursor threshold", -1, 2147483647, -1, "cursor threshold", True, True),
    (1532, "set working set size", 0, 1, 0, "set working set size", False, True),
    (1534, "user options", 0, 32767, 0, "user options", True, False),
    (1535, "affinity mask", -2147483648, 2147483647, 0, "affinity mask", True, True),
    (1536, "max text repl size (B)", -1, 2147483647, 65536, "Maximum size of a text field in replication.", True, False),
    (1537, "media retention", 0, 365, 0, "Tape retention period in days", True, True),
    (1538, "cost threshold for parallelism", 0, 32767, 5, "cost threshold for parallelism", True, True),
    (1539, "max degree of parallelism", 0, 32767, 0, "maximum degree of parallelism", True, True),
    (1540, "min memory per query (KB)", 512, 2147483647, 1024, "minimum memory per query (kBytes)", True, True),
    (1541, "query wait (s)", -1, 2147483647, -1, "maximum time to wait for query memory (s)", True, True),
    (1543, "min server memory (MB)", 0, 2147483647, 0, "Minimum size of server memory (MB)", True, True),
    (1544, "max server memory (MB)", 128, 2147483647, 2147483647, "Maximum size of server memory (MB)", True, True),
    (1545, "query governor cost limit", 0, 2147483647, 0, "Maximum estimated cost allowed by query governor", True, True),
    (1546, "lightweight pooling", 0, 1, 0, "User mode scheduler uses lightweight pooling", False, True),
    (1547, "scan for startup procs", 0, 1, 0, "scan for startup stored procedures", False, True),
    (1549, "affinity64 mask", -2147483648, 2147483647, 0, "affinity64 mask", True, True),
    (1550, "affinity I/O mask", -2147483648, 2147483647, 0, "affinity I/O mask", False, True),
    (1551, "affinity64 I/O mask", -2147483648, 2147483647, 0, "affinity64 I/O mask", False, True),
    (1555, "transform noise words", 0, 1, 0, "Transform noise words for full-text query", True, True),
    (1556, "precompute rank", 0, 1, 0, "Use precomputed rank for full-text query", True, True),
    (1557, "PH timeout (s)", 1, 3600, 60, "DB connection timeout for full-text protocol handler (s)", True, True),
    (1562, "clr enabled", 0, 1, 0, "CLR user code execution enabled in the server", True, False),
    (1563, "max full-text crawl range", 0, 256, 4, "Maximum  crawl ranges allowed in full-text indexing", True, True),
    (1564, "ft notify bandwidth (min)", 0, 32767, 0, "Number of reserved full-text notifications buffers", True, True),
    (1565, "ft notify bandwidth (max)", 0, 32767, 100, "Max number of full-text notifications buffers", True, True),
    (1566, "ft crawl bandwidth (min)", 0, 32767, 0, "Number of reserved full-text crawl buffers", True, True),
    (1567, "ft crawl bandwidth (max)", 0, 32767, 100, "Max number of full-text crawl buffers", True, True),
    (1568, "default trace enabled", 0, 1, 1, "Enable or disable the default trace", True, True),
    (1569, "blocked process threshold (s)", 0, 86400, 0, "Blocked process reporting threshold", True, True),
    (1570, "in-doubt xact resolution", 0, 2, 0, "Recovery policy for DTC transactions with unknown outcome", True, True),
    (1576, "remote admin connections", 0, 1, 0, "Dedicated Admin Connections are allowed from remote clients", True, False),
    (1577, "common criteria compliance enabled", 0, 1, 0, "Common Criteria compliance mode enabled", False, True),
    (1578, "EKM provider enabled", 0, 1, 0, "Enable or disable EKM provider", True, True),
    (1579, "backup compression default", 0, 1, 0, "Enable compression of backups by default", True, False),
    (1580, "filestream access level", 0, 2, 0, "Sets the FILESTREAM access level", True, False),
    (
        1581,
        "optimize for ad hoc workloads",
        0,
        1,
        0,
        "When this option is set, plan cache size is further reduced for single-use adhoc OLTP workload.",
        True,
        True,
    ),
    (
        1582,
        "access check cache bucket count",
        0,
        65536,
        0,
        "Default hash bucket count for the access check result security cache",
        True,
        True,
    ),
    (1583, "access check cache quota", 0, 2147483647, 0, "Default quota for the access check result security cache", True, True),
    (1584, "backup checksum default", 0, 1, 0, "Enable checksum of backups by default", True, False),
    (1585, "automatic soft-NUMA disabled", 0, 1, 0, "Automatic soft-NUMA is enabled by default", False, True),
    (1586, "external scripts enabled", 0, 1, 0, "Allows execution of external scripts", True, False),
    (1587, "clr strict security", 0, 1, 1, "CLR strict security enabled in the server", True, True),
    (1588, "column encryption enclave type", 0, 2, 0, "Type of enclave used for computations on encrypted columns", False, False),
    (1589, "tempdb metadata memory-optimized", 0, 1, 0, "Tempdb metadata memory-optimized is disabled by default.", False, True),
    (1591, "ADR cleaner retry timeout (min)", 0, 32767, 120, "ADR cleaner retry timeout.", True, True),
    (1592, "ADR Preallocation Factor", 0, 32767, 4, "ADR Preallocation Factor.", True, True),
    (
        1593,
        "version high part of SQL Server",
        -2147483648,
        2147483647,
        1048576,
        "version high part of SQL Server that model database copied for",
        True,
        True,
    ),
    (
        1594,
        "version low part of SQL Server",
        -2147483648,
        2147483647,
        270991360,
        "version low part of SQL Server that model database copied for",
        True,
        True,
    ),
    (
        1595,
        "Data processed daily limit in TB",
        0,
        2147483647,
        2147483647,
        "SQL On-demand data processed daily limit in TB",
        True,
        False,
    ),
    (
        1596,
        "Data processed weekly limit in TB",
        0,
        2147483647,
        2147483647,
        "SQL On-demand data processed weekly limit in TB",
        True,
        False,
    ),
    (
        1597,
        "Data processed monthly limit in TB",
        0,
        2147483647,
        2147483647,
        "SQL On-demand data processed monthly limit in TB",
        True,
        False,
    ),
    (1598, "ADR Cleaner Thread Count", 1, 32767, 1, "Max number of threads ADR cleaner can assign.", True, True),
    (1599, "hardware offload enabled", 0, 1, 0, "Enable hardware offloading on the server", False, True),
    (1600, "hardware offload config", 0, 255, 0, "Configure hardware offload on the server", False, True),
    (1601, "hardware offload mode", 0, 255, 0, "Configure hardware offload mode on the server", False, True),
    (1602, "backup compression algorithm", 0, 2, 0, "Configure default backup compression algorithm", True, False),
    (16384, "Agent XPs", 0, 1, 0, "Enable or disable Agent XPs", True, True),
    (16386, "Database Mail XPs", 0, 1, 0, "Enable or disable Database Mail XPs", True, True),
    (16387, "SMO and DMO XPs", 0, 1, 1, "Enable or disable SMO and DMO XPs", True, True),
    (16388, "Ole Automation Procedures", 0, 1, 0, "Enable or disable Ole Automation Procedures", True, True),
    (16390, "xp_cmdshell", 0, 1, 0, "Enable or disable command shell", True, True),
    (16391, "Ad Hoc Distributed Queries", 0, 1, 0, "Enable or disable Ad Hoc Distributed Queries", True, True),
    (16392, "Replication XPs", 0, 1, 0, "Enable or disable Replication XPs", True, True),
    (
        16393,
        "contained database authentication",
        0,
        1,
        0,
        "Enables contained databases and contained authentication",
        True,
        False,
    ),
    (16394, "hadr enabled", 0, 1, 1, "Enable or disable Always On Availability Groups", False, True),
    (16395, "remote data archive", 0, 1, 0, "Allow the use of the REMOTE_DATA_ARCHIVE data access for databases", True, False),
    (16396, "allow polybase export", 0, 1, 0, "Allow INSERT into a Hadoop external table", True, False),
    (16397, "allow filesystem enumeration", 0, 1, 1, "Allow enumeration of filesystem", True, True),
    (
        16398,
        "polybase enabled",
        0,
        1,
        0,
        "Configure SQL Server to connect to external data sources through PolyBase",
        False,
        False,
    ),
    (
        16399,
        "suppress recovery model errors",
        0,
        1,
        0,
        "Return warning instead of error for unsupported ALTER DATABASE SET RECOVERY command",
        True,
        True,
    ),
    (
        16400,
        "openrowset auto_create_statistics",
        0,
        1,
        1,
        "Enable or disable auto create statistics for openrowset sources.",
        True,
        True,
    ),
)


def default_configurations() -> dict[str, Configuration]:
    """Every option at its default, by name in lower case."""
    return {
        name.lower(): Configuration(number, name, minimum, maximum, default, default, description, dynamic, advanced)
        for number, name, minimum, maximum, default, description, dynamic, advanced in _ROWS
    }
