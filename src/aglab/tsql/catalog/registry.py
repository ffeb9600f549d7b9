"""The registry of system views and functions: definitions in compact text, rows from the node or from providers here.

A definition line is ``schema.name(parameters): column type, column type! ...``; ``!`` means NOT NULL. Columns stand in the order of
Microsoft's documentation (SQL Server 2022).
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import SYSNAME, Column, SqlType
from aglab.tsql.host import NOTHING_WANTED, Wanted
from aglab.tsql.messages import KNOWLEDGE_PAGE, error
from aglab.tsql.parser.base import make_type
from aglab.tsql.permissions import need_view
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Row
from aglab.tsql.visibility import shown

Provider = Callable[[Any, Database, tuple[Any, ...]], Iterable[Any]]
MODULES = (
    "server",
    "execution",
    "cursors",
    "described",
    "statements",
    "storage",
    "partitions",
    "hadr",
    "objects",
    "indexes",
    "keys",
    "module_views",
    "security",
    "governor",
    "memory",
    "traces",
    "schema_views",
    "compatibility",
    "msdb",
    "agent",
    "tools",
    "tools_more",
    "tools_scripting",
    "usage",
    "absent",
    "compatibility_more",
    "user_types",
    "tasks",
    "server_views",
)


@dataclass(frozen=True)
class View:
    """A system view, or a system function when ``parameters`` is not None. ``source``: "instance" or "node"."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    parameters: tuple[SqlType, ...] | None
    required: int
    source: str
    object_id: int

    @property
    def full_name(self) -> str:
        """schema.name"""
        return f"{self.schema}.{self.name}"


VIEWS: dict[tuple[str, str], View] = {}
PROVIDERS: dict[str, Provider] = {}
COMPATIBILITY: set[str] = set()  # views that can be named without a schema, as in SQL Server 2000


def sql_type(text: str) -> SqlType:
    """A type as written in a definition.

    >>> str(sql_type("nvarchar(60)"))
    'nvarchar(60)'
    """
    text = text.strip().lower()
    if text == "sysname":
        return SYSNAME
    name, _, rest = text.partition("(")
    numbers = [-1 if part.strip() == "max" else int(part) for part in rest.rstrip(")").split(",")] if rest else []
    return make_type(name.strip(), numbers)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def define(text: str, source: str = "node", required: int | None = None, compatibility: bool = False) -> View:
    """Register a view from its definition."""
    head, _, body = text.strip().partition(":")
    name, _, arguments = head.strip().partition("(")
    schema, _, bare = name.strip().partition(".")
    columns = []
    for part in _split(body):
        column, kind = part.split(None, 1)  # a definition may wrap between the two
        columns.append(Column(column, sql_type(kind.rstrip("!")), not kind.endswith("!")))
    parameters = tuple(sql_type(part) for part in _split(arguments.rstrip(") "))) if "(" in head else None
    view = View(
        schema,
        bare,
        tuple(columns),
        tuple(column.name.lower() for column in columns),
        parameters,
        len(parameters or ()) if required is None else required,
        source,
        -(zlib.crc32(name.lower().encode()) % 2**30) - 1,
    )
    VIEWS[(schema.lower(), bare.lower())] = view
    if compatibility:
        COMPATIBILITY.add(bare.lower())
    return view


def provide(text: str, required: int | None = None, compatibility: bool = False) -> Callable[[Provider], Provider]:
    """Register a view and the function that yields its rows (mappings by lower-case column name, or tuples)."""

    def register(provider: Provider) -> Provider:
        view = define(text, "instance", required, compatibility)
        PROVIDERS[view.full_name.lower()] = provider
        return provider

    return register


_loaded = False


def load() -> None:
    """Import every area once."""
    global _loaded
    if not _loaded:
        _loaded = True
        for module in MODULES:
            importlib.import_module(f"aglab.tsql.catalog.{module}")


def find_view(schema: str, name: str) -> View | None:
    """The view by name in any case; without a schema (or with dbo) only the compatibility views."""
    load()
    lowered = schema.lower()
    if lowered in ("", "dbo"):
        return VIEWS.get(("sys", name.lower())) if name.lower() in COMPATIBILITY else None
    return VIEWS.get((lowered, name.lower()))


def view_rows(
    runtime: Any, view: View, arguments: tuple[Any, ...], database: Database, wanted: Wanted = NOTHING_WANTED
) -> list[Row]:
    """The rows now, as tuples in column order; the node may leave out those that differ from ``wanted``."""
    name = view.full_name.lower()
    own = not runtime.session.is_sysadmin and need_view(runtime.instance, runtime.session, database, name)
    rows: Iterable[Any] | None = runtime.host.view_rows(name, arguments, runtime.session, wanted)
    if rows is None:
        provider = PROVIDERS.get(name)
        if provider is None:
            raise error(59002, view.full_name, KNOWLEDGE_PAGE)
        rows = provider(runtime, database, arguments)
    names = view.names
    result: list[Row] = []
    for row in rows:
        if isinstance(row, tuple):
            result.append(row)
        elif isinstance(row, dict):
            get = row.get
            result.append(tuple([get(column) for column in names]))
        else:
            result.append(tuple(row))
    if own:
        place = names.index("session_id")
        result = [row for row in result if row[place] == runtime.session.spid]
    return result if runtime.session.is_sysadmin else shown(runtime, view, database, result)
