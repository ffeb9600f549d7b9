"""@@ functions: session and server state."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SMALLINT, SqlType, nvarchar
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr

_SYSNAME = nvarchar(128)


def _ticks(runtime: Any) -> int:
    return int(runtime.host.now_s() * 1000 / 31.25) % 2**31


_GLOBALS: dict[str, tuple[SqlType, Callable[[Any], Any]]] = {
    "@@SPID": (SMALLINT, lambda r: r.session.spid),
    "@@TRANCOUNT": (INT, lambda r: r.session.trancount),
    "@@ROWCOUNT": (INT, lambda r: r.session.row_count),
    "@@ERROR": (INT, lambda r: r.session.error),
    "@@IDENTITY": (
        SqlType("numeric", precision=38),
        lambda r: None if r.session.last_identity is None else Decimal(r.session.last_identity),
    ),
    "@@SERVERNAME": (_SYSNAME, lambda r: r.instance.name),
    "@@SERVICENAME": (_SYSNAME, lambda r: "MSSQLSERVER"),
    "@@VERSION": (nvarchar(300), lambda r: r.instance.version),
    "@@MICROSOFTVERSION": (INT, lambda r: 0x10001027),
    "@@LANGUAGE": (_SYSNAME, lambda r: r.session.options.language),
    "@@LANGID": (SMALLINT, lambda r: 0),
    "@@DATEFIRST": (SqlType("tinyint"), lambda r: r.session.options.datefirst),
    "@@LOCK_TIMEOUT": (INT, lambda r: r.session.options.lock_timeout_ms),
    "@@MAX_CONNECTIONS": (INT, lambda r: 32767),
    "@@MAX_PRECISION": (SqlType("tinyint"), lambda r: 38),
    "@@NESTLEVEL": (INT, lambda r: r.nesting),
    "@@PROCID": (INT, lambda r: r.procedure_id),
    "@@FETCH_STATUS": (INT, lambda r: r.session.fetch_status),
    "@@CURSOR_ROWS": (INT, lambda r: r.session.cursor_rows),
    "@@TEXTSIZE": (INT, lambda r: r.session.options.textsize),
    "@@OPTIONS": (
        INT,
        lambda r: 5496 | (512 if r.session.options.nocount else 0) | (16384 if r.session.options.xact_abort else 0),
    ),
    "@@DBTS": (SqlType("varbinary", length=8), lambda r: (2000).to_bytes(8, "big")),
    "@@CONNECTIONS": (INT, lambda r: len(r.instance.sessions)),
    "@@CPU_BUSY": (INT, lambda r: 0),
    "@@IDLE": (INT, _ticks),
    "@@IO_BUSY": (INT, lambda r: 0),
    "@@TIMETICKS": (INT, lambda r: 31250),
    "@@TOTAL_READ": (INT, lambda r: 0),
    "@@TOTAL_WRITE": (INT, lambda r: 0),
    "@@TOTAL_ERRORS": (INT, lambda r: 0),
    "@@PACK_RECEIVED": (INT, lambda r: 0),
    "@@PACK_SENT": (INT, lambda r: 0),
    "@@PACKET_ERRORS": (INT, lambda r: 0),
    "@@REMSERVER": (_SYSNAME, lambda r: None),
}
GLOBAL_NAMES = tuple(_GLOBALS)


def global_variable(name: str, line: int) -> Expr:
    """An @@ function; error 137 for one that does not exist."""
    entry = _GLOBALS.get(name.upper())
    if entry is None:
        raise error(137, name, line=line)
    sql_type, read = entry
    return Expr(lambda frame: read(frame[0]), sql_type, constant=True)


_ = BIGINT
