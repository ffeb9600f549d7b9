"""Schemas and modules, and DROP of every object."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.memory import check_native, refuse
from aglab.tsql.execute.user_types import TypeMixin
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.query.planner import Planner
from aglab.tsql.store.database import Database, Module, TableDefinition
from aglab.tsql.store.table import Table
from aglab.tsql.transactions import Entry


class ModuleMixin(TypeMixin):
    """Schemas and modules, and DROP of every object."""

    if TYPE_CHECKING:

        def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None: ...
        def _check_ddl(self, database: Database, what: str = "ALTER") -> None: ...
        def _bump(self, database: Database | None) -> None: ...
        def place(self, name: tuple[str, ...], line: int) -> tuple[Database, str, str]: ...
        def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]: ...
        def _forget(self, name: str) -> None: ...

    def _createschema(self, s: st.CreateSchema) -> Effects[Any]:
        database = self.runtime.database
        if database.schema_name(s.name) is not None:
            raise error(2714, s.name, line=s.line)

        def work() -> Effects[None]:
            self._check_ddl(database, "CREATE SCHEMA")
            number = max([*database.schemas.values(), 4]) + 1
            database.schemas[s.name] = number
            database.version += 1

            def undo() -> None:
                database.schemas.pop(s.name, None)

            self._log_schema(database, SchemaChange("put", "schema", s.name, number), undo)
            return None
            yield

        yield from self.in_transaction(work)
        yield Done(None, "", self.in_procedure)
        return None

    def _createmodule(self, s: st.CreateModule) -> Effects[Any]:
        if len(s.name) > 2:
            raise error(166, f"CREATE/ALTER {s.kind}", line=s.line)
        database, schema, bare = self.place(s.name, s.line)
        existing = database.find(schema, bare)
        if existing is not None and (s.action == "CREATE" or not isinstance(existing, Module) or existing.kind != s.kind.lower()):
            raise error(2714, bare, line=s.line, state=3)
        if existing is None and s.action == "ALTER":
            raise error(208, ".".join(s.name), line=s.line, state=6)
        if isinstance(existing, Module):
            self._check_unused(database, existing, "alter", s.line)
        number = existing.object_id if isinstance(existing, Module) else database.next_object_id()
        module = Module(number, schema, bare, s.kind.lower(), s.text, s, database.name, self.runtime.now())

        def work() -> Effects[None]:
            self._check_ddl(database, f"CREATE {s.kind}" if existing is None else "ALTER")
            if s.kind == "VIEW":
                self._check_view(database, s)
            check_native(s, database)
            database.put(module)

            def undo() -> None:
                if existing is not None:
                    database.put(existing)
                else:
                    database.drop(module)

            self._log_schema(database, SchemaChange("put", s.kind.lower(), module.full_name, module), undo)
            return None
            yield

        yield from self.in_transaction(work)
        yield Done(None, "", self.in_procedure)
        return None

    def _check_unused(self, database: Database, module: Module, verb: str, line: int) -> None:
        """Error 10920 for the function that classifies sessions."""
        if database.name == "master" and module.object_id in self.runtime.instance.protected_modules:
            raise error(10920, verb, module.name, line=line)

    def _check_view(self, database: Database, s: st.CreateModule) -> None:
        from aglab.tsql.query.planner import named_columns

        context = self.context()
        context.database = database
        assert s.returns_query is not None
        plan = Planner(context).query(s.returns_query, None)
        for position, column in enumerate(plan.columns, 1):
            if not column.name and not s.columns:
                raise error(4511, position, line=s.line)
        named_columns(plan.columns, s.columns, s.name[-1], s.line)

    def _drop(self, s: st.Drop) -> Effects[Any]:
        for name in s.names:
            if s.kind in ("TABLE", "VIEW", "PROCEDURE", "FUNCTION"):
                yield from self.in_transaction(partial(self._drop_object, s, name))
            elif s.kind == "INDEX":
                yield from self.in_transaction(partial(self._drop_index, s, name))
            elif s.kind == "STATISTICS":
                yield from self.in_transaction(partial(self.drop_statistics, s, name))  # type: ignore[attr-defined]
            elif s.kind == "SCHEMA":
                yield from self.in_transaction(partial(self._drop_schema, s, name))
            elif s.kind == "TYPE":
                yield from self.in_transaction(partial(self.drop_type, s, name))
            elif s.kind == "DATABASE":
                yield from self.drop_database(s, name[-1])  # type: ignore[attr-defined]
            else:
                raise not_implemented(f"DROP {s.kind}", s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def _drop_object(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        kind = s.kind.lower()
        bare = name[-1]
        if bare.startswith("#") and kind == "table":
            table = self.session.temp_tables.get(bare.lower())
            if table is None:
                if s.if_exists:
                    return
                raise error(3701, "drop", "table", bare, line=s.line)
            temp = self.session.temp_tables
            self._forget(bare.lower())
            if self.session.transaction is not None:
                self.session.transaction.add(
                    Entry("tempdb", None, 0, None, None, None, lambda: temp.__setitem__(bare.lower(), table))
                )
            return
        database = self.runtime.database
        if len(name) > 2 and name[-3]:
            database = self.runtime.instance.database(name[-3]) or database
        item = database.find(name[-2] if len(name) > 1 else "", bare)
        actual = "table" if isinstance(item, Table) else item.kind if item is not None else ""
        if item is None:
            if s.if_exists:
                return
            raise error(3701, "drop", kind, ".".join(name), line=s.line)
        if actual != kind:
            raise error(3705, s.kind, ".".join(name), actual, actual.upper(), line=s.line)
        self._check_ddl(database)
        if isinstance(item, Module):
            self._check_unused(database, item, "drop", s.line)
        if isinstance(item, Table):
            for other in database.tables():
                if other is not item and any(key.referenced.lower() == item.full_name.lower() for key in other.foreign_keys):
                    raise error(3726, ".".join(name), line=s.line)
            yield from self.acquire(Resource("OBJECT", database.id, item.id), "Sch-M")
        database.drop(item)
        self._log_schema(database, SchemaChange("drop", actual, item.full_name), lambda: database.put(item))

    def _drop_index(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        target = s.on or name[:-1]
        if not target:
            raise error(159, line=s.line)
        try:
            table, database = self._table_to_alter(target, s.line, 3701)
        except IndexError:
            raise error(3701, "drop", "index", ".".join((*target, name[-1])), line=s.line) from None
        refuse(table, "operation", "DROP INDEX", s.line)
        index = next((i for i in table.indexes if i.name.lower() == name[-1].lower()), None)
        if index is None:
            if s.if_exists:
                return
            raise error(3701, "drop", "index", ".".join((*target, name[-1])), line=s.line)
        if index.constraint:
            raise error(
                3723, f"{'.'.join(target)}.{index.name}", "PRIMARY KEY" if index.primary_key else "UNIQUE KEY", line=s.line
            )
        table.indexes.remove(index)
        self._bump(database)

        def undo() -> None:
            table.add_index(index)
            self._bump(database)

        if database is not None:
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)
        return
        yield

    def _drop_schema(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        database = self.runtime.database
        known = database.schema_name(name[-1])
        if known is None:
            if s.if_exists:
                return
            raise error(15151, "drop", "schema", name[-1], line=s.line)
        for item in database.objects.values():
            if item.schema.lower() == known.lower():
                raise error(3729, known, item.name, line=s.line)
        number = database.schemas.pop(known)
        database.version += 1
        self._log_schema(database, SchemaChange("drop", "schema", known), lambda: database.schemas.__setitem__(known, number))
        return
        yield
