"""Metadata visibility: of catalogue views a login sees only what it owns or has some permission on.

A sysadmin, a user dbo and whoever holds VIEW DEFINITION (or CONTROL) on the database see everything; others see the objects that
they hold any permission on (through roles and schemas too), and a module's text only with VIEW DEFINITION. Of logins, one sees
oneself, sa and the fixed roles; of users, oneself, one's roles and the fixed principals. Source: "Metadata visibility
configuration" (SQL Server documentation). Left out: the server's other catalogue views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.tsql.column_permissions import ON_COLUMNS, columns_said
from aglab.tsql.permissions import ON_OBJECTS, database_allows, database_roles, server_allows, user_of
from aglab.tsql.store.table import Table

if TYPE_CHECKING:
    from aglab.tsql.catalog.registry import View
    from aglab.tsql.store.database import Database
    from aglab.tsql.store.table import Row

_BY_NAME = {"table_name": "table_schema", "specific_name": "specific_schema"}
_FIXED_PRINCIPALS = frozenset({"dbo", "guest", "sys", "information_schema", "public"})


def shown(runtime: Any, view: View, database: Database, rows: list[Row]) -> list[Row]:
    """The rows of a catalogue view that the session may see."""
    instance, login, name = runtime.instance, runtime.session.login, view.full_name.lower()
    if name in ("sys.server_principals", "sys.sql_logins", "sys.syslogins"):
        if server_allows(instance, login, "ALTER ANY LOGIN") or server_allows(instance, login, "VIEW ANY DEFINITION"):
            return rows
        place = view.names.index("name")
        hidden = set(instance.logins) - {"sa", login.lower()}
        return [row for row in rows if str(row[place]).lower() not in hidden]
    if name == "sys.databases" or name.startswith("sys.dm_") or not _everything_hidden(runtime, database):
        return rows
    if name == "sys.database_principals":
        user = user_of(instance, database, login) or ""
        mine = {user.lower(), *(role.lower() for role in database_roles(database, user)), *_FIXED_PRINCIPALS}
        place = view.names.index("name")
        return [row for row in rows if str(row[place]).lower() in mine or str(row[place]).lower().startswith("db_")]
    if "object_id" in view.names and not name.startswith("sys.all_") and view.source == "instance":
        return _of_objects(runtime, view, database, rows)
    for column, schema in _BY_NAME.items():
        if name.startswith("information_schema.") and column in view.names and schema in view.names:
            at, where = view.names.index(column), view.names.index(schema)
            return [row for row in rows if _visible(runtime, database, str(row[where]), str(row[at]))]
    return rows


def _everything_hidden(runtime: Any, database: Database) -> bool:
    instance, login = runtime.instance, runtime.session.login
    if server_allows(instance, login, "VIEW ANY DEFINITION"):
        return False
    return not database_allows(instance, database, login, "VIEW DEFINITION")


def _visible(runtime: Any, database: Database, schema: str, name: str) -> bool:
    instance, login = runtime.instance, runtime.session.login
    if any(database_allows(instance, database, login, one, schema, name) for one in ON_OBJECTS):
        return True
    user = user_of(instance, database, login) or ""
    said = (columns_said(database, (user, *database_roles(database, user), "public"), one, schema, name) for one in ON_COLUMNS)
    return any(states & {"G", "W"} for found in said for states in found.values())


def _of_objects(runtime: Any, view: View, database: Database, rows: list[Row]) -> list[Row]:
    place = view.names.index("object_id")
    parent = view.names.index("parent_object_id") if "parent_object_id" in view.names else None
    text = view.names.index("definition") if view.full_name.lower() == "sys.sql_modules" else None
    known: dict[int, bool] = {}

    def may(number: int) -> bool:
        if number not in known:
            item = database.by_id(number)
            known[number] = item is not None and _visible(runtime, database, item.schema, item.name)
        return known[number]

    found: list[Row] = []
    for row in rows:
        number = row[parent] if parent is not None and row[parent] else row[place]
        if database.by_id(number) is not None and not may(number):
            continue
        if text is not None:
            item = database.by_id(number)
            if item is not None and not isinstance(item, Table):
                allowed = database_allows(
                    runtime.instance, database, runtime.session.login, "VIEW DEFINITION", item.schema, item.name
                )
                row = row if allowed else (*row[:text], None, *row[text + 1 :])
        found.append(row)
    return found
