"""Options in parentheses after WITH: which a statement knows, which values they take, and what each drives.

One table for the parser, for the page "What the twin knows" and for the tests. An option is in one of three states: it drives
something, it is kept and shown in a catalogue view, or it is accepted and drives nothing. One that SQL Server has and the twin
has not is refused by name where it would change a result. Sources: "CREATE TABLE", "CREATE INDEX", "ALTER INDEX", "ALTER TABLE
index_option", "DROP INDEX", "CREATE DATABASE", "COMMIT TRANSACTION (Transact-SQL)". Left out: columnstore, XML and spatial
indexes, and DATA_COMPRESSION ON PARTITIONS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aglab.tsql.messages import KNOWLEDGE_PAGE, error, not_implemented

NOTHING = "accepted, drives nothing"


@dataclass(frozen=True)
class Option:
    """One option: ``fits`` says which values it takes; ``drives`` is what the page prints; ``refused`` values are not built."""

    fits: Callable[[Any], bool]
    drives: str = NOTHING
    refused: Callable[[Any], bool] = lambda value: False


def _word(*words: str | bool) -> Callable[[Any], bool]:
    return lambda value: value in words


def _number(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _minutes(value: Any) -> bool:
    text = str(value).upper().removesuffix("MINUTES").strip()
    return text.isdigit() and int(text) <= 10080


def _online(value: Any) -> bool:
    if isinstance(value, dict):  # ON (WAIT_AT_LOW_PRIORITY (...))
        return set(value) == {"ON"} and isinstance(value["ON"], dict) and _low_priority(value["ON"])
    return value in ("ON", "OFF")


def _low_priority(value: Any) -> bool:
    inner = value.get("WAIT_AT_LOW_PRIORITY") if isinstance(value, dict) and len(value) == 1 else None
    return (
        isinstance(inner, dict)
        and set(inner) == {"MAX_DURATION", "ABORT_AFTER_WAIT"}
        and _minutes(inner["MAX_DURATION"])
        and inner["ABORT_AFTER_WAIT"] in ("NONE", "SELF", "BLOCKERS")
    )


def _bare(value: Any) -> bool:
    return value is True


def _anything(value: Any) -> bool:
    return True


def _shown(column: str) -> str:
    return f"kept and shown in {column}"


_ON_OFF = _word("ON", "OFF")
_ON = _word("ON")


def _missing(value: Any) -> bool:
    return value != "OFF"


_FILL = Option(_number(1, 100), _shown("sys.indexes.fill_factor"))
_PAD = Option(_ON_OFF, _shown("sys.indexes.is_padded"))
_IGNORE = Option(_ON_OFF, "INSERT leaves duplicate keys out with a warning (3604); sys.indexes.ignore_dup_key")
_ROWS = Option(_ON_OFF, _shown("sys.indexes.allow_row_locks"))
_PAGES = Option(_ON_OFF, _shown("sys.indexes.allow_page_locks"))
_SEQUENTIAL = Option(_ON_OFF, _shown("sys.indexes.optimize_for_sequential_key"))
_COMPRESSION = Option(
    _word("NONE", "ROW", "PAGE", "COLUMNSTORE", "COLUMNSTORE_ARCHIVE"),
    _shown("sys.partitions.data_compression_desc") + "; sizes and costs stay those of rows without compression",
    lambda value: value not in ("NONE", "ROW", "PAGE"),
)
_XML = Option(_ON_OFF, "only OFF", _missing)
_NO_RECOMPUTE = Option(_ON_OFF, _shown("sys.stats.no_recompute"))
_INCREMENTAL = Option(_ON_OFF, "only OFF", _missing)
_TEMPDB = Option(_ON_OFF)
_ONLINE = Option(_online, "a rebuild that can be paused needs it; otherwise nothing")
_DEGREE = Option(_number(0, 64), "processors that a rebuild may use")
_DEGREE_KEPT = Option(_number(0, 64))
_RESUMABLE = Option(_ON_OFF, "the rebuild takes time, shows in sys.index_resumable_operations, can be paused")
_DURATION = Option(_minutes, "a rebuild that can be paused stops after so many minutes")
_NOT_RESUMABLE = Option(_ON_OFF, "only OFF", _missing)
_NO_DURATION = Option(_minutes, "refused: only ALTER INDEX pauses", _anything)
_BUCKETS = Option(_number(-(2**31), 2**63 - 1), "buckets of a hash index of a memory-optimized table")
_LOW = Option(_anything, "accepted, drives nothing: nothing waits for such locks here")

_KEY = {
    "PAD_INDEX": _PAD,
    "FILLFACTOR": _FILL,
    "IGNORE_DUP_KEY": _IGNORE,
    "STATISTICS_NORECOMPUTE": _NO_RECOMPUTE,
    "STATISTICS_INCREMENTAL": _INCREMENTAL,
    "ALLOW_ROW_LOCKS": _ROWS,
    "ALLOW_PAGE_LOCKS": _PAGES,
    "OPTIMIZE_FOR_SEQUENTIAL_KEY": _SEQUENTIAL,
    "DATA_COMPRESSION": _COMPRESSION,
    "XML_COMPRESSION": _XML,
}
_BUILD = {
    "SORT_IN_TEMPDB": _TEMPDB,
    "ONLINE": Option(_online),
    "MAXDOP": _DEGREE_KEPT,
    "RESUMABLE": _NOT_RESUMABLE,
    "MAX_DURATION": _NO_DURATION,
}
_REBUILD = {"SORT_IN_TEMPDB": _TEMPDB, "ONLINE": _ONLINE, "MAXDOP": _DEGREE, "RESUMABLE": _RESUMABLE, "MAX_DURATION": _DURATION}
_FILES = ("FILETABLE_DIRECTORY", "FILETABLE_COLLATE_FILENAME", "FILETABLE_PRIMARY_KEY_CONSTRAINT_NAME")


def _absent(*names: str) -> dict[str, Option]:
    return {name: Option(_anything, "only OFF", _missing) for name in names}


OPTION_LISTS: Mapping[str, Mapping[str, Option]] = {
    "CREATE TABLE": {
        "MEMORY_OPTIMIZED": Option(_anything, "rows in memory: sys.dm_db_xtp_table_memory_stats"),
        "DURABILITY": Option(_anything, "whether rows of a memory-optimized table are logged"),
        "DATA_COMPRESSION": _COMPRESSION,
        "XML_COMPRESSION": _XML,
        **_absent("SYSTEM_VERSIONING", "REMOTE_DATA_ARCHIVE", "DATA_DELETION", "LEDGER", *_FILES),
    },
    "CREATE INDEX": {**_KEY, **_BUILD, "DROP_EXISTING": Option(_ON_OFF, "the index is built anew in the old one's place")},
    "CREATE TABLE constraint": {**_KEY, **_BUILD, "BUCKET_COUNT": _BUCKETS},
    "ALTER INDEX REBUILD": {**{k: v for k, v in _KEY.items() if k != "OPTIMIZE_FOR_SEQUENTIAL_KEY"}, **_REBUILD},
    "ALTER INDEX REBUILD PARTITION": {**_REBUILD, "DATA_COMPRESSION": _COMPRESSION, "XML_COMPRESSION": _XML},
    "ALTER INDEX REORGANIZE": {"LOB_COMPACTION": Option(_ON_OFF), "COMPRESS_ALL_ROW_GROUPS": Option(_ON_OFF)},
    "ALTER INDEX RESUME": {"MAXDOP": _DEGREE, "MAX_DURATION": _DURATION, "WAIT_AT_LOW_PRIORITY": _LOW},
    "ALTER INDEX SET": {
        "ALLOW_ROW_LOCKS": _ROWS,
        "ALLOW_PAGE_LOCKS": _PAGES,
        "OPTIMIZE_FOR_SEQUENTIAL_KEY": _SEQUENTIAL,
        "IGNORE_DUP_KEY": _IGNORE,
        "STATISTICS_NORECOMPUTE": _NO_RECOMPUTE,
        "COMPRESSION_DELAY": Option(_anything, "refused: columnstore only", _anything),
    },
    "ALTER TABLE REBUILD": {**_KEY, **_BUILD},
    "ALTER TABLE SWITCH": {"WAIT_AT_LOW_PRIORITY": _LOW},
    "DROP INDEX": {
        "MAXDOP": _DEGREE_KEPT,
        "ONLINE": Option(_online),
        "MOVE TO": Option(_anything, "refused", _anything),
        "FILESTREAM_ON": Option(_anything, "refused", _anything),
    },
    "CREATE DATABASE": {
        "TRUSTWORTHY": Option(_ON_OFF, _shown("sys.databases.is_trustworthy_on")),
        "DB_CHAINING": Option(_ON_OFF, _shown("sys.databases.is_db_chaining_on")),
        "CATALOG_COLLATION": Option(
            _word("DATABASE_DEFAULT", "SQL_LATIN1_GENERAL_CP1_CI_AS"), "the only collation of the catalogue"
        ),
        "LEDGER": Option(_ON_OFF, "only OFF", _missing),
        **{
            name: Option(_anything, "refused", _anything)
            for name in (
                "FILESTREAM",
                "DEFAULT_FULLTEXT_LANGUAGE",
                "DEFAULT_LANGUAGE",
                "NESTED_TRIGGERS",
                "TRANSFORM_NOISE_WORDS",
                "TWO_DIGIT_YEAR_CUTOFF",
                "PERSISTENT_LOG_BUFFER",
            )
        },
    },
    "UPDATE STATISTICS": {
        **{name: Option(_word(True)) for name in ("FULLSCAN", "RESAMPLE", "ALL", "COLUMNS", "INDEX")},
        "SAMPLE": Option(_number(0, 2**63 - 1)),
        "NORECOMPUTE": Option(_word(True), _shown("sys.stats.no_recompute")),
        "MAXDOP": _DEGREE_KEPT,
        "PERSIST_SAMPLE_PERCENT": Option(_ON_OFF),
        "AUTO_DROP": Option(_ON_OFF),
        "INCREMENTAL": Option(_ON_OFF, "only OFF", _missing),
    },
    "CREATE TYPE": {"MEMORY_OPTIMIZED": Option(_ON_OFF, _shown("sys.table_types.is_memory_optimized"))},
    "INSERT BULK": {
        "CHECK_CONSTRAINTS": Option(_bare, "CHECK and FOREIGN KEY are checked; without it only keys and NOT NULL are"),
        "KEEP_NULLS": Option(_bare, "NULL stays NULL; without it a column with a default gets its default"),
        "KEEP_IDENTITY": Option(_bare, "identity values are taken from the client, as they are where the column is listed"),
        "TABLOCK": Option(_bare, "an exclusive lock on the table (SQL Server takes BU, which other bulk loads may share)"),
        "FIRE_TRIGGERS": Option(_bare),
        "ROWS_PER_BATCH": Option(_number(0, 2**31 - 1)),
        "KILOBYTES_PER_BATCH": Option(_number(0, 2**31 - 1)),
        "ALLOW_ENCRYPTED_VALUE_MODIFICATIONS": Option(_bare),
    },
    "CREATE STATISTICS": {
        "FULLSCAN": Option(_word(True)),
        "SAMPLE": Option(_number(0, 2**63 - 1)),
        "NORECOMPUTE": Option(_word(True), _shown("sys.stats.no_recompute")),
        "MAXDOP": _DEGREE_KEPT,
        "PERSIST_SAMPLE_PERCENT": Option(_ON_OFF),
        "AUTO_DROP": Option(_ON_OFF),
        "INCREMENTAL": Option(_ON_OFF, "only OFF", _missing),
    },
    "COMMIT": {"DELAYED_DURABILITY": Option(_ON_OFF, "ON: the commit does not wait for the log, where the database allows it")},
    "BEGIN ATOMIC": {
        "TRANSACTION ISOLATION LEVEL": Option(_anything, "isolation of a natively compiled procedure"),
        "LANGUAGE": Option(_anything),
        "DELAYED_DURABILITY": Option(_ON_OFF, "only OFF", _missing),
        "DATEFORMAT": Option(_anything, "refused", _anything),
        "DATEFIRST": Option(_anything, "refused", _anything),
    },
}


def check_options(statement: str, options: Mapping[str, Any], line: int) -> None:
    """Refuse what ``statement`` does not know: 155 for an unknown name, 102 for a value, 59001 for what is not built."""
    known = OPTION_LISTS[statement]
    for name, value in options.items():
        option = known.get(name)
        if option is None:
            raise error(155, name, statement.removesuffix(" constraint"), line=line, state=1)
        if not option.fits(value):
            raise error(102, "" if isinstance(value, (dict, list)) else str(value), line=line)
        if option.refused(value):
            raise not_implemented(f"{statement.removesuffix(' constraint')} ... WITH ({name})", line)


def once(name: str, options: Mapping[str, Any], line: int) -> None:
    """An option that is given twice says two things. SQL Server refuses it too; its number is not confirmed."""
    if name in options:
        raise error(59005, f"{name} twice", "an option is given once", KNOWLEDGE_PAGE, line=line)


def option_rows() -> list[tuple[str, str, str]]:
    """Statement, option and what it drives, for the page."""
    return [(statement, name, option.drives) for statement, known in OPTION_LISTS.items() for name, option in known.items()]
