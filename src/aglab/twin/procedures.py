"""System procedures that only a node can answer: the errorlog's readers, registered with the T-SQL room's procedures.

``sp_readerrorlog [@p1 log number] [, @p2 1 server | 2 agent] [, @p3 text] [, @p4 text]``; ``xp_readerrorlog`` takes a time span
and an order besides. Source: "sp_readerrorlog (Transact-SQL)", SQL Server documentation; xp_readerrorlog and xp_enumerrorlogs
are used by tools and not documented: their columns are those that these tools read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from aglab.core.sqltypes import DATETIME, INT, nvarchar
from aglab.tsql import dates
from aglab.tsql.messages import error
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn

COLUMNS = [OutColumn("LogDate", DATETIME), OutColumn("ProcessInfo", nvarchar(20)), OutColumn("Text", nvarchar(4000))]


def _read(executor: Any, given: list[Any]) -> Iterator[Any]:
    rows = executor.runtime.host.view_rows("sp_readerrorlog", tuple(given), executor.session) or []
    yield from executor.send(COLUMNS, [(row["LogDate"], row["ProcessInfo"], row["Text"]) for row in rows])
    return 0  # type: ignore[return-value]  # a generator's value


@procedure("sp_readerrorlog")
def sp_readerrorlog(executor: Any, arguments: Any) -> Any:
    """The errorlog: number, type, two texts that must both occur."""
    return (yield from _read(executor, [arguments.value(f"@p{number + 1}", number) for number in range(4)]))


@procedure("xp_readerrorlog")
def xp_readerrorlog(executor: Any, arguments: Any) -> Any:
    """The errorlog, with a span of time and an order besides."""
    given = [arguments.value(f"@p{number + 1}", number) for number in range(7)]
    given[4:6] = [_moment(one) for one in given[4:6]]
    return (yield from _read(executor, given))


def _moment(value: Any) -> dt.datetime | None:
    """A span's end as typed. Error 241 for a text that is no date."""
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]
    try:
        return dates.parse(value) if value.strip() else None
    except dates.BadDate:
        raise error(241) from None


@procedure("xp_enumerrorlogs")
def xp_enumerrorlogs(executor: Any, arguments: Any) -> Any:
    """The errorlogs that are kept: number, when the last line was written, size in bytes."""
    rows = executor.runtime.host.view_rows("xp_enumerrorlogs", (), executor.session) or []
    columns = [OutColumn("Archive #", INT), OutColumn("Date", nvarchar(30)), OutColumn("Log File Size (Byte)", INT)]
    yield from executor.send(columns, list(rows))
    return 0
