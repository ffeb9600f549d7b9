"""SELECT, and SELECT ... INTO."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.targets import TargetMixin
from aglab.tsql.messages import error
from aglab.tsql.query.planner import Plan, Planner
from aglab.tsql.query.scope import CompileContext
from aglab.tsql.store.table import Row


class SelectMixin(TargetMixin):
    """SELECT, and SELECT ... INTO."""

    def _querystatement(self, s: st.QueryStatement) -> Effects[Any]:
        query = s.query
        if isinstance(query, ast.Select) and query.into is not None:
            yield from self.in_transaction(lambda: self.select_into(s, query))
            return None

        def build(context: CompileContext) -> tuple[CompileContext, Plan]:
            planner = Planner(context)
            if "MAXRECURSION" in query.options:
                planner.max_recursion = query.options["MAXRECURSION"]
            return context, planner.query(query, None)

        context, plan = self.cached(s, build)
        self.session.command = "SELECT"

        staged = plan.staged if self.interpreter.captured is None else None
        finish = None

        def work() -> list[Row]:
            nonlocal finish
            if staged is None:
                return plan.rows(context.frame(self.runtime))
            rows, finish = staged(context.frame(self.runtime))
            return rows

        if self.session.options.fmtonly:
            yield from self.send(plan.columns, [])
            return None
        if (
            self.session.transaction is not None
            or self.session.options.implicit_transactions
            or self.session.options.isolation in (3, 4)
        ):
            rows = yield from self.in_transaction(lambda: self.guarded(work), writes=False)
        else:
            try:
                rows = yield from self.guarded(work)
            finally:
                if self.session.trancount == 0:
                    self.runtime.instance.locks.release_all(self.session.spid)
        if self.session.options.rowcount and len(rows) > self.session.options.rowcount:
            rows = rows[: self.session.options.rowcount]
        if plan.assignments is not None:
            self.session.row_count = len(rows)
        elif self.interpreter.captured is not None:
            self.interpreter.captured.append((plan.columns, rows))
            self.session.row_count = len(rows)
        else:
            yield from self.send(plan.columns, rows, finish=finish)
        yield from self.warnings()
        return None

    def select_into(self, s: st.QueryStatement, query: ast.Select) -> Effects[Any]:
        """SELECT ... INTO creates the table from the columns of the result."""
        from aglab.tsql.execute.definitions import create_from_columns

        assert query.into is not None
        context = self.context()
        plan = Planner(context).query(query, None)
        rows = yield from self.guarded(lambda: plan.rows(context.frame(self.runtime)))
        for position, column in enumerate(plan.columns, 1):
            if not column.name:
                raise error(1038, line=s.line)
            _ = position
        target = yield from create_from_columns(self, query.into, plan.columns, s.line)  # type: ignore[arg-type]
        for row in rows:
            self.change_row(target.table, target.database.name if target.database else "tempdb", target.table.next_row_id, row)
        self.session.row_count = len(rows)
        yield self.done(len(rows), "SELECT")
        yield from self.warnings()
