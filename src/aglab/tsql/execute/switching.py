"""ALTER TABLE ... SWITCH: a partition changes its table, its pages stay where they are.

Checked as SQL Server checks: same columns, same indexes, same filegroup, an empty target, and for rows that come from a table
without that range a CHECK constraint which proves that they belong. Error texts from "Database Engine events and errors (4000
to 4999)" and "(7000 to 7999)". Left out: foreign keys, indexed views, text filegroups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import BIGINT, SqlType
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.joins import split
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import Scope
from aglab.tsql.store.database import Database, TableDefinition
from aglab.tsql.store.partitions import PartitionFunction, aligned, filegroups_of, function_of, placement_of
from aglab.tsql.store.table import Index, Table, comparable

STATEMENT = "ALTER TABLE SWITCH"
Constant = Callable[[ast.Node, SqlType], Any]


@dataclass
class Side:
    """One side of a SWITCH: a table and, where it is partitioned, one of its partitions."""

    table: Table
    database: Database
    number: int | None

    @property
    def shown(self) -> str:
        """database.schema.table, as the messages have it."""
        return f"{self.database.name}.{self.table.full_name}"

    @property
    def function(self) -> PartitionFunction | None:
        """What cuts the table."""
        return function_of(self.database, placement_of(self.table, None))

    def filegroup(self, index: Index | None) -> str:
        """The name of the filegroup in which the rows, or an index's rows, lie."""
        groups = filegroups_of(self.database, placement_of(self.table, index))
        number = groups[(self.number or 1) - 1]
        return str(self.database.filegroups[number]["name"])

    def row_ids(self) -> list[int]:
        """The rows that go, or that are in the way."""
        function = self.function
        if function is None:
            return list(self.table.rows)
        column = placement_of(self.table, None).column
        return [row_id for row_id, row in self.table.rows.items() if function.number(row[column]) == self.number]


class SwitchMixin(BaseExecutor):
    """ALTER TABLE ... SWITCH."""

    if TYPE_CHECKING:

        def _log_schema(self, database: Database, change: SchemaChange, undo: Any) -> None: ...
        def _bump(self, database: Database | None) -> None: ...
        def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]: ...

    def switch_partition(self, s: st.AlterTable) -> Effects[None]:
        """Move rows between two tables without touching a page."""
        source_table, source_database = self._table_to_alter(s.name, s.line)
        target_table, target_database = self._table_to_alter(s.options["TARGET"], s.line)
        if source_database is None or target_database is None:
            raise error(4902, s.name[-1], line=s.line)
        if source_table is target_table:
            shown = f"{source_database.name}.{source_table.full_name}"
            raise error(4955, shown, shown, line=s.line)
        yield from self.acquire(Resource("OBJECT", source_database.id, source_table.id), "Sch-M")
        yield from self.acquire(Resource("OBJECT", target_database.id, target_table.id), "Sch-M")
        source = Side(source_table, source_database, (yield from self._number(s, "SOURCE")))
        target = Side(target_table, target_database, (yield from self._number(s, "PARTITION")))
        if source_database is not target_database:
            raise error(4948, source_table.name, source_database.name, target_table.name, target_database.name, line=s.line)
        for side in (source, target):
            yield from self._check_number(side, s.line)
        check_shapes(source, target, s.line)
        if target.row_ids():
            if target.number is None:
                raise error(4905, target.shown, line=s.line)
            raise error(4904, target.number, target.shown, line=s.line)
        check_places(source, target, s.line)
        check_ranges(source, target, s.line, self._constant)
        self._move(source, target)

    def _number(self, s: st.AlterTable, key: str) -> Effects[int | None]:
        if key not in s.options:
            return None
        return (yield from self.evaluate(s, s.options[key], BIGINT, key))

    def _check_number(self, side: Side, line: int) -> Effects[None]:
        function = side.function
        if function is None:
            if side.number is not None:
                yield info(4903, side.number, side.shown, line=line)
                side.number = None
        elif side.number is None:
            raise error(4911, side.shown, line=line)
        elif not 1 <= side.number <= function.count:
            raise error(4950, side.number, side.shown, line=line)

    def _constant(self, node: ast.Node, sql_type: SqlType) -> Any:
        """A constant expression as a value of a type; None where it is none."""
        context = self.context()
        try:
            return (
                ExpressionCompiler(context, Scope(), Planner(context)).converted(node, sql_type).fn(context.frame(self.runtime))
            )
        except TsqlError:  # it names a column, or does not convert: it proves nothing
            return None

    def _move(self, source: Side, target: Side) -> None:
        leaving = source.row_ids()
        before = (source.table.rows, target.table.rows)
        gone = set(leaving)
        kept = {row_id: row for row_id, row in before[0].items() if row_id not in gone}
        first = target.table.next_row_id
        moved = {first + place: before[0][row_id] for place, row_id in enumerate(leaving)}
        source.table.replace_rows(kept)
        target.table.replace_rows({**before[1], **moved})
        for side, rows in ((source, before[0]), (target, before[1])):
            self._bump(side.database)
            table = side.table
            change = SchemaChange("put", "table", table.full_name, TableDefinition(table))
            self._log_schema(side.database, change, lambda table=table, rows=rows: table.replace_rows(rows))  # type: ignore[misc]


