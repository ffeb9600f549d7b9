"""MERGE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.dml import DmlMixin
from aglab.tsql.execute.targets import OutputPlan, Target
from aglab.tsql.execute.writes import TableWriter, assigner
from aglab.tsql.messages import error
from aglab.tsql.query.binder import Binder
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.joins import JoinBuilder
from aglab.tsql.query.scope import CompileContext, Frame, Scope, then
from aglab.tsql.query.sources import NestedLoop, TableScan
from aglab.tsql.store.table import Row


class MergeMixin(DmlMixin):
    """MERGE as an outer join of source and target."""

    def _merge(self, s: st.Merge) -> Effects[Any]:
        self.session.command = "MERGE"
        yield from self.in_transaction(lambda: self._merge_rows(s))
        return None

    def _merge_rows(self, s: st.Merge) -> Effects[None]:
        target = self.target(s.target)
        self.check_writable(target)

        def build(context: CompileContext) -> Any:
            planner = self.planner(context, s.ctes)
            scope = Scope()
            binder = Binder(planner, scope)
            binder.bind(s.source)
            binder.bind(s.target)
            source_tree = JoinBuilder(scope.own_slots(), binder.sources, binder.on).build(s.source, [], frozenset())
            scan, bound = binder.sources[id(s.target)]
            assert isinstance(scan, TableScan)
            scan.for_update = True
            compiler = ExpressionCompiler(context, scope, planner)
            on = compiler.condition(s.on).fn
            writer = self.writer(context, target)
            clauses = [self._clause(clause, compiler, target, writer, bound) for clause in s.clauses]
            return (
                context,
                source_tree,
                scan,
                bound,
                on,
                writer,
                clauses,
                self.output_plan(context, s.output, target.table, s.line),
            )

        context, source_tree, scan, bound, on, writer, clauses, output = self.cached(
            s, build, f"merge{id(target.table) if target.database is None else ''}"
        )

        def compute() -> tuple[Frame, list[tuple[str, int, Any]]]:
            frame = context.frame(self.runtime)
            actions: list[tuple[str, int, Any]] = []
            touched: set[int] = set()
            matched_targets: set[int] = set()
            source_slots = source_tree.slots
            for _ in NestedLoop(source_tree, scan, on, True).iterate(frame):
                row_id = frame[bound.rid_slot]
                if row_id:
                    matched_targets.add(row_id)
                action = self._choose(clauses, "MATCHED" if row_id else "NOT MATCHED", frame)
                if action is None:
                    continue
                if row_id and row_id in touched:
                    raise error(8672)
                touched.add(row_id) if row_id else None
                actions.append((action[0], row_id, action[1]))
            if any(kind == "NOT MATCHED BY SOURCE" for kind, *_ in clauses):
                for slot in source_slots:
                    frame[slot] = None
                source_tree.blank(frame)
                for _ in scan.iterate(frame):
                    row_id = frame[bound.rid_slot]
                    if row_id not in matched_targets:
                        action = self._choose(clauses, "NOT MATCHED BY SOURCE", frame)
                        if action is not None:
                            actions.append((action[0], row_id, action[1]))
            return frame, actions

        while True:
            frame, actions = yield from self.guarded(compute)
            if not (yield from self.lock_rows(target, [row_id for _, row_id, _ in actions if row_id])):
                break
        shown, made = yield from self.guarded(lambda: self._apply_merge(target, writer, frame, actions, output))
        yield from self.lock_rows(target, made)
        yield from self.finish(frame, output, shown, len(actions), "MERGE")

    def _clause(
        self, clause: st.MergeClause, compiler: ExpressionCompiler, target: Target, writer: TableWriter, bound: Any
    ) -> Any:
        condition = compiler.condition(clause.condition).fn if clause.condition is not None else None
        table = target.table
        if clause.action == "UPDATE":
            sets: list[tuple[int, Any]] = []
            for assignment in clause.assignments:
                self._compile_set(assignment, table, writer, compiler, bound, sets, [])
            return clause.matched, condition, "UPDATE", sets
        if clause.action == "DELETE":
            return clause.matched, condition, "DELETE", None
        if clause.matched != "NOT MATCHED":
            raise error(10711, "INSERT", clause.matched, line=clause.line)
        columns = clause.columns or [c.name for c in table.columns if c.identity is None and c.computed is None]
        if clause.values and len(columns) != len(clause.values):
            raise error(109 if len(columns) > len(clause.values) else 110, line=clause.line)
        cells: list[tuple[int, Callable[[Frame], Any] | None]] = []
        for name, node in zip(columns, clause.values, strict=False):
            ordinal = self._ordinal(table, name, clause.line)
            if isinstance(node, ast.Call) and node.name == "DEFAULT" and not node.args:
                continue
            expr = compiler.value(node)
            change = assigner(expr.type, table, table.columns[ordinal], writer.shown)
            cells.append((ordinal, then(expr.fn, change)))
        return clause.matched, condition, "INSERT", cells

    @staticmethod
    def _choose(clauses: list[Any], matched: str, frame: Frame) -> tuple[str, Any] | None:
        for kind, condition, action, payload in clauses:
            if kind == matched and (condition is None or condition(frame)):
                if action == "DELETE":
                    return "DELETE", None
                return action, [(ordinal, fn(frame)) for ordinal, fn in payload]
        return None

    def _apply_merge(
        self, target: Target, writer: TableWriter, frame: Frame, actions: list[tuple[str, int, Any]], output: OutputPlan | None
    ) -> tuple[list[Row], list[int]]:
        shown: list[Row] = []
        made: list[int] = []
        for action, row_id, payload in actions:
            before = target.table.rows.get(row_id)
            if action == "DELETE":
                shown += self.delete_row(target, writer, frame, row_id, output)
                continue
            if action == "UPDATE":
                assert before is not None
                cells = list(before)
                for ordinal, value in payload:
                    cells[ordinal] = value
                after = writer.complete(frame, cells, "UPDATE")
                self._apply_updates(target, writer, [(row_id, before, after)])
            else:
                new_id, after = self.insert_row(target, writer, frame, dict(payload))
                made.append(new_id)
            if output is not None:
                shown.append(output.row(frame, before, after))
        return shown, made
