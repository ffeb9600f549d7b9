"""Which statements change a server, by the project's own parser; what the parser does not know counts as changing.

This guards against slips. What a login may do at all is decided by its permissions on the server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from aglab.core.errors import unknown_name
from aglab.tsql import TsqlError, ast
from aglab.tsql import ast_statements as st
from aglab.tsql.parser.statements import parse_batch

# kind -> what it covers and whether aglab undoes it; the names of ``allow`` and ``--allow``
KINDS = {
    "database-options": "ALTER DATABASE ... SET an option that can be read before; written back at the end",
    "server-options": "sp_configure and RECONFIGURE; written back at the end",
    "trace-flags": "DBCC TRACEON and TRACEOFF; put back at the end",
    "server-configuration": "ALTER SERVER CONFIGURATION; not undone",
    "availability-group": "availability groups, their failover, suspending and resuming a database; not undone",
    "data": "tables, indexes and rows that are not temporary; not undone",
    "backup": "BACKUP; not undone",
    "maintenance": "CHECKPOINT, DBCC, UPDATE STATISTICS, ALTER INDEX; not undone",
    "load": "users of HammerDB who change the rows of its schema; not undone",
    "other": "everything else, and what the parser does not know; not undone",
}
_HARMLESS = (
    st.Block, st.If, st.While, st.Break, st.Continue, st.Return, st.Goto, st.Label, st.TryCatch, st.Throw, st.Print, st.WaitFor,
    st.Declare, st.DeclareTable, st.SetVariable, st.SetOption, st.SetIsolation, st.IdentityInsert, st.Use,
    st.TransactionStatement, st.DeclareCursor, st.CursorStatement,
)  # fmt: skip
_READING = {
    "sp_readerrorlog", "xp_readerrorlog", "sp_who", "sp_who2", "sp_lock", "sp_help", "sp_helpdb", "sp_helpfile", "sp_helpindex",
    "sp_helptext", "sp_helpserver", "sp_columns", "sp_tables", "sp_databases", "sp_server_info",
}  # fmt: skip
_DBCC_READING = {"TRACESTATUS", "OPENTRAN", "LOGINFO", "SHOW_STATISTICS", "USEROPTIONS", "INPUTBUFFER"}
_ADMIN = {
    "ALTER SERVER CONFIGURATION": "server-configuration",
    "ALTER AVAILABILITY GROUP": "availability-group",
    "CREATE AVAILABILITY GROUP": "availability-group",
    "DROP AVAILABILITY GROUP": "availability-group",
    "BACKUP DATABASE": "backup",
    "BACKUP LOG": "backup",
    "UPDATE STATISTICS": "maintenance",
}


@dataclasses.dataclass(frozen=True)
class Change:
    """One statement that changes a server; ``statement`` is None where the parser does not know it."""

    kind: str
    text: str
    statement: Any = None


def checked_kinds(kinds: tuple[str, ...]) -> frozenset[str]:
    """Kinds that are allowed, if all are known."""
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("kind of change (allow)", kind, list(KINDS))
    return frozenset(kinds)


def changes(batch: str) -> list[Change]:
    """The statements of a batch that change a server, in order; empty for one that only reads."""
    try:
        statements = parse_batch(batch)
    except (TsqlError, RecursionError):  # not in the grammar of aglab
        return [Change("other", _short(batch))]
    return [
        Change(kind, _short(batch[one.start : one.end] or batch), one)
        for one in _all(statements)
        for kind in [_kind(one)]
        if kind
    ]


def uses_database(batch: str) -> bool:
    """Whether a batch that parses changes its current database."""
    return any(isinstance(one, st.Use) for one in _all(parse_batch(batch)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."


def _all(node: Any) -> Iterator[st.Statement]:
    """Every statement below a node, those inside other statements too, but not the body of a module that is only made."""
    if isinstance(node, (list, tuple)):
        for item in node:
            yield from _all(item)
    elif isinstance(node, (ast.Node, st.Output)):
        if isinstance(node, st.Statement):
            yield node
            if isinstance(node, st.CreateModule):
                return
        for one in dataclasses.fields(node):
            if one.name != "plan":
                yield from _all(getattr(node, one.name))


def _temporary(parts: tuple[str, ...]) -> bool:
    """Temporary tables and table variables: they go with their session."""
    return bool(parts) and parts[-1][:1] in ("#", "@")


def _target(node: Any) -> bool:
    """Whether the target of a write lies outside temporary tables, its OUTPUT INTO included."""
    output = getattr(node, "output", None)
    into = output.into if output is not None else None
    return not _temporary(tuple(getattr(node.target, "parts", ()))) or (into is not None and not _temporary(into))


def _kind(one: st.Statement) -> str:
    """The kind of change a statement is; "" for one that changes nothing by itself."""
    if isinstance(one, _HARMLESS):
        return ""
    if isinstance(one, st.QueryStatement):
        into = [select.into for select in _selects(one.query) if select.into]
        return "data" if any(not _temporary(name) for name in into) else ""
    if isinstance(one, st.RaisError):
        return "other" if "LOG" in one.options else ""
    if isinstance(one, (st.Insert, st.Update, st.Delete, st.Merge)):
        return "data" if _target(one) else ""
    if isinstance(one, (st.CreateTable, st.AlterTable)):
        return "" if _temporary(one.name) else "data"
    if isinstance(one, (st.CreateIndex, st.AlterIndex, st.Truncate)):
        kind = "maintenance" if isinstance(one, st.AlterIndex) else "data"
        return "" if _temporary(one.table) else kind
    if isinstance(one, st.Drop) and one.kind in ("TABLE", "INDEX"):
        return "" if one.kind == "TABLE" and all(_temporary(name) for name in one.names) else "data"
    if isinstance(one, st.AlterDatabase) and one.action == "SET":
        return "availability-group" if any(name == "HADR" for name, _ in one.options) else "database-options"
    if isinstance(one, st.Reconfigure):
        return "server-options"
    if isinstance(one, st.Checkpoint):
        return "maintenance"
    if isinstance(one, st.Dbcc):
        return _of_dbcc(one)
    if isinstance(one, st.Execute):
        return _of_execute(one)
    return _ADMIN.get(one.name, "other") if isinstance(one, st.AdminStatement) else "other"


def _selects(node: Any) -> Iterator[ast.Select]:
    if isinstance(node, ast.Select):
        yield node
    elif isinstance(node, ast.SetOperation):
        for one in dataclasses.fields(node):
            yield from _selects(getattr(node, one.name))


def _of_dbcc(one: st.Dbcc) -> str:
    command = one.command.upper()
    if command in ("TRACEON", "TRACEOFF"):
        return "trace-flags"
    reads = command in _DBCC_READING or (command == "SQLPERF" and [str(arg).upper() for arg in one.args] == ["LOGSPACE"])
    return "" if reads else "maintenance"


def _of_execute(one: st.Execute) -> str:
    name = one.name[-1].lower() if one.name else ""
    own = not one.variable and one.text is None and (len(one.name) == 1 or tuple(p.lower() for p in one.name[:-1]) in _SYSTEM)
    if own and name == "sp_configure":
        return "server-options" if len(one.args) > 1 else ""
    if own and name == "sp_executesql" and one.args and one.args[0][0].lower() in ("", "@stmt") and _literal(one.args[0][1]):
        inner = changes(str(one.args[0][1].value))  # type: ignore[union-attr]
        return "other" if inner else ""  # dynamic changes are not read before, so they are never undone
    return "" if own and name in _READING else "other"


def _literal(node: Any) -> bool:
    return isinstance(node, ast.Literal)


_SYSTEM = {("sys",), ("master", "dbo"), ("master", "sys"), ("master", "")}
