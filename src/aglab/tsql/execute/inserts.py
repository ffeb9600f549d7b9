"""INSERT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import BIGINT
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.placement import check_populated
from aglab.tsql.execute.targets import DEFAULT_CELL, ReadyColumn, Target, TargetMixin
from aglab.tsql.execute.writes import TableWriter, assigner
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Plan, Planner
from aglab.tsql.query.scope import CompileContext, Frame, OutColumn, Scope, then
from aglab.tsql.store.table import Row


class InsertMixin(TargetMixin):
    """INSERT."""

    def _insert(self, s: st.Insert) -> Effects[Any]:
        self.session.command = "INSERT"
        yield from self.in_transaction(lambda: self._insert_rows(s))
        return None

    def _insert_rows(self, s: st.Insert) -> Effects[None]:
        target = self.target(s.target)
        self.check_writable(target)
        table = target.table
        ordinals = self._insert_columns(s, target)
        captured: list[Row] | None = None
        columns: list[OutColumn] = []
        if s.execute is not None:
            columns, captured = yield from self.interpreter.capture(self, s.execute)

        def build(context: CompileContext) -> Any:
            planner = self.planner(context, s.ctes)
            writer = self.writer(context, target)
            if s.execute is not None:
                plan, cells = None, columns
            elif s.query is None:
                plan, cells = None, []
            else:
                plan, cells = self._insert_source(context, planner, s, ordinals, writer)
            changes = [
                assigner(c.type, table, table.columns[o], writer.shown) if not getattr(c, "ready", False) else None
                for c, o in zip(cells, ordinals, strict=False)
            ]
            top = ExpressionCompiler(context, Scope(), planner).converted(s.top.count, BIGINT).fn if s.top is not None else None
            return context, plan, writer, changes, self.output_plan(context, s.output, table, s.line), top, len(cells)

        if s.execute is None:
            context, plan, writer, changes, output, top, width = self.cached(s, build, f"insert{self.mark(target)}")
            writer = writer.on(table)
        else:
            context, plan, writer, changes, output, top, width = build(self.context())
        if (plan is not None or s.execute is not None) and width != len(ordinals):
            self._count_error(s, width, len(ordinals))
        if target.database is not None:
            if len(target.database.filegroups) > 1:
                check_populated(target.database, table)
            yield from self.acquire(Resource("OBJECT", target.database_id, table.id), "IX")

        left_out: list[TsqlError] = []

        def work() -> tuple[Frame, list[Row], list[int]]:
            left_out.clear()  # it may have run before, up to a lock
            frame = context.frame(self.runtime)
            rows = captured if captured is not None else [()] if plan is None else plan.rows(frame)
            if top is not None:
                rows = rows[: top(frame)]
            shown: list[Row] = []
            made: list[int] = []
            for row in rows:
                provided = {o: (v if v is None or c is None else c(v)) for o, v, c in zip(ordinals, row, changes, strict=False)}
                if DEFAULT_CELL in row:
                    for o, v in zip(ordinals, row, strict=False):
                        if v is DEFAULT_CELL:
                            del provided[o]
                try:
                    row_id, stored = self.insert_row(target, writer, frame, provided)
                except TsqlError as problem:
                    if not problem.ignored:
                        raise
                    left_out.append(problem)
                    continue
                made.append(row_id)
                if output is not None:
                    shown.append(output.row(frame, None, stored))
            return frame, shown, made

        frame, shown, made = yield from self.guarded(work)
        if left_out:
            yield info(3604, line=s.line)
        yield from self.lock_rows(target, made)
        yield from self.finish(frame, output, shown, len(made), "INSERT")

    def _insert_columns(self, s: st.Insert, target: Target) -> list[int]:
        table = target.table
        identity_on = (
            self.session.options.identity_insert
            == f"{target.database.name if target.database else 'tempdb'}.{table.full_name}".lower()
        )
        if not s.columns:
            ordinals = [o for o, c in enumerate(table.columns) if c.computed is None and c.identity is None]
            if identity_on and s.query is not None:
                raise error(8101, table.full_name if target.database else table.name, line=s.line)
            return ordinals
        ordinals = []
        for name in s.columns:
            ordinal = self._ordinal(table, name, s.line)
            if ordinal in ordinals:
                raise error(264, name, line=s.line)
            column = table.columns[ordinal]
            if column.computed is not None:
                raise error(271, column.name, line=s.line)
            if column.identity is not None and not identity_on:
                raise error(544, table.name, line=s.line)
            ordinals.append(ordinal)
        if identity_on and not any(table.columns[o].identity for o in ordinals):
            raise error(545, table.name, line=s.line)
        return ordinals

    def _insert_source(
        self, context: CompileContext, planner: Planner, s: st.Insert, ordinals: list[int], writer: TableWriter
    ) -> tuple[Plan, list[OutColumn]]:
        query = s.query
        assert query is not None
        if not isinstance(query, ast.Values):
            plan = planner.query(query, None)
            return plan, plan.columns
        if any(len(row) != len(query.rows[0]) for row in query.rows):
            raise error(10709, line=s.line)
        compiler = ExpressionCompiler(context, Scope(), planner)
        width = len(query.rows[0])
        if width != len(ordinals):
            self._count_error(s, width, len(ordinals))
        table = writer.table
        rows: list[list[Callable[[Frame], Any]]] = []
        for row in query.rows:
            cells: list[Callable[[Frame], Any]] = []
            for cell, ordinal in zip(row, ordinals, strict=True):
                if isinstance(cell, ast.Call) and cell.name == "DEFAULT" and not cell.args:
                    cells.append(lambda frame: DEFAULT_CELL)
                    continue
                expr = compiler.value(cell)
                change = assigner(expr.type, table, table.columns[ordinal], writer.shown)
                cells.append(then(expr.fn, change))
            rows.append(cells)
        plan = Plan([], lambda frame: [tuple(fn(frame) for fn in row) for row in rows])
        return plan, [ReadyColumn(table.columns[o].name, table.columns[o].type) for o in ordinals]

    @staticmethod
    def _count_error(s: st.Insert, given: int, wanted: int) -> None:
        if not s.columns:
            raise error(213, line=s.line)
        if isinstance(s.query, ast.Values):
            raise error(109 if given < wanted else 110, line=s.line)
        raise error(120 if given < wanted else 121, line=s.line)
