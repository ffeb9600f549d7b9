"""SELECT, UPDATE and REFERENCES on columns of a table or view.

A DENY on the schema, the database or through a role's rule closes every column. A DENY on the object gives way to a GRANT on
a column ("DENY Object Permissions", Transact-SQL: kept for backward compatibility). A DENY on a column closes it whatever is
granted on the object. Where every column is closed the refusal is 229, as for an object, else 230 for the first column that is
read or changed. Sources: "GRANT Object Permissions", "DENY Object Permissions"; the words of 230 and 1020
were not looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aglab.tsql.ast import ColumnRef
from aglab.tsql.instance import Instance
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.permissions import database_roles, need_entry, need_object, user_of, verdict
from aglab.tsql.session import Session
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Table

ON_COLUMNS = ("REFERENCES", "SELECT", "UPDATE")


def place_of(schema: str, name: str, column: str) -> str:
    """A column as the key of a grant holds it."""
    return f"{schema}.{name}".lower() + "\t" + column.lower()


def columns_of(item: Any) -> list[str] | None:
    """The names of a table's columns, or a view's; None where the view's text does not name them (a star, no alias)."""
    if isinstance(item, Table):
        return [column.name for column in item.columns]
    definition: Any = getattr(item, "definition", None)
    if definition is not None and definition.columns:
        return list(definition.columns)
    items = getattr(getattr(definition, "returns_query", None), "items", None)
    if items is None:
        return None
    names = [one.alias or (one.expression.parts[-1] if isinstance(one.expression, ColumnRef) else "") for one in items]
    return names if all(names) else None


def columns_said(database: Database, holders: Iterable[str], permission: str, schema: str, name: str) -> dict[str, set[str]]:
    """What is said of columns of an object: column in lower case -> states (G, W, D)."""
    prefix = place_of(schema, name, "")
    found: dict[str, set[str]] = {}
    for one in holders:
        for (kind, place, what), state in (database.principals.get(one.lower()) or {}).get("permissions", {}).items():
            if kind == "COLUMN" and what == permission and place.startswith(prefix):
                found.setdefault(place[len(prefix) :], set()).add(state)
    return found


def closed_columns(
    instance: Instance, database: Database, login: str, permission: str, schema: str, name: str, columns: Iterable[str]
) -> set[str] | None:
    """The columns that a login may not read or change; None where no grant speaks of columns."""
    user = user_of(instance, database, login)
    if user is None or user == "dbo" or "db_owner" in (roles := database_roles(database, user)):
        return None
    said = columns_said(database, (user, *roles, "public"), permission, schema, name)
    if not said:
        return None
    whole = verdict(instance, database, login, permission, schema, name)

    def is_open(column: str) -> bool:
        states = said.get(column.lower(), set())
        return whole != "D" and "D" not in states and (whole == "G" or bool(states))

    return {one for one in columns if not is_open(one)}


def refused_columns(
    instance: Instance, session: Session, database: Database, permission: str, schema: str, name: str, columns: list[str]
) -> dict[int, TsqlError]:
    """Error 230 by ordinal of the columns that the session may not use. Raises 916, and 229 where it may use none."""
    if session.is_sysadmin:
        return {}
    closed = closed_columns(instance, database, session.login, permission, schema, name, columns)
    if closed is None:
        need_object(instance, session, database, permission, schema, name)
        return {}
    need_entry(instance, session, database)
    if len(closed) == len(set(columns)):
        raise error(229, permission, name, database.name, schema)
    return {
        ordinal: error(230, permission, column, name, database.name, schema)
        for ordinal, column in enumerate(columns)
        if column in closed
    }


def column_allows(
    instance: Instance, database: Database, login: str, permission: str, schema: str, name: str, column: str
) -> bool:
    """Whether a login holds a permission on one column."""
    closed = closed_columns(instance, database, login, permission, schema, name, [column])
    if closed is None:
        return verdict(instance, database, login, permission, schema, name) == "G"
    return not closed
