"""More views of SQL Server 2000 that scripts still read: files, file groups, users, indexes, texts, configuration, counters.

Each is made from the view that replaced it; what has no counterpart (pointers to pages, status bits) is NULL or 0. Columns: "System
compatibility views (Transact-SQL)" and the pages of these views (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import VIEWS, provide, view_rows
from aglab.tsql.store.database import Database

Row = dict[str, Any]


def _rows(runtime: Any, database: Database, name: str) -> Iterator[Row]:
    """The rows of another view by column name, as this session may see them."""
    view = VIEWS[("sys", name)]
    for row in view_rows(runtime, view, (), database):
        yield dict(zip(view.names, row, strict=True))


_FILE = "fileid smallint, groupid smallint, size int!, maxsize int!, growth int!, status int, perf int"


def _file(row: Row) -> Row:
    return {
        "fileid": row["file_id"],
        "groupid": row["data_space_id"],
        "size": row["size"],
        "maxsize": row["max_size"],
        "growth": row["growth"],
        "status": (2 if row["type"] == 0 else 64) | (0x100000 if row["is_percent_growth"] else 0),
        "perf": 0,
        "name": row["name"],
        "filename": row["physical_name"],
    }


@provide(f"sys.sysfiles: {_FILE}, name sysname!, filename nvarchar(260)", compatibility=True)
def _sysfiles(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Row]:
    return (_file(row) for row in _rows(runtime, database, "database_files"))


@provide(f"sys.sysaltfiles: {_FILE}, dbid smallint, name sysname!, filename nvarchar(260)", compatibility=True)
def _sysaltfiles(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Row]:
    return ({**_file(row), "dbid": row["database_id"]} for row in _rows(runtime, database, "master_files"))


@provide("sys.sysfilegroups: groupid smallint, allocpolicy smallint, status int, groupname sysname!", compatibility=True)
def _sysfilegroups(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for row in _rows(runtime, database, "filegroups"):
        yield row["data_space_id"], 0, (8 if row["is_read_only"] else 0) | (16 if row["is_default"] else 0), row["name"]


@provide(
    """sys.sysusers: uid smallint, status smallint, name sysname!, sid varbinary(85), roles varbinary(2048), createdate datetime!,
    updatedate datetime!, altuid smallint, password varbinary(256), gid smallint, environ varchar(255), hasdbaccess int, islogin int,
    isntname int, isntgroup int, isntuser int, issqluser int, isaliased int, issqlrole int, isapprole int""",
    compatibility=True,
)
def _sysusers(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Row]:
    for row in _rows(runtime, database, "database_principals"):
        role, sql = row["type"] == "R", row["type"] == "S"
        yield dict.fromkeys(("status", "isntname", "isntgroup", "isntuser", "isaliased", "isapprole"), 0) | {
            "uid": row["principal_id"],
            "name": row["name"],
            "sid": row["sid"],
            "createdate": row["create_date"],
            "updatedate": row["modify_date"],
            "altuid": row["owning_principal_id"],
            "gid": row["principal_id"] if role else 0,
            "hasdbaccess": int(not role and row["name"].lower() not in ("guest", "sys", "information_schema")),
            "islogin": int(not role),
            "issqluser": int(sql),
            "issqlrole": int(role),
        }


@provide(
    """sys.sysindexes: id int, status int, first binary(6), indid smallint, root binary(6), minlen smallint, keycnt smallint,
    groupid smallint, dpages int, reserved int, used int, rowcnt bigint, rowmodctr int, reserved3 tinyint, reserved4 tinyint,
    xmaxlen smallint, maxirow smallint, OrigFillFactor tinyint, StatVersion tinyint, reserved2 int, FirstIAM binary(6), impid smallint,
    lockflags smallint, pgmodctr int, keys varbinary(1088), name sysname, statblob image, maxlen int, rows int""",
    compatibility=True,
)
def _sysindexes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """One row for each heap or index; of a partitioned one the sums of its partitions."""
    sums: dict[tuple[int, int], list[int]] = {}
    for row in _rows(runtime, database, "dm_db_partition_stats"):
        found = sums.setdefault((row["object_id"], row["index_id"]), [0, 0, 0, 0])
        for place, name in enumerate(("in_row_data_page_count", "reserved_page_count", "used_page_count", "row_count")):
            found[place] += row[name] or 0
    keys: dict[tuple[int, int], int] = {}
    for row in _rows(runtime, database, "index_columns"):
        one = (row["object_id"], row["index_id"])
        keys[one] = keys.get(one, 0) + (row["key_ordinal"] > 0)
    for row in _rows(runtime, database, "indexes"):
        one = (row["object_id"], row["index_id"])
        data, reserved, used, rows = sums.get(one, [0, 0, 0, 0])
        yield dict.fromkeys(
            ("status", "rowmodctr", "reserved2", "reserved3", "reserved4", "impid", "lockflags", "pgmodctr"), 0
        ) | {
            "id": row["object_id"],
            "indid": row["index_id"],
            "keycnt": keys.get(one, 0),
            "groupid": row["data_space_id"],
            "dpages": data,
            "reserved": reserved,
            "used": used,
            "rowcnt": rows,
            "rows": rows,
            "origfillfactor": row["fill_factor"],
            "name": row["name"],
        }


@provide(
    """sys.syscomments: id int!, number smallint, colid smallint!, status smallint!, ctext varbinary(8000), texttype smallint,
    language smallint, encrypted bit!, compressed bit!, text nvarchar(4000)""",
    compatibility=True,
)
def _syscomments(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """The texts of modules in pieces of 4,000 characters."""
    for row in _rows(runtime, database, "sql_modules"):
        text = row["definition"]
        for number, start in enumerate(range(0, len(text or " "), 4000), 1):
            piece = None if text is None else text[start : start + 4000]
            yield dict.fromkeys(("number", "status", "language", "compressed"), 0) | {
                "id": row["object_id"],
                "colid": number,
                "ctext": None if piece is None else piece.encode("utf-16-le"),
                "texttype": 2 if text is not None else 6,
                "encrypted": text is None,
                "text": piece,
            }


@provide("sys.sysconfigures: value int, config int!, comment nvarchar(255)!, status smallint", compatibility=True)
def _sysconfigures(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return _configured(runtime, database, "value")


@provide("sys.syscurconfigs: value int, config int!, comment nvarchar(255)!, status smallint", compatibility=True)
def _syscurconfigs(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return _configured(runtime, database, "value_in_use")


def _configured(runtime: Any, database: Database, column: str) -> Iterator[tuple[Any, ...]]:
    for row in _rows(runtime, database, "configurations"):
        yield row[column], row["configuration_id"], row["description"], row["is_dynamic"] + 2 * row["is_advanced"]


@provide(
    """sys.sysperfinfo: object_name nchar(128)!, counter_name nchar(128)!, instance_name nchar(128), cntr_value bigint!,
    cntr_type int!""",
    compatibility=True,
)
def _sysperfinfo(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> list[Any]:
    return view_rows(runtime, VIEWS[("sys", "dm_os_performance_counters")], (), database)
