"""What a cursor needs of a SELECT beside its rows: which rows of which tables each one came from, and how to read them again.

A query can be followed row by row when its FROM names base tables only and nothing merges rows (DISTINCT, GROUP BY, aggregates,
window functions, set operations). A view, a derived table or a function in FROM makes the cursor a snapshot here; SQL Server
looks through views and derived tables. Sources: "DECLARE CURSOR (Transact-SQL)", "Cursors" (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import BIGINT
from aglab.tsql.locks import Resource
from aglab.tsql.query.scope import Bound, Expr, Frame, OutColumn
from aglab.tsql.query.sources import DIRTY_HINTS, TableScan
from aglab.tsql.runtime import LockNeeded, Runtime
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.table import Index, Row, Table

Key = tuple[int, ...]  # a row id for each table, 0 where an outer join found none


def locator(table: Table) -> Index | None:
    """The index whose key tells rows of a keyset apart: the clustered one, the primary key, or any that is unique."""
    keyed = [index for index in table.indexes if index.clustered or index.primary_key or index.unique]
    return min(keyed, key=lambda index: (not index.clustered, not index.primary_key), default=None)


@dataclass
class Keyset:
    """The tables behind a query's rows; ``project`` makes the visible columns from what the slots hold."""

    scans: list[TableScan]
    bounds: list[Bound]
    project: Callable[[Frame], Row]
    columns: list[OutColumn]
    origins: list[tuple[int, int] | None]  # per column: (number of the table, ordinal in it); None for an expression
    limited: bool = False  # TOP or OFFSET: who belongs to the rows cannot be asked again row by row
    order: list[tuple[Any, bool]] = field(default_factory=list)  # (origin or None, descending)

    def key(self, row: Row) -> Key:
        """The row ids, which stand after the visible columns."""
        return row[len(self.columns) :]

    def tables(self, frame: Frame) -> list[Table]:
        """The tables now."""
        return [scan.find(frame) for scan in self.scans]

    def read(self, frame: Frame, key: Key) -> tuple[Row | None, tuple[Row | None, ...]]:
        """The row of a key as it is now (None: a table's row is gone), and the rows of the tables behind it."""
        images: list[Row | None] = []
        for scan, row_id in zip(self.scans, key, strict=True):
            if not row_id:
                scan.blank(frame)
                images.append(None)
                continue
            image = _current(frame[0], scan, scan.find(frame), row_id)
            if image is None:
                return None, ()
            images.append(image)
            frame[scan.slots[0]], frame[scan.slots[1]] = image, row_id
        return self.project(frame), tuple(images)

    def ordered_by_index(self, tables: list[Table]) -> bool:
        """Whether an index delivers the ORDER BY, so that a dynamic cursor can walk it."""
        if not self.order:
            return True
        if any(origin is None for origin, _ in self.order) or len({origin[0] for origin, _ in self.order}) > 1:
            return False
        wanted = [(origin[1], descending) for origin, descending in self.order]
        for index in tables[self.order[0][0][0]].indexes:
            own = list(zip(index.columns, index.descending, strict=False))[: len(wanted)]
            if own in (wanted, [(o, not d) for o, d in wanted]):
                return True
        return False


def keyset_of(
    scope_sources: list[Bound], sources: dict[int, Any], outputs: list[Expr], columns: list[OutColumn], project: Any
) -> Keyset | None:
    """The keyset of a SELECT without grouping, or None where a source is no base table. Adds the row ids to its outputs."""
    by_slot = {bound.slot: source for source, bound in sources.values()}
    scans = [by_slot.get(bound.slot) for bound in scope_sources]
    if not scans or not all(isinstance(scan, TableScan) for scan in scans):
        return None
    numbers = {bound.slot: number for number, bound in enumerate(scope_sources)}
    origins = [
        (numbers[expr.column[0]], expr.column[1]) if expr.column is not None and expr.column[0] in numbers else None
        for expr in outputs
    ]
    found = Keyset(scans, list(scope_sources), project, list(columns), origins)  # type: ignore[arg-type]
    for bound in scope_sources:
        outputs.append(Expr(_cell(bound.rid_slot), BIGINT, frozenset({bound.rid_slot}), False))
        columns.append(OutColumn("", BIGINT, False))
    return found


def _cell(slot: int) -> Callable[[Frame], Any]:
    return lambda frame: frame[slot]


def _current(runtime: Runtime, scan: TableScan, table: Table, row_id: int) -> Row | None:
    """One row as the isolation level shows it: LockNeeded where another session's change has to be waited for."""
    row = table.rows.get(row_id)
    options = runtime.session.options
    if not scan.shared or options.isolation == 1 or scan.hints & DIRTY_HINTS:
        return row
    if is_memory(table) or scan._versioned(runtime):
        return runtime.uncommitted(table).get(row_id, row)
    if row_id in runtime.instance.locks.locked_rows(scan.database_id, table.id, runtime.session.spid, "S"):
        kind = "KEY" if table.clustered else "RID"
        raise LockNeeded(Resource(kind, scan.database_id, table.id, row_id), "S", False, table)
    if runtime.tracked is not None and options.isolation in (3, 4) and row is not None:
        runtime.tracked.append((table, row_id, "S"))
    return row
