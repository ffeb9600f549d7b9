"""Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE over a snapshot of the result (static)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import BIGINT
from aglab.tsql import ast_statements as st
from aglab.tsql.convert import converter
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.messages import error
from aglab.tsql.query.planner import Plan, Planner

# Every direction of FETCH; others go forward only ("DECLARE CURSOR (Transact-SQL)").
SCROLLABLE = frozenset({"SCROLL", "STATIC", "KEYSET", "DYNAMIC"})


@dataclass
class Cursor:
    """An opened cursor has rows; ``position`` counts from 1, 0 is before the first."""

    statement: st.DeclareCursor
    plan: Plan | None = None
    rows: list[Any] = field(default_factory=list)
    position: int = 0
    is_open: bool = False


class CursorMixin(BaseExecutor):
    """Cursor statements."""

    def _declarecursor(self, s: st.DeclareCursor) -> Effects[Any]:
        if s.name.lower() in self.session.cursors:
            raise error(16915, s.name, line=s.line)
        self.session.cursors[s.name.lower()] = Cursor(s)
        return None
        yield

    def _cursorstatement(self, s: st.CursorStatement) -> Effects[Any]:
        cursor = self.session.cursors.get(s.name.lower())
        if cursor is None:
            raise error(16916, s.name, line=s.line)
        if s.kind == "OPEN":
            if cursor.is_open:
                raise error(16905, line=s.line)
            context = self.context()
            plan = Planner(context).query(cursor.statement.query, None)
            cursor.plan = plan
            cursor.rows = yield from self.guarded(lambda: plan.rows(context.frame(self.runtime)))
            cursor.is_open, cursor.position = True, 0
        elif s.kind == "CLOSE":
            if not cursor.is_open:
                raise error(16917, line=s.line)
            cursor.is_open, cursor.rows = False, []
        elif s.kind == "DEALLOCATE":
            del self.session.cursors[s.name.lower()]
        else:
            yield from self._fetch(s, cursor)
            return None
        self.session.row_count = 0
        yield Done(None, "", self.in_procedure)
        return None

    def _fetch(self, s: st.CursorStatement, cursor: Cursor) -> Effects[None]:
        if not cursor.is_open or cursor.plan is None:
            raise error(16917, line=s.line)
        options = cursor.statement.options
        if s.direction != "NEXT" and ("FORWARD_ONLY" in options or not options & SCROLLABLE):
            raise error(16911, "fetch", s.direction.lower(), line=s.line)
        count = len(cursor.rows)
        offset = 0
        if s.offset is not None:
            offset = yield from self.evaluate(s, s.offset, BIGINT)
        place = {
            "NEXT": cursor.position + 1,
            "PRIOR": cursor.position - 1,
            "FIRST": 1,
            "LAST": count,
            "ABSOLUTE": offset if offset >= 0 else count + 1 + offset,
            "RELATIVE": cursor.position + offset,
        }[s.direction]
        inside = 1 <= place <= count
        cursor.position = place if inside else 0 if place < 1 else count + 1
        self.session.fetch_status = 0 if inside else -1  # type: ignore[attr-defined]
        rows = [cursor.rows[place - 1]] if inside else []
        if not s.into:
            yield from self.send(cursor.plan.columns, rows)
            return
        if len(s.into) != len(cursor.plan.columns):
            raise error(16924, line=s.line)
        self.session.row_count = len(rows)
        if rows:
            variables = self.runtime.variables
            for name, column, value in zip(s.into, cursor.plan.columns, rows[0], strict=True):
                key = name.lower()
                if key not in variables.types:
                    raise error(137, name, line=s.line)
                change = converter(column.type, variables.types[key], None, False)
                variables.values[key] = value if value is None or change is None else change(value)
