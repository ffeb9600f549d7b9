"""CREATE, ALTER and DROP PARTITION FUNCTION and PARTITION SCHEME, TRUNCATE TABLE ... WITH (PARTITIONS).

Source: the pages of these statements in the SQL Server documentation; error texts from "Database Engine events and errors
(7000 to 7999)". SPLIT makes the range that holds the boundary the new one; MERGE drops the range that held it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import BIGINT, MAX
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.execute.placement import UNCUTTABLE, check_partitioned, find_filegroup
from aglab.tsql.host import SchemaChange
from aglab.tsql.messages import error, info
from aglab.tsql.store.database import Database, TableDefinition
from aglab.tsql.store.partitions import (
    MAX_PARTITIONS,
    PartitionFunction,
    PartitionScheme,
    aligned,
    function_of,
    placement_of,
    users_of,
)
from aglab.tsql.store.table import Table, comparable


class PartitionMixin(BaseExecutor):
    """Partition functions and schemes."""

    if TYPE_CHECKING:

        def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None: ...
        def _check_ddl(self, database: Database, what: str = "ALTER") -> None: ...

    def _partitioning(self, s: st.Partitioning) -> Effects[Any]:
        self.session.command = f"{'ALTER' if s.action in ('SPLIT', 'MERGE', 'NEXT USED') else s.action} PARTITION {s.kind}"
        database = self.runtime.database
        self._check_ddl(database)
        work = getattr(self, f"_{s.action.lower().replace(' ', '_')}_{s.kind.lower()}")
        yield from self.in_transaction(lambda: work(s, database))
        yield Done(None, "", self.in_procedure)
        return None

    def _keep(self, database: Database, kind: str, name: str, item: PartitionFunction | PartitionScheme | None) -> None:
        book: dict[str, Any] = database.partition_functions if kind == "partition function" else database.partition_schemes
        before = book.get(name.lower())
        database.set_partitioning(kind, name, item)
        change = SchemaChange("put" if item is not None else "drop", kind, name, item)
        self._log_schema(database, change, lambda: database.set_partitioning(kind, name, before))

    # --- functions ----------------------------------------------------------------------------------------------------------

    def _create_function(self, s: st.Partitioning, database: Database) -> Effects[None]:
        assert s.type is not None
        if s.type.name in UNCUTTABLE or s.type.length == MAX:
            raise error(7704, str(s.type), line=s.line)
        if s.name.lower() in database.partition_functions:
            raise error(2714, s.name, line=s.line)
        values = []
        for place, node in enumerate(s.values):
            values.append((yield from self.evaluate(s, node, s.type, f"boundary{place}")))
        if len(values) >= MAX_PARTITIONS:
            raise error(7719, MAX_PARTITIONS, line=s.line)
        for place, value in enumerate(values):
            for earlier in range(place):
                if comparable(values[earlier]) == comparable(value):
                    raise error(7708, earlier + 1, place + 1, line=s.line)
        ordered = sorted(values, key=comparable)
        if ordered != values:
            yield info(7709, s.name, line=s.line)
        now = self.runtime.now()
        made = PartitionFunction(database.next_function_id(), s.name, s.type, s.right, tuple(ordered), now, now)
        self._keep(database, "partition function", s.name, made)

    def _function(self, s: st.Partitioning, database: Database, verb: str) -> PartitionFunction:
        found = database.partition_functions.get(s.name.lower())
        if found is None:
            raise error(15151, verb, "partition function", s.name, line=s.line)
        return found

    def _drop_function(self, s: st.Partitioning, database: Database) -> Effects[None]:
        found = self._function(s, database, "drop")
        if self._schemes(database, found):
            raise error(7706, found.name, line=s.line)
        self._keep(database, "partition function", found.name, None)
        return
        yield

    @staticmethod
    def _schemes(database: Database, function: PartitionFunction) -> list[PartitionScheme]:
        return [one for one in database.partition_schemes.values() if one.function.lower() == function.name.lower()]

    def _split_function(self, s: st.Partitioning, database: Database) -> Effects[None]:
        function = self._function(s, database, "alter")
        if not s.values:
            raise error(7714, line=s.line)
        value = yield from self.evaluate(s, s.values[0], function.type)
        known = function.find(value)
        if known is not None:
            raise error(7721, known + 1, line=s.line)
        if function.count >= MAX_PARTITIONS:
            raise error(7719, MAX_PARTITIONS, line=s.line)
        schemes = self._schemes(database, function)
        for scheme in schemes:
            if scheme.next_used is None:
                raise error(7710, scheme.name, line=s.line)
        wider = function.split(value, self.runtime.now())
        place = wider.find(value)
        assert place is not None
        place += function.right  # the new range is the one that holds the boundary
        self._keep(database, "partition function", function.name, wider)
        for scheme in schemes:
            assert scheme.next_used is not None
            groups = (*scheme.filegroups[:place], scheme.next_used, *scheme.filegroups[place:])
            self._keep(database, "partition scheme", scheme.name, replace(scheme, filegroups=groups, next_used=None))

    def _merge_function(self, s: st.Partitioning, database: Database) -> Effects[None]:
        function = self._function(s, database, "alter")
        if not s.values:
            raise error(7714, line=s.line)
        value = yield from self.evaluate(s, s.values[0], function.type)
        place = function.find(value)
        if place is None:
            raise error(7715, line=s.line)
        self._keep(database, "partition function", function.name, function.merge(place, self.runtime.now()))
        gone = place + function.right
        for scheme in self._schemes(database, function):
            groups = scheme.filegroups[:gone] + scheme.filegroups[gone + 1 :]
            self._keep(database, "partition scheme", scheme.name, replace(scheme, filegroups=groups))

    # --- schemes ------------------------------------------------------------------------------------------------------------

    def _create_scheme(self, s: st.Partitioning, database: Database) -> Effects[None]:
        if s.name.lower() in database.partition_schemes or database.filegroup_id(s.name) is not None:
            raise error(2714, s.name, line=s.line)
        function = database.partition_functions.get(s.function.lower())
        if function is None:
            raise error(15151, "find", "partition function", s.function, line=s.line)
        groups = [find_filegroup(database, name, s.line) for name in s.filegroups]
        following: int | None = None
        if s.all:
            if len(groups) > 1:
                raise error(7723, line=s.line)
            following, groups = groups[0], groups * function.count
        elif len(groups) < function.count:
            raise error(7707, function.name, s.name, line=s.line)
        elif len(groups) > function.count:
            following = groups[function.count]
            name = database.filegroups[following]["name"]
            yield info(7712, s.name, name, s.name, line=s.line)
            if len(groups) > function.count + 1:
                yield info(7713, len(groups) - function.count - 1, line=s.line)
        made = PartitionScheme(database.next_scheme_id(), s.name, function.name, tuple(groups[: function.count]), following)
        self._keep(database, "partition scheme", s.name, made)

    def _scheme(self, s: st.Partitioning, database: Database, verb: str) -> PartitionScheme:
        found = database.partition_schemes.get(s.name.lower())
        if found is None:
            raise error(15151, verb, "partition scheme", s.name, line=s.line)
        return found

    def _next_used_scheme(self, s: st.Partitioning, database: Database) -> Effects[None]:
        scheme = self._scheme(s, database, "alter")
        if not s.filegroups:
            if scheme.next_used is None:
                yield info(7710, scheme.name, line=s.line)
                return
            self._keep(database, "partition scheme", scheme.name, replace(scheme, next_used=None))
            return
        group = find_filegroup(database, s.filegroups[0], s.line)
        self._keep(database, "partition scheme", scheme.name, replace(scheme, next_used=group))

    def _drop_scheme(self, s: st.Partitioning, database: Database) -> Effects[None]:
        found = self._scheme(s, database, "drop")
        if users_of(database, found.id):
            raise error(7717, found.name, line=s.line)
        self._keep(database, "partition scheme", found.name, None)
        return
        yield

    # --- TRUNCATE TABLE ... WITH (PARTITIONS (...)) ---------------------------------------------------------------------------

    def truncated_partitions(self, s: st.Truncate, table: Table, database: Database) -> Effects[set[int]]:
        """The partitions to empty. Errors 7729, 7722, 7728, 3756."""
        wanted: set[int] = set()
        for place, (first, last) in enumerate(s.partitions):
            low = yield from self.evaluate(s, first, BIGINT, f"partition{place}")
            high = low if last is None else (yield from self.evaluate(s, last, BIGINT, f"partition to{place}"))
            for number in (low, high):
                check_partitioned(database, table, None, number, s.line, "truncate table")
            if low > high:
                raise error(7728, low, high, line=s.line)
            wanted.update(range(low, high + 1))
        function = function_of(database, placement_of(table, None))
        assert function is not None
        for index in table.indexes:
            if not index.options.get("DISABLED") and not aligned(database, table, index):
                raise error(3756, index.name, table.name, function.name, line=s.line)
        return wanted

    def truncate_partitions(self, s: st.Truncate, table: Table, database: Database) -> Effects[None]:
        """Empty some partitions; the rest, and the identity, stay."""
        wanted = yield from self.truncated_partitions(s, table, database)
        placement = placement_of(table, None)
        function = function_of(database, placement)
        assert function is not None
        before = table.rows
        kept = {row_id: row for row_id, row in before.items() if function.number(row[placement.column]) not in wanted}
        table.replace_rows(kept)
        change = SchemaChange("put", "table", table.full_name, TableDefinition(table))
        self._log_schema(database, change, lambda: table.replace_rows(before))
