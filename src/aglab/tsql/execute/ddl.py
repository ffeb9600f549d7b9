"""CREATE TABLE and indexes, and what every definition shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import BIGINT
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.alter_table import AlterTableMixin
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.definitions import DDL_LOG_BYTES, build_table, check_index
from aglab.tsql.execute.memory import after_memory_table, before_memory_table, check_disk_table, memory_options, refuse
from aglab.tsql.execute.modules import ModuleMixin
from aglab.tsql.execute.partitions import PartitionMixin
from aglab.tsql.execute.placement import check_partitioned, settle_index, settle_table
from aglab.tsql.execute.targets import Target
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.option_lists import OPTION_LISTS
from aglab.tsql.permissions import need_database
from aglab.tsql.store.database import Database, TableDefinition
from aglab.tsql.store.table import Index, Table
from aglab.tsql.transactions import Entry

KEPT_INDEX_OPTIONS = frozenset(OPTION_LISTS["CREATE TABLE constraint"]) - {
    "SORT_IN_TEMPDB",
    "ONLINE",
    "MAXDOP",
    "RESUMABLE",
    "MAX_DURATION",
    "BUCKET_COUNT",
}
RESUMABLE = ("PAUSE", "RESUME", "ABORT")


class DdlMixin(AlterTableMixin, PartitionMixin, ModuleMixin):
    """Definitions."""

    def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None:
        transaction = self.session.transaction
        assert transaction is not None
        transaction.add(Entry(database.name, None, 0, None, None, change, undo, DDL_LOG_BYTES))

    def _check_ddl(self, database: Database, what: str = "ALTER") -> None:
        self.runtime.host.check_access(database.name, self.session, True)
        need_database(self.runtime.instance, self.session, database, what)
        if database.options["is_read_only"]:
            raise error(3906, database.name)

    def place(self, name: tuple[str, ...], line: int) -> tuple[Database, str, str]:
        """Database, schema and bare name of an object to create. Error 2760."""
        database = self.runtime.database
        if len(name) > 2 and name[-3]:
            found = self.runtime.instance.database(name[-3])
            if found is None:
                raise error(911, name[-3], line=line)
            database = found
        schema = name[-2] if len(name) > 1 and name[-2] else "dbo"
        known = database.schema_name(schema)
        if known is None or known.lower() in ("sys", "information_schema"):
            raise error(2760, schema, line=line)
        return database, known, name[-1]

    # --- tables -------------------------------------------------------------------------------------------------------------

    def _createtable(self, s: st.CreateTable) -> Effects[Any]:
        self.session.command = "CREATE TABLE"
        yield from self.in_transaction(lambda: self.create_table(s))
        yield Done(None, "", self.in_procedure)
        return None

    def create_table(self, s: st.CreateTable) -> Effects[Target]:
        """Create a permanent or temporary table."""
        name = s.name[-1]
        if name.startswith("##"):
            raise not_implemented("global temporary tables (##)", s.line)
        if name.startswith("#"):
            temp = self.session.temp_tables
            if name.lower() in temp:
                raise error(2714, name, line=s.line)
            tempdb = self.runtime.instance.database("tempdb")
            assert tempdb is not None
            table = build_table(self.runtime, s.columns, s.constraints, "dbo", name, -tempdb.next_object_id())
            temp[name.lower()] = table
            self.session.temp_version += 1
            owner = getattr(self, "temp_owner", None)
            if owner is not None:
                owner.append(name.lower())
            transaction = self.session.transaction
            if transaction is not None:
                transaction.add(Entry("tempdb", None, 0, None, None, None, lambda: self._forget(name.lower()), 0))
            return Target(table, None)
        database, schema, bare = self.place(s.name, s.line)
        self._check_ddl(database, "CREATE TABLE")
        if database.find(schema, bare) is not None:
            raise error(2714, bare, line=s.line)
        options = memory_options(s)
        if options:
            before_memory_table(s, self.session, database)
        table = build_table(self.runtime, s.columns, s.constraints, schema, bare, database.next_object_id())
        table.database_id = database.id  # type: ignore[attr-defined]
        table.created = table.modified = self.runtime.now()
        table.options.update(options)
        if "DATA_COMPRESSION" in s.options:
            (table.clustered.options if table.clustered is not None else table.options)["DATA_COMPRESSION"] = s.options[
                "DATA_COMPRESSION"
            ]
        if options:
            after_memory_table(s, table, database)
        else:
            check_disk_table(s, table, database)
        settle_table(database, table, s.options.get("ON"), s.line)
        database.put(table)
        yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        self._log_schema(
            database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), lambda: database.drop(table)
        )
        return Target(table, database)

    def _forget(self, name: str) -> None:
        self.session.temp_tables.pop(name, None)
        self.session.temp_version += 1

    def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]:
        if name[-1].startswith("#"):
            table = self.session.temp_tables.get(name[-1].lower())
            if table is None:
                raise error(number, name[-1], line=line)
            return table, None
        database, schema, bare = self.place(name, line)
        item = database.find(schema, bare)
        if not isinstance(item, Table):
            raise error(number, ".".join(name), line=line)
        self._check_ddl(database)
        return item, database

    def _bump(self, database: Database | None) -> None:
        if database is not None:
            database.version += 1
        else:
            self.session.temp_version += 1

    # --- indexes ------------------------------------------------------------------------------------------------------------

    def _createindex(self, s: st.CreateIndex) -> Effects[Any]:
        yield from self.in_transaction(lambda: self._create_index(s))
        yield Done(None, "", self.in_procedure)
        return None

    def _create_index(self, s: st.CreateIndex) -> Effects[None]:
        table, database = self._table_to_alter(s.table, s.line, 1088)
        if s.where is not None:
            raise not_implemented("filtered indexes (CREATE INDEX ... WHERE)", s.line)
        refuse(table, "operation", "CREATE INDEX", s.line)
        replaced = next((index for index in table.indexes if index.name.lower() == s.name.lower()), None)
        options = dict(s.options)
        if options.pop("DROP_EXISTING", "OFF") != "ON":
            if replaced is not None:
                raise error(1913, s.name, ".".join(s.table), line=s.line)
        elif replaced is None:
            raise error(7999, s.name, table.name, line=s.line)
        if s.clustered and table.clustered not in (None, replaced):
            assert table.clustered is not None
            raise error(1902, table.name, table.clustered.name, line=s.line)
        if database is not None:
            yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        ordinals = []
        for name in [column for column, _ in s.columns] + s.included:
            ordinal = table.ordinal(name)
            if ordinal is None:
                raise error(1911, name, line=s.line)
            ordinals.append(ordinal)
        keys = len(s.columns)
        index = Index(
            s.name,
            tuple(ordinals[:keys]),
            tuple(d for _, d in s.columns),
            s.unique,
            s.clustered,
            included=tuple(ordinals[keys:]),
            options=options,
        )
        if replaced is not None:
            self._replace(replaced, index, s.line)
        before, placement = list(table.indexes), table.placement

        def undo() -> None:
            table.indexes, table.placement, table.counts = before, placement, {}
            self._bump(database)

        table.indexes = [one for one in before if one is not replaced]
        try:
            table.add_index(index)
            if database is not None:
                settle_index(database, table, index, s.line)
            check_index(table, index, s.line)
        except BaseException:
            undo()
            raise

        self._bump(database)
        if database is not None:
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)

    @staticmethod
    def _replace(old: Index, new: Index, line: int) -> None:
        """DROP_EXISTING keeps what the old index stands for: its id, and the constraint, whose key must stay. Error 1907."""
        if old.constraint and (old.columns, old.unique) != (new.columns, new.unique):
            raise error(1907, old.name, line=line)
        new.primary_key, new.constraint = old.primary_key, old.constraint
        if not new.clustered and not old.clustered and "ON" not in new.options:
            new.placement = old.placement

    def _alterindex(self, s: st.AlterIndex) -> Effects[Any]:
        table, database = self._table_to_alter(s.table, s.line, 1088)
        refuse(table, "operation", "ALTER INDEX", s.line)
        found = [i for i in table.indexes if s.name == "ALL" or i.name.lower() == s.name.lower()]
        if not found and s.name != "ALL":
            raise error(2727, s.name, line=s.line)
        from aglab.tsql.host import Command

        number: int | None = None
        if isinstance(s.options.get("PARTITION"), ast.Node) and database is not None:
            number = yield from self.evaluate(s, s.options["PARTITION"], BIGINT, "partition")
            for index in found:
                check_partitioned(database, table, index, number or 0, s.line, "alter index")
        if database is None and s.action in RESUMABLE:
            raise not_implemented(f"ALTER INDEX ... {s.action} of a temporary table", s.line)
        if database is not None and s.action in ("REBUILD", "REORGANIZE", *RESUMABLE):
            command = Command(
                "ALTER INDEX",
                database.name,
                {
                    "ACTION": s.action,
                    "TABLE": table.full_name,
                    "INDEX": s.name,
                    "PAGES": table.size_pages(),
                    **s.options,
                    "PARTITION": number,
                    "TEXT": self.runtime.text[s.start - self.runtime.text_start : s.end - self.runtime.text_start],
                },
            )
            effects = self.runtime.host.administer(command, self.session)
            if effects is not None:
                yield from effects
            elif s.action in RESUMABLE:
                raise not_implemented(f"ALTER INDEX ... {s.action}", s.line)
        yield from self.in_transaction(lambda: self._note_index(s, table, database, found))
        yield Done(None, "", self.in_procedure)
        return None

    def _note_index(self, s: st.AlterIndex, table: Table, database: Database | None, found: list[Index]) -> Effects[None]:
        """Keep what the catalogue shows of the options; part of the transaction, as the index itself."""
        before = [(index, dict(index.options)) for index in found]
        kept = {name: value for name, value in s.options.items() if name in KEPT_INDEX_OPTIONS}
        for index in found:
            if s.action == "DISABLE":
                index.options = {**index.options, "DISABLED": True}
            elif s.action in ("REBUILD", "SET"):
                index.options = {**index.options, **kept}
            if s.action == "REBUILD":
                index.options = {k: v for k, v in index.options.items() if k != "DISABLED"}
        if s.action == "REBUILD" and s.name == "ALL" and "DATA_COMPRESSION" in kept and table.clustered is None:
            table.options["DATA_COMPRESSION"] = kept["DATA_COMPRESSION"]

        def undo() -> None:
            for index, options in before:
                index.options = options
            self._bump(database)

        self._bump(database)
        if database is not None and s.action in ("REBUILD", "SET", "DISABLE"):
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)
        return
        yield

    # --- modules and schemas ------------------------------------------------------------------------------------------------

    # --- DROP ---------------------------------------------------------------------------------------------------------------
