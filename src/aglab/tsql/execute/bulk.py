"""INSERT BULK: what a driver's bulk copy sends, a statement that announces columns, then the rows in a message of their own.

Modelled: the columns named and their types, NULL and defaults, identity values, constraints that are not checked unless asked
for (and are then not trusted), the order of the clustered index, permissions, one transaction for each message. Left out:
minimal logging, the BU lock (TABLOCK takes X), triggers (the twin has none).

Sources: "INSERT BULK" and BulkLoadBCP in MS-TDS 2.2.6.1; "Use character format..." and "bcp utility" for permissions and for
what is checked without CHECK_CONSTRAINTS; "SqlBulkCopyOptions" for KeepNulls. That a stream with another number of columns is
4804 with state 3, and that a bounded type does not fit a (max) one (4816), is reported by users of drivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from aglab.core.sqltypes import MAX, Column, SqlType
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Wait
from aglab.tsql.execute.base import ESCALATION_ROWS, Effects
from aglab.tsql.execute.constraints import constraints_of
from aglab.tsql.execute.placement import check_populated
from aglab.tsql.execute.targets import Target, TargetMixin
from aglab.tsql.execute.writes import TableWriter, assigner
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error, info, not_implemented
from aglab.tsql.parser.from_clause import NO_FILES
from aglab.tsql.permissions import database_allows, server_allows
from aglab.tsql.query.scope import CompileContext
from aglab.tsql.store.table import Index, Row, Table
from aglab.tsql.transactions import Entry

ROWS_A_TURN = 250  # rows before other sessions get a turn
COMMAND = "BULK INSERT"
_TEXT = ("char", "varchar", "text")
_WIDE = ("nchar", "nvarchar", "ntext")
_BINARY = ("binary", "varbinary", "image", "timestamp")
_KINDS = {name: group[1] for group in (_TEXT, _WIDE, _BINARY) for name in group} | {"numeric": "decimal", "xml": "nvarchar"}


@dataclass
class BulkPlan:
    """What an INSERT BULK said, until its rows come."""

    statement: st.InsertBulk
    ordinals: list[int]
    shape: tuple[Any, ...]  # the table as it was then


def fits(sent: SqlType, declared: SqlType) -> bool:
    """Whether a column of the stream may hold what INSERT BULK declared."""
    if _KINDS.get(sent.name, sent.name) != _KINDS.get(declared.name, declared.name):
        return False
    return _KINDS.get(sent.name) in (None, "decimal") or _is_large(sent) == _is_large(declared)


def _shape(table: Table) -> tuple[Any, ...]:
    return table.id, tuple((column.name, column.type, column.nullable) for column in table.columns)


def _is_large(sql_type: SqlType) -> bool:
    return sql_type.length == MAX or sql_type.name in ("text", "ntext", "image", "xml")


class BulkMixin(TargetMixin):
    """INSERT BULK and its rows."""

    def _insertbulk(self, s: st.InsertBulk) -> Effects[Any]:
        """Check what can be checked before a row has come."""
        self.session.command = "INSERT"
        target = self.target(s.target)
        self.check_writable(target)
        ordinals: list[int] = []
        for name, _ in s.columns:
            ordinal = self._ordinal(target.table, name, s.line)
            if ordinal in ordinals:
                raise error(264, name, line=s.line)
            if target.table.columns[ordinal].computed is not None:
                raise error(271, target.table.columns[ordinal].name, line=s.line)
            ordinals.append(ordinal)
        self._may_leave_unchecked(target, s, ordinals)
        self._sorted_by(target.table, s)
        self.session.bulk = BulkPlan(s, ordinals, _shape(target.table))
        yield self.done(None, COMMAND)
        return None

    def _may_leave_unchecked(self, target: Target, s: st.InsertBulk, ordinals: list[int]) -> None:
        """Error 5304: who leaves constraints aside, or gives identity values, changes the table as ALTER TABLE could."""
        table, session = target.table, self.session
        if target.database is None or session.is_sysadmin:
            return
        unchecked = "CHECK_CONSTRAINTS" not in s.options and constraints_of(table)
        identity = any(table.columns[ordinal].identity for ordinal in ordinals)
        if (unchecked or identity) and not database_allows(
            self.runtime.instance, target.database, session.login, "ALTER", table.schema, table.name
        ):
            raise error(5304, table.full_name, line=s.line)

    @staticmethod
    def _sorted_by(table: Table, s: st.InsertBulk) -> Index | None:
        """The clustered index that ORDER speaks of, or None. Errors 4817 and 4818; whether they stop a load is not confirmed."""
        wanted: list[tuple[int, bool]] = []
        for name, descending in s.options.get("ORDER", ()):
            ordinal = table.ordinal(name)
            if ordinal is None:
                raise error(4817, name, line=s.line)
            if any(ordinal == one for one, _ in wanted):
                raise error(4818, name, line=s.line)
            wanted.append((ordinal, descending))
        index = table.clustered
        key = list(zip(index.columns, index.descending, strict=True)) if index is not None else []
        return index if wanted and key[: len(wanted)] == wanted and len(wanted) == len(key) else None

    def _bulkinsert(self, s: st.BulkInsert) -> Effects[Any]:
        """BULK INSERT from a file of the server: refused by name, after what SQL Server asks first. Errors 208, 4834."""
        self.target(s.target)
        session = self.session
        if not session.is_sysadmin and not server_allows(self.runtime.instance, session.login, "ADMINISTER BULK OPERATIONS"):
            raise error(4834, line=s.line)
        raise not_implemented(f"BULK INSERT: {NO_FILES}", s.line)
        yield

    # --- rows ---------------------------------------------------------------------------------------------------------------

    def load_bulk(self, plan: BulkPlan, columns: Sequence[Column], rows: list[Row], problem: TsqlError | None) -> Effects[Any]:
        """The rows of the INSERT BULK before them, all or none."""
        self.session.command = COMMAND
        if problem is not None:
            raise problem
        s = plan.statement
        if len(columns) != len(s.columns):
            raise error(4804, line=s.line)
        for number, (column, (_, declared)) in enumerate(zip(columns, s.columns, strict=True), 1):
            if not fits(column.type, declared):
                raise error(4816, number, line=s.line)
        yield from self.in_transaction(lambda: self._load(plan, columns, rows))
        return None

    def _load(self, plan: BulkPlan, columns: Sequence[Column], rows: list[Row]) -> Effects[None]:
        s = plan.statement
        target = self.target(s.target)
        if _shape(target.table) != plan.shape:
            raise error(4891, line=s.line)
        if target.database is not None:
            self.runtime.host.check_access(target.database.name, self.session, True)
            if len(target.database.filegroups) > 1:
                check_populated(target.database, target.table)
        whole = yield from self._lock(target, len(rows), "TABLOCK" in s.options)
        context = self.context()
        writer = self.writer(context, target)
        if "CHECK_CONSTRAINTS" not in s.options:
            yield from self._unchecked(target)
            writer = replace(writer, checks=[], foreign=[])
        changes = [
            assigner(column.type, target.table, target.table.columns[ordinal], writer.shown)
            for column, ordinal in zip(columns, plan.ordinals, strict=True)
        ]
        ordered = self._sorted_by(target.table, s)
        last: Row | None = None
        left_out = 0
        for start in range(0, len(rows), ROWS_A_TURN):
            if start:
                yield Wait("time", self.runtime.host.now_s())  # takes no time: others get a turn, an attention gets through
            part = rows[start : start + ROWS_A_TURN]

            def work(part: list[Row] = part) -> list[tuple[int, Row]]:
                return self._put(plan, context, target, writer, changes, part)

            made = yield from self.guarded(work)
            left_out += len(part) - len(made)
            if ordered is not None:
                stored = [row for _, row in made]
                _in_order(ordered, [last, *stored] if last is not None else stored)
                last = stored[-1] if stored else last
            if not whole:
                yield from self.lock_rows(target, [row_id for row_id, _ in made])
        if left_out:
            yield info(3604, line=s.line)
        self.session.row_count = len(rows) - left_out
        self.session.writes += 1
        yield self.done(len(rows) - left_out, COMMAND)

    def _lock(self, target: Target, rows: int, whole: bool) -> Effects[bool]:
        """IX on the table, or X where asked for or where there are more rows than row locks are good for."""
        if target.database is None:
            return True
        table, locks = Resource("OBJECT", target.database_id, target.table.id), self.runtime.instance.locks
        whole = whole or (rows > ESCALATION_ROWS and not locks.would_block(self.session.spid, table, "X"))
        yield from self.acquire(table, "X" if whole else "IX")
        return whole

    def _unchecked(self, target: Target) -> Effects[None]:
        """Constraints that this load leaves aside are not trusted from here on."""
        table, database = target.table, target.database
        before = table.untrusted()
        after = tuple(one.name for one in constraints_of(table))
        if database is None or before == after:
            return
        table.trust_all_but(after)
        transaction = self.session.transaction
        assert transaction is not None
        change = SchemaChange("put", "untrusted", table.full_name, after)
        transaction.add(Entry(database.name, None, 0, None, None, change, lambda: table.trust_all_but(before)))
        return
        yield

    def _put(
        self, plan: BulkPlan, context: CompileContext, target: Target, writer: TableWriter, changes: list[Any], rows: list[Row]
    ) -> list[tuple[int, Row]]:
        """Store rows; those that a key with IGNORE_DUP_KEY turns away are left out."""
        frame = context.frame(self.runtime)
        keep_nulls = "KEEP_NULLS" in plan.statement.options
        made: list[tuple[int, Row]] = []
        for row in rows:
            provided: dict[int, Any] = {}
            for ordinal, value, change in zip(plan.ordinals, row, changes, strict=True):
                if value is not None:
                    provided[ordinal] = value if change is None else change(value)
                elif keep_nulls or writer.defaults[ordinal] is None:
                    provided[ordinal] = None
            try:
                made.append(self.insert_row(target, writer, frame, provided))
            except TsqlError as problem:
                if not problem.ignored:
                    raise
        return made


def _in_order(index: Index, rows: list[Row]) -> None:
    """Error 4819 for the first row that does not follow the one before it."""
    for first, second in pairwise(rows):
        for before, after, descending in zip(index.key(first), index.key(second), index.descending, strict=True):
            if before == after:
                continue
            if (before < after) == descending:
                raise error(4819, *(", ".join(str(row[o]) for o in index.columns) for row in (first, second)))
            break


def unannounced() -> TsqlError:
    """Rows without an INSERT BULK before them. SQL Server's own error for this is not confirmed."""
    return not_implemented("bulk rows (message 0x07) without an INSERT BULK statement before them")
