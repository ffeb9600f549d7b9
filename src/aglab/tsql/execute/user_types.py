"""CREATE TYPE and DROP TYPE.

Sources: "CREATE TYPE", "DROP TYPE (Transact-SQL)"; 218, 219 and 3732 as in "Database engine events and errors".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.execute.definitions import build_table
from aglab.tsql.host import SchemaChange
from aglab.tsql.messages import error
from aglab.tsql.store.database import Database
from aglab.tsql.store.user_types import UserType


class TypeMixin(BaseExecutor):
    """User-defined types."""

    if TYPE_CHECKING:

        def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None: ...
        def _check_ddl(self, database: Database, what: str = "ALTER") -> None: ...
        def place(self, name: tuple[str, ...], line: int) -> tuple[Database, str, str]: ...

    def _createtype(self, s: st.CreateType) -> Effects[Any]:
        self.session.command = "CREATE TYPE"
        yield from self.in_transaction(lambda: self._create_type(s))
        yield Done(None, "", self.in_procedure)
        return None

    def _create_type(self, s: st.CreateType) -> Effects[None]:
        if len(s.name) > 2:
            raise error(117, "type name", ".".join(s.name), 1, line=s.line)
        database, schema, bare = self.place(s.name, s.line)
        self._check_ddl(database, "CREATE TYPE")
        if (schema.lower(), bare.lower()) in database.types:
            raise error(219, ".".join(s.name), line=s.line)
        made = UserType(database.next_type_id(), schema, bare, s.base, s.nullable, s.columns, s.constraints)
        made.created = self.runtime.now()
        made.is_memory_optimized = s.options.get("MEMORY_OPTIMIZED") == "ON"
        if s.base is None:
            number = database.next_object_id()
            name = f"TT_{bare[:100]}_{number:08X}"
            made.table = build_table(self.runtime, s.columns, s.constraints, "sys", name, number)
        database.set_type(made, True)
        self._log_schema(database, SchemaChange("put", "type", made.full_name, made), lambda: database.set_type(made, False))
        return
        yield

    def drop_type(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        """Errors 218 and 3732."""
        database = self.runtime.database
        schema, bare = (name[-2] if len(name) > 1 else "dbo"), name[-1]
        found = database.types.get((schema.lower(), bare.lower()))
        if found is None:
            if s.if_exists:
                return
            raise error(218, ".".join(name), line=s.line)
        self._check_ddl(database)
        user = _user_of(database, found.full_name.lower())
        if user:
            raise error(3732, ".".join(name), user, line=s.line)
        database.set_type(found, False)
        self._log_schema(database, SchemaChange("drop", "type", found.full_name, found), lambda: database.set_type(found, True))
        return
        yield


def _user_of(database: Database, name: str) -> str:
    """An object that has a column or a parameter of the type, or ""."""
    for table in database.tables():
        if any(column.user_type.lower() == name for column in table.columns):
            return table.name
    for module in database.modules():
        if any(one.user_type.lower() == name for one in getattr(module.definition, "parameters", ())):
            return module.name
    for other in database.types.values():
        if any(spec.user_type.lower() == name for spec in other.columns):
            return other.name
    return ""
