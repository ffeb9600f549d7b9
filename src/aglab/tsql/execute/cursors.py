"""Cursor statements: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE, cursor variables, and WHERE CURRENT OF.

A cursor is GLOBAL (of the session) unless LOCAL is said or the database's CURSOR_DEFAULT is LOCAL; a variable's cursor is local.
The values of variables in its query are those at the declaration ("DECLARE CURSOR (Transact-SQL)").
"""

from __future__ import annotations

import itertools
from typing import Any

from aglab.core.sqltypes import BIGINT
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.convert import converter
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.cursor_model import DYNAMIC, FAST_FORWARD, KEYSET, OPTIMISTIC, READ_ONLY, SCROLL_LOCKS, STATIC, Cursor
from aglab.tsql.execute.targets import Target, TargetMixin
from aglab.tsql.messages import error, info
from aglab.tsql.runtime import Variables

HANDLES = itertools.count(180150003, 2)  # API handles as servers number them; unique on the node
API_NAME = "\x01"  # begins the name under which sp_cursor reaches a driver's cursor


class CursorMixin(TargetMixin):
    """Cursor statements."""

    # --- naming -------------------------------------------------------------------------------------------------------------

    def cursor_named(self, name: str, line: int = 0, is_global: bool = False) -> Cursor:
        """The cursor of a name or variable, LOCAL before GLOBAL. Errors 16916, 16948, 16950."""
        key = name.lower()
        found: Cursor | None
        if key.startswith(API_NAME):
            found = next((one for handle, one in self.session.api_cursors.items() if str(handle) == key[1:]), None)
        elif key.startswith("@"):
            if key not in self.runtime.cursor_variables:
                raise error(16948 if key in self.runtime.variables.types else 137, name, line=line)
            found = self.runtime.cursor_variables[key]
            if found is None:
                raise error(16950, name, line=line)
        else:
            found = None if is_global else self.runtime.cursors.get(key)
            found = found or self.session.cursors.get(key)
        if found is None:
            raise error(16916, name, line=line)
        return found

    def keep(self, cursor: Cursor) -> Cursor:
        """Enter a new cursor where sys.dm_exec_cursors sees it, until nothing holds it."""
        self.session.every_cursor[cursor.handle] = cursor
        return cursor

    def drop_local_cursors(self) -> None:
        """The scope ends: its LOCAL cursors go, with their scroll locks."""
        for cursor in self.runtime.cursors.values():
            cursor.release(self)
        self.runtime.cursors.clear()

    # --- DECLARE ------------------------------------------------------------------------------------------------------------

    def _declarecursorvariable(self, s: st.DeclareCursorVariable) -> Effects[Any]:
        for name in s.names:
            if name.lower() in self.runtime.variables.types:
                raise error(134, name, line=s.line)
            self.runtime.cursor_variables.setdefault(name.lower(), None)
        return None
        yield

    def _declarecursor(self, s: st.DeclareCursor) -> Effects[Any]:
        key = s.name.lower()
        variable = key.startswith("@")
        if variable and key not in self.runtime.cursor_variables:
            raise error(16948 if key in self.runtime.variables.types else 137, s.name, line=s.line)
        default = bool(self.runtime.database.options.get("is_local_cursor_default"))
        local = variable or "LOCAL" in s.options or (default and "GLOBAL" not in s.options)
        known = self.runtime.cursors if local else self.session.cursors
        if not variable and key in known:
            raise error(16915, s.name, line=s.line)
        options = s.options
        wanted = (
            STATIC if "INSENSITIVE" in options else next((k for k in (STATIC, KEYSET, DYNAMIC, FAST_FORWARD) if k in options), "")
        )
        cursor = Cursor(
            next(HANDLES),
            s.name,
            s.query,
            wanted,
            scrollable="FORWARD_ONLY" not in options and bool(options & {"SCROLL", STATIC, KEYSET, DYNAMIC}),
            concurrency=next((c for c in (READ_ONLY, SCROLL_LOCKS, OPTIMISTIC) if c in options), ""),
            is_global=not local,
            update_columns=frozenset(c.lower() for c in s.update_columns) if s.update_columns else None,
            variables=self._variables_now(),
            created=self.runtime.now(),
            text=self.runtime.text,
            nesting=self.runtime.nesting,
        )
        cursor.settle(self)
        if variable:
            self.runtime.cursor_variables[key] = self.keep(cursor)
        else:
            known[key] = self.keep(cursor)
        if "TYPE_WARNING" in options and wanted and cursor.kind != wanted:
            yield info(16956, line=s.line)
        return None

    def _variables_now(self) -> Variables:
        own = self.runtime.variables
        return Variables(dict(own.values), dict(own.types), own.tables)

    def assign_cursor(self, key: str, s: st.SetVariable) -> bool:
        """SET @c = name or @other; False where the right side is no cursor."""
        node = s.expression
        if isinstance(node, ast.ColumnRef) and len(node.parts) == 1:
            self.runtime.cursor_variables[key] = self.cursor_named(node.parts[0], s.line)
        elif isinstance(node, ast.Variable):
            self.runtime.cursor_variables[key] = self.cursor_named(node.name, s.line)
        else:
            return False
        return True

    # --- OPEN, FETCH, CLOSE, DEALLOCATE -----------------------------------------------------------------------------------------

    def _cursorstatement(self, s: st.CursorStatement) -> Effects[Any]:
        cursor = self.cursor_named(s.name, s.line, s.is_global)
        if s.kind == "FETCH":
            yield from self._fetch(s, cursor)
            return None
        if s.kind == "OPEN":
            yield from cursor.open(self)
            self.session.cursor_rows = cursor.rows
        elif s.kind == "CLOSE":
            cursor.close(self)
            self.session.cursor_rows = 0
        else:
            self._deallocate(s, cursor)
        self.session.row_count = 0
        yield Done(None, "", self.in_procedure)
        return None

    def _deallocate(self, s: st.CursorStatement, cursor: Cursor) -> None:
        """Take a name (or a variable's reference) away; the cursor ends with its last one."""
        key = s.name.lower()
        if key.startswith("@"):
            self.runtime.cursor_variables[key] = None
        elif not s.is_global and key in self.runtime.cursors:
            del self.runtime.cursors[key]
        else:
            del self.session.cursors[key]
        held = [*self.runtime.cursors.values(), *self.session.cursors.values(), *self.runtime.cursor_variables.values()]
        if cursor not in held:
            cursor.release(self)
            cursor.last_operation = 7

    def _fetch(self, s: st.CursorStatement, cursor: Cursor) -> Effects[None]:
        offset = 0
        if s.offset is not None:
            offset = yield from self.evaluate(s, s.offset, BIGINT)
        if cursor.is_open and s.into and len(s.into) != len(cursor.columns):
            raise error(16924, line=s.line)
        yield from cursor.fetch(self, s.direction, offset or 0)
        self.session.fetch_status = cursor.fetch_status
        rows = [one.row for one in cursor.buffer if one.row is not None]
        if not s.into:
            yield from self.send(cursor.columns, rows)
            return
        self.session.row_count = len(rows)
        variables = self.runtime.variables
        for name, column, value in zip(s.into, cursor.columns, rows[0] if rows else (), strict=False):
            key = name.lower()
            if key not in variables.types:
                raise error(137, name, line=s.line)
            change = converter(column.type, variables.types[key], None, False)
            variables.values[key] = value if value is None or change is None else change(value)

    # --- WHERE CURRENT OF -------------------------------------------------------------------------------------------------------

    def current_row(self, s: st.Update | st.Delete, target: Target) -> Effects[int]:
        """The id of the row that a positioned UPDATE or DELETE changes, locked.

        Errors 16917 (not open), 16929 (read only), 16931 (no row), 16932 (FOR UPDATE OF), 16933 (another table), 16947 (gone, or
        with OPTIMISTIC changed since it was fetched; 16934 then follows).
        """
        cursor = self.cursor_named(s.cursor, s.line)
        if not cursor.is_open:
            raise error(16917, line=s.line)
        if cursor.concurrency == READ_ONLY or cursor.keyset is None:
            raise error(16929, line=s.line)
        if not cursor.buffer:
            raise error(16931, line=s.line)
        tables = cursor.keyset.tables(cursor._frame(self))
        number = next((n for n, table in enumerate(tables) if table is target.table), None)
        if number is None:
            raise error(16933, line=s.line)
        listed = cursor.update_columns
        if listed and isinstance(s, st.Update) and any(o.column and o.column.lower() not in listed for o in s.assignments):
            raise error(16932, line=s.line)
        one = cursor.buffer[min(cursor.place, len(cursor.buffer)) - 1]
        row_id = one.key[number]
        while (yield from self.lock_rows(target, [row_id])):
            pass
        now = target.table.rows.get(row_id)
        if now is None or not one.images:
            raise error(16947, line=s.line)
        if cursor.concurrency == OPTIMISTIC and now is not one.images[number] and now != one.images[number]:
            problem = error(16947, line=s.line)
            problem.followed_by = error(16934, line=s.line)  # type: ignore[attr-defined]
            raise problem
        cursor.last_operation = 4 if isinstance(s, st.Update) else 5
        return row_id

    def row_changed(self, s: st.Update | st.Delete, target: Target, row_id: int) -> None:
        """The cursor learns of a change through it."""
        self.cursor_named(s.cursor, s.line).changed(self, target.table, row_id)
