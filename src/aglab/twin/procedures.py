"""System procedures that only a node can answer: the errorlog's readers, registered with the T-SQL room's procedures.

``sp_readerrorlog [@p1 log number] [, @p2 1 server | 2 agent] [, @p3 text] [, @p4 text]``; ``xp_readerrorlog`` takes a time span
and an order besides. Source: "sp_readerrorlog (Transact-SQL)", SQL Server documentation; xp_readerrorlog and xp_enumerrorlogs
are used by tools and not documented: their columns are those that these tools read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from aglab.core.sqltypes import DATETIME, INT, SYSNAME, nvarchar, varchar
from aglab.tsql import dates
from aglab.tsql.effects import Wait
from aglab.tsql.messages import KNOWLEDGE_PAGE, error
from aglab.tsql.permissions import need_server
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn
from aglab.twin import diagnostics

COMPLETE_S = 5  # the procedure has to run so long to have all data (documented)
DIAGNOSTICS = [
    OutColumn("create_time", DATETIME, False),
    OutColumn("component_type", SYSNAME, False),
    OutColumn("component_name", SYSNAME, False),
    OutColumn("state", INT, False),
    OutColumn("state_desc", SYSNAME, False),
    OutColumn("data", varchar()),
]
COLUMNS = [OutColumn("LogDate", DATETIME), OutColumn("ProcessInfo", nvarchar(20)), OutColumn("Text", nvarchar(4000))]


def _read(executor: Any, given: list[Any]) -> Iterator[Any]:
    rows = executor.runtime.host.view_rows("sp_readerrorlog", tuple(given), executor.session) or []
    yield from executor.send(COLUMNS, [(row["LogDate"], row["ProcessInfo"], row["Text"]) for row in rows])
    return 0  # type: ignore[return-value]  # a generator's value


@procedure("sp_readerrorlog")
def sp_readerrorlog(executor: Any, arguments: Any) -> Any:
    """The errorlog: number, type, two texts that must both occur."""
    return (yield from _read(executor, [arguments.value(f"@p{number + 1}", number) for number in range(4)]))


@procedure("sp_server_diagnostics")
def sp_server_diagnostics(executor: Any, arguments: Any) -> Any:
    """@repeat_interval: the health of the instance by component, once after five seconds, or again until it is cancelled."""
    host = executor.runtime.host
    need_server(executor.runtime.instance, executor.session, "VIEW SERVER STATE")
    every_s = int(arguments.value("@repeat_interval", 0, default=0) or 0)
    if every_s != 0 and every_s < COMPLETE_S:
        why = f"@repeat_interval = {every_s} must be 0 or at least {COMPLETE_S} seconds"
        raise error(59005, "sp_server_diagnostics", why, KNOWLEDGE_PAGE)
    while True:
        yield Wait("time", host.now_s() + max(every_s, COMPLETE_S), "SP_SERVER_DIAGNOSTICS_SLEEP")
        while "unresponsive" in host.ill:
            yield Wait("time", host.now_s() + COMPLETE_S, "SP_SERVER_DIAGNOSTICS_SLEEP")
        rows = [tuple(row.values()) for row in diagnostics.rows(host)]
        yield from executor.send(DIAGNOSTICS, rows)
        if every_s == 0:
            return 0


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
