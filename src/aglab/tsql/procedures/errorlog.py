"""sp_readerrorlog and xp_readerrorlog: lines of the node's errorlog.

Arguments by position: log number (0 the current one), log type (1 SQL Server, 2 Agent), two texts that must both
occur; xp_readerrorlog goes on with a begin, an end and an order. The columns are LogDate, ProcessInfo, Text.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import DATETIME, nvarchar
from aglab.tsql.messages import error
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn

_COLUMNS = [OutColumn("LogDate", DATETIME), OutColumn("ProcessInfo", nvarchar(50)), OutColumn("Text", nvarchar(4000))]
_NAMES = ("@p1", "@p2", "@p3", "@p4", "@p5", "@p6", "@p7")


def _read(executor: Any, arguments: Any, name: str) -> Any:
    values = tuple(arguments.value(parameter, place) for place, parameter in enumerate(_NAMES))
    rows = executor.runtime.host.view_rows(name, values, executor.session)
    if rows is None:
        raise error(2812, name)
    yield from executor.send(list(_COLUMNS), [(row["LogDate"], row["ProcessInfo"], row["Text"]) for row in rows])
    return 0


@procedure("sp_readerrorlog")
def sp_readerrorlog(executor: Any, arguments: Any) -> Any:
    """[@p1 number [, @p2 type [, @p3 text [, @p4 text]]]]: lines of an errorlog."""
    return (yield from _read(executor, arguments, "sp_readerrorlog"))


@procedure("xp_readerrorlog")
def xp_readerrorlog(executor: Any, arguments: Any) -> Any:
    """As sp_readerrorlog, then begin, end and order."""
    return (yield from _read(executor, arguments, "xp_readerrorlog"))