def check_shapes(source: Side, target: Side, line: int) -> None:
    """Columns and indexes must be the same. Errors 4943, 4942, 4944, 4985, 4913, 4947, 7733."""
    ours, theirs = source.table, target.table
    if len(ours.columns) != len(theirs.columns):
        raise error(4943, source.shown, len(ours.columns), target.shown, len(theirs.columns), line=line)
    for place, (one, other) in enumerate(zip(ours.columns, theirs.columns, strict=True), 1):
        if one.name.lower() != other.name.lower():
            raise error(4942, one.name, place, source.shown, other.name, target.shown, line=line)
        if one.type != other.type:
            raise error(4944, one.name, one.type, source.shown, other.type, target.shown, line=line)
        if one.nullable != other.nullable:
            raise error(4985, one.name, source.shown, target.shown, line=line)
    for here, there in ((source, target), (target, source)):
        clustered = here.table.clustered
        if clustered is not None and there.table.clustered is None:
            raise error(4913, here.shown, clustered.name, there.shown, line=line)
    for side in (source, target):
        for index in side.table.indexes:
            if side.function is not None and not index.options.get("DISABLED") and not aligned(side.database, side.table, index):
                raise error(7733, STATEMENT, "table", side.shown, "index", index.name, line=line)
    for index in theirs.indexes:
        if not any(_same(index, one) for one in ours.indexes):
            raise error(4947, source.shown, index.name, target.shown, line=line)


def _same(one: Index, other: Index) -> bool:
    shapes = [(i.columns, i.descending, i.unique, i.clustered, i.primary_key, set(i.included)) for i in (one, other)]
    return shapes[0] == shapes[1]


def check_places(source: Side, target: Side, line: int) -> None:
    """Rows do not move: both sides must be in one filegroup. Errors 4938, 4939, 4940."""
    pairs: list[tuple[Index | None, Index | None]] = [(None, None)]
    pairs += [(one, other) for other in target.table.indexes for one in source.table.indexes if _same(one, other)]
    for ours, theirs in pairs:
        here, there = source.filegroup(ours), target.filegroup(theirs)
        if here == there:
            continue
        kind = "table" if ours is None else "index"
        name = source.shown if ours is None else f"{source.shown}.{ours.name}"
        other = target.shown if theirs is None else f"{target.shown}.{theirs.name}"
        if source.number is not None and target.number is not None:
            raise error(4938, source.number, kind, name, here, target.number, kind, other, there, line=line)
        if target.number is not None:
            raise error(4939, kind, name, here, target.number, kind, other, there, line=line)
        if source.number is not None:
            raise error(4939, kind, other, there, source.number, kind, name, here, line=line)
        raise error(4940, kind, name, here, kind, other, there, line=line)


def check_ranges(source: Side, target: Side, line: int, constant: Constant) -> None:
    """The rows must provably belong where they go. Errors 4970, 4972, 4973, 4982."""
    for check in target.table.checks:
        if check.enabled and not any(one.enabled and one.text == check.text for one in source.table.checks):
            raise error(4970, target.shown, check.name, source.shown, line=line)
    function = target.function
    if function is None or target.number is None:
        return
    column = placement_of(target.table, None).column
    low, high = function.boundaries[target.number - 2 : target.number - 1], function.boundaries[target.number - 1 : target.number]
    ours = source.function
    if ours is not None and source.number is not None:
        if placement_of(source.table, None).column != column:
            raise error(4972, source.shown, target.shown, line=line)
        theirs = (ours.boundaries[source.number - 2 : source.number - 1], ours.boundaries[source.number - 1 : source.number])
        if target.number == 1:
            low = ()
        if source.number == 1:
            theirs = ((), theirs[1])
        narrower = ours.right == function.right
        narrower = narrower and (not low or bool(theirs[0] and comparable(theirs[0][0]) >= comparable(low[0])))
        narrower = narrower and (not high or bool(theirs[1] and comparable(theirs[1][0]) <= comparable(high[0])))
        if not narrower:
            raise error(4973, source.number, source.shown, target.number, target.shown, line=line)
        return
    if function.count > 1 and not _proven(source.table, column, function, target.number, constant):
        raise error(4982, source.shown, target.number, target.shown, line=line)


def _proven(table: Table, column: int, function: PartitionFunction, number: int, constant: Constant) -> bool:
    """Whether the table's CHECK constraints keep a column inside one range. NULL belongs to range 1 only."""
    smallest: Any = None
    largest: Any = None
    open_low = open_high = False
    not_null = not table.columns[column].nullable
    for part in [part for check in table.checks if check.enabled for part in split(check.condition)]:
        if isinstance(part, ast.IsNull) and part.negated and _names(part.operand, table, column):
            not_null = True
        if not isinstance(part, ast.Compare):
            continue
        flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
        left, op, right = part.left, part.op, part.right
        if _names(right, table, column) and op in flip:
            left, op, right = right, flip[op], left
        value = constant(right, function.type)
        if not _names(left, table, column) or op not in flip or value is None:
            continue
        if op in (">", ">=", "=") and (smallest is None or value > smallest):
            smallest, open_low = value, op == ">"
        if op in ("<", "<=", "=") and (largest is None or value < largest):
            largest, open_high = value, op == "<"
    if number > 1 and not (not_null and smallest is not None and _above(function, number, smallest, open_low)):
        return False
    return number == function.count or (largest is not None and _below(function, number, largest, open_high))


def _above(function: PartitionFunction, number: int, value: Any, exclusive: bool) -> bool:
    boundary = function.boundaries[number - 2]
    if comparable(value) == comparable(boundary):
        return exclusive or function.right
    return bool(comparable(value) > comparable(boundary))


def _below(function: PartitionFunction, number: int, value: Any, exclusive: bool) -> bool:
    boundary = function.boundaries[number - 1]
    if comparable(value) == comparable(boundary):
        return exclusive or not function.right
    return bool(comparable(value) < comparable(boundary))


def _names(node: ast.Node, table: Table, column: int) -> bool:
    return isinstance(node, ast.ColumnRef) and node.name.lower() == table.columns[column].name.lower()
