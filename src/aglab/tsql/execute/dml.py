"""SELECT, INSERT, UPDATE, DELETE, TRUNCATE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import BIGINT, FLOAT, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Columns, Done, Rows
from aglab.tsql.execute.base import ESCALATION_ROWS, BaseExecutor, Effects
from aglab.tsql.execute.writes import TableWriter, assigner, make_writer
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.query.binder import Binder
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.joins import JoinBuilder, conjuncts
from aglab.tsql.query.planner import CteBinding, Plan, Planner
from aglab.tsql.query.scope import Bound, CompileContext, Frame, OutColumn, Scope, then
from aglab.tsql.query.sources import Filter, RowSource, TableScan
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Row, Table
from aglab.tsql.transactions import Entry


@dataclass
class Target:
    """The table a statement writes to."""

    table: Table
    database: Database | None  # None: temporary table or table variable
    variable: str = ""

    @property
    def database_id(self) -> int:
        return self.database.id if self.database is not None else 2


@dataclass
class OutputPlan:
    """A compiled OUTPUT clause: columns and a projection over the inserted and deleted images."""

    columns: list[OutColumn]
    fns: list[Callable[[Frame], Any]]
    inserted: int
    deleted: int
    blank: Row
    action: int
    into: Any = None

    def row(self, frame: Frame, before: Row | None, after: Row | None) -> Row:
        """One output row."""
        frame[self.action] = ("DELETE" if after is None else "INSERT" if before is None else "UPDATE",)
        frame[self.inserted] = after if after is not None else self.blank
        frame[self.deleted] = before if before is not None else self.blank
        return tuple(fn(frame) for fn in self.fns)


class DmlMixin(BaseExecutor):
    """Statements about rows."""

    # --- SELECT -------------------------------------------------------------------------------------------------------------

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

        def work() -> list[Row]:
            return plan.rows(context.frame(self.runtime))

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
        self.session.logical_reads += 1 + len(rows) // 50
        if plan.assignments is not None:
            self.session.row_count = len(rows)
        elif self.interpreter.captured is not None:
            self.interpreter.captured.append((plan.columns, rows))
            self.session.row_count = len(rows)
        else:
            yield from self.send(plan.columns, rows)
        yield from self.warnings()
        return None

    def select_into(self, s: st.QueryStatement, query: ast.Select) -> Effects[Any]:
        """SELECT ... INTO creates the table from the columns of the result."""
        from aglab.tsql.execute.ddl import create_from_columns

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

    # --- targets ------------------------------------------------------------------------------------------------------------

    def target(self, node: ast.TableSource) -> Target:
        """The table that a name means, for writing. Errors 208, 259, 1087, and the node's own refusals."""
        name = node.parts[-1]
        if name.startswith("@"):
            table = self.runtime.variables.tables.get(name.lower())
            if table is None:
                raise error(1087, name, line=node.line)
            return Target(table, None, name.lower())
        if name.startswith("#"):
            table = self.session.temp_tables.get(name.lower())
            if table is None:
                raise error(208, name, line=node.line)
            return Target(table, None)
        database = self.runtime.database
        if len(node.parts) > 2 and node.parts[-3]:
            found = self.runtime.instance.database(node.parts[-3])
            if found is None:
                raise error(208, ".".join(node.parts), line=node.line)
            database = found
        schema = node.parts[-2] if len(node.parts) > 1 else ""
        if schema.lower() in ("sys", "information_schema"):
            raise error(259, line=node.line)
        item = database.find(schema, name)
        if item is None:
            raise error(208, ".".join(node.parts), line=node.line)
        if not isinstance(item, Table):
            raise not_implemented(f"changing rows through a {item.kind}", node.line)
        return Target(item, database)

    def check_writable(self, target: Target) -> None:
        """The database's own refusal: read-only, secondary role."""
        if target.database is None:
            return
        self.runtime.host.check_access(target.database.name, self.session, True)
        if target.database.options["is_read_only"]:
            raise error(3906, target.database.name)

    def lock_rows(self, target: Target, row_ids: list[int]) -> Effects[bool]:
        """IX on the table and X on the rows (X on the table beyond the escalation threshold); True when it waited."""
        if target.database is None:
            return False
        instance = self.runtime.instance
        table = Resource("OBJECT", target.database_id, target.table.id)
        if len(row_ids) > ESCALATION_ROWS and not instance.locks.would_block(self.session.spid, table, "X"):
            return (yield from self.acquire(table, "X"))
        waited = yield from self.acquire(table, "IX")
        kind = "KEY" if target.table.clustered else "RID"
        for row_id in row_ids:
            waited = (yield from self.acquire(Resource(kind, target.database_id, target.table.id, row_id), "X")) or waited
        return waited

    def writer(self, context: CompileContext, target: Target) -> TableWriter:
        """Compiled defaults and constraints of a target."""
        saved = context.database
        if target.database is not None:
            context.database = target.database
        try:
            return make_writer(context, target.table, target.database, target.database is None)
        finally:
            context.database = saved

    def planner(self, context: CompileContext, ctes: list[ast.Cte]) -> Planner:
        """A planner that knows the statement's common table expressions."""
        planner = Planner(context)
        for cte in ctes:
            planner.ctes[cte.name.lower()] = CteBinding(cte, dict(planner.ctes))
        return planner

    # --- OUTPUT -------------------------------------------------------------------------------------------------------------

    def output_plan(self, context: CompileContext, output: st.Output | None, table: Table, line: int) -> OutputPlan | None:
        """Compile an OUTPUT clause."""
        if output is None:
            return None
        columns = [OutColumn(c.name, c.type, c.nullable, c.case_sensitive) for c in table.columns]
        action = Bound("", (), [OutColumn("$action", nvarchar(10))], context.slot())
        scope = Scope(
            sources=[Bound("inserted", (), columns, context.slot()), Bound("deleted", (), columns, context.slot()), action]
        )
        compiler = ExpressionCompiler(context, scope, Planner(context))
        out: list[OutColumn] = []
        fns: list[Callable[[Frame], Any]] = []
        for item in output.items:
            if isinstance(item.expression, ast.Star):
                bound = next((b for b in scope.sources if b.answers(item.expression.qualifier)), None)
                if bound is None:
                    raise error(107, ".".join(item.expression.qualifier), line=line)
                for ordinal, column in enumerate(bound.columns):
                    out.append(column)
                    fns.append(_cell(bound.slot, ordinal))
                continue
            expr = compiler.value(item.expression)
            out.append(OutColumn(item.alias or expr.name, expr.type or columns[0].type, expr.nullable))
            fns.append(expr.fn)
        plan = OutputPlan(out, fns, scope.sources[0].slot, scope.sources[1].slot, (None,) * len(columns), action.slot)
        if output.into is not None:
            target = self.target(ast.TableSource(line, parts=output.into))
            ordinals = list(range(len(target.table.columns)))
            if output.into_columns:
                ordinals = [self._ordinal(target.table, name, line) for name in output.into_columns]
            else:
                ordinals = [
                    o for o in ordinals if target.table.columns[o].identity is None and target.table.columns[o].computed is None
                ]
            if len(ordinals) != len(out):
                raise error(213, line=line)
            changes = [
                assigner(c.type, target.table, target.table.columns[o], target.table.name)
                for c, o in zip(out, ordinals, strict=True)
            ]
            plan.into = (target, self.writer(context, target), ordinals, changes)
        return plan

    @staticmethod
    def _ordinal(table: Table, name: str, line: int) -> int:
        ordinal = table.ordinal(name)
        if ordinal is None:
            raise error(207, name, line=line)
        return ordinal

    def finish(self, frame: Frame, output: OutputPlan | None, rows: list[Row], count: int, command: str) -> Effects[None]:
        """Send or store OUTPUT rows, and the count."""
        if output is not None and output.into is not None:
            target, writer, ordinals, changes = output.into
            for row in rows:
                provided = {o: (v if v is None or c is None else c(v)) for o, v, c in zip(ordinals, row, changes, strict=True)}
                self.insert_row(target, writer, frame, provided)
        elif output is not None:
            yield Columns(tuple(_column(c) for c in output.columns))
            for start in range(0, len(rows), 500):
                yield Rows(rows[start : start + 500])
        self.session.row_count = count
        self.session.writes += 1
        yield self.done(count, command)
        yield from self.warnings()

    # --- INSERT -------------------------------------------------------------------------------------------------------------

    def insert_row(self, target: Target, writer: TableWriter, frame: Frame, provided: dict[int, Any]) -> tuple[int, Row]:
        """Insert one row: complete it, check it, store it."""
        row = writer.row(frame, provided, False)
        row_id = target.table.next_row_id
        writer.verify_unique(self.runtime, target.database_id, row_id, row)
        if writer.foreign:
            writer.verify_parents(row, "INSERT")
        self.change_row(target.table, target.database.name if target.database else "tempdb", row_id, row)
        return row_id, row

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
            context, plan, writer, changes, output, top, width = self.cached(
                s, build, f"insert{id(table) if target.database is None else ''}"
            )
        else:
            context, plan, writer, changes, output, top, width = build(self.context())
        if (plan is not None or s.execute is not None) and width != len(ordinals):
            self._count_error(s, width, len(ordinals))
        if target.database is not None:
            yield from self.acquire(Resource("OBJECT", target.database_id, table.id), "IX")

        def work() -> tuple[Frame, list[Row], list[int]]:
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
                row_id, stored = self.insert_row(target, writer, frame, provided)
                made.append(row_id)
                if output is not None:
                    shown.append(output.row(frame, None, stored))
            return frame, shown, made

        frame, shown, made = yield from self.guarded(work)
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

    # --- UPDATE and DELETE --------------------------------------------------------------------------------------------------

    def _locate(self, s: st.Update | st.Delete) -> tuple[Target, ast.Source]:
        """The target and the FROM clause, in which the target may have an alias."""
        if s.source is not None:
            found = _find_source(s.source, s.target.parts)
            if found is not None:
                return self.target(found), s.source
            source = ast.JoinSource(s.line, kind="CROSS", left=s.target, right=s.source)
            return self.target(s.target), source
        return self.target(s.target), s.target

    def _rows_source(
        self, context: CompileContext, s: st.Update | st.Delete, target: Target, source_node: ast.Source
    ) -> tuple[Scope, Bound, RowSource, ExpressionCompiler, Planner]:
        planner = self.planner(context, s.ctes)
        scope = Scope()
        binder = Binder(planner, scope)
        binder.bind(source_node)
        node = _find_source(source_node, s.target.parts) or s.target
        source, bound = binder.sources[id(node)]
        assert isinstance(source, TableScan)
        source.for_update = True
        compiler = ExpressionCompiler(context, scope, planner)
        wheres = conjuncts(compiler, s.where)
        builder = JoinBuilder(scope.own_slots(), binder.sources, binder.on)
        tree = builder.build(source_node, wheres, frozenset())
        for conjunct in wheres:
            if not conjunct.used:
                tree = Filter(tree, conjunct.expr.fn)
        return scope, bound, tree, compiler, planner

    def _limit(self, compiler: ExpressionCompiler, top: ast.Top | None) -> Any:
        if top is None:
            return None
        return compiler.converted(top.count, FLOAT if top.percent else BIGINT).fn

    def _update(self, s: st.Update) -> Effects[Any]:
        self.session.command = "UPDATE"
        yield from self.in_transaction(lambda: self._update_rows(s))
        return None

    def _update_rows(self, s: st.Update) -> Effects[None]:
        target, source_node = self._locate(s)
        self.check_writable(target)
        if s.cursor:
            raise not_implemented("UPDATE ... WHERE CURRENT OF", s.line)

        def build(context: CompileContext) -> Any:
            _, bound, tree, compiler, _ = self._rows_source(context, s, target, source_node)
            writer = self.writer(context, target)
            sets: list[tuple[int, Any]] = []
            variables: list[tuple[str, Any]] = []
            for assignment in s.assignments:
                self._compile_set(assignment, target.table, writer, compiler, bound, sets, variables)
            return (
                context,
                bound,
                tree,
                writer,
                sets,
                variables,
                self.output_plan(context, s.output, target.table, s.line),
                self._limit(compiler, s.top),
            )

        context, bound, tree, writer, sets, variables, output, top = self.cached(
            s, build, f"update{id(target.table) if target.database is None else ''}"
        )

        def compute() -> tuple[Frame, dict[int, list[Any]], dict[str, Any]]:
            frame = context.frame(self.runtime)
            found: dict[int, list[Any]] = {}
            limit = top(frame) if top is not None else None
            assigned: dict[str, Any] = {}
            for _ in tree.iterate(frame):
                row_id = frame[bound.rid_slot]
                if row_id in found:
                    continue
                if limit is not None and len(found) >= limit:
                    break
                cells = list(frame[bound.slot])
                for ordinal, fn in sets:
                    cells[ordinal] = fn(frame)
                for name, fn in variables:
                    assigned[name] = fn(frame)
                found[row_id] = cells
            return frame, found, assigned

        while True:
            frame, found, assigned = yield from self.guarded(compute)
            if not (yield from self.lock_rows(target, list(found))):
                break

        def apply() -> list[Row]:
            shown: list[Row] = []
            changes: list[tuple[int, Row, Row]] = []
            for row_id, cells in found.items():
                before = target.table.rows[row_id]
                changes.append((row_id, before, writer.complete(frame, cells, "UPDATE")))
            self._apply_updates(target, writer, changes)
            if output is not None:
                shown = [output.row(frame, before, after) for _, before, after in changes]
            return shown

        shown = yield from self.guarded(apply)
        self.runtime.variables.values.update(assigned)
        yield from self.finish(frame, output, shown, len(found), "UPDATE")

    def _apply_updates(self, target: Target, writer: TableWriter, changes: list[tuple[int, Row, Row]]) -> None:
        """Store new images; a key that moves onto another row's old key is fine when that row moves too."""
        table, name = target.table, target.database.name if target.database else "tempdb"
        keyed = [
            index
            for index in table.indexes
            if index.unique and any(index.key(before) != index.key(after) for _, before, after in changes)
        ]
        moving = {row_id for row_id, *_ in changes} if keyed else set()
        for row_id, _, after in changes:
            if not keyed:
                break
            for index in keyed:
                others = [other for other in index.entries.get(index.key(after), ()) if other != row_id and other not in moving]
                if others:
                    writer.verify_unique(self.runtime, target.database_id, row_id, after)
        if keyed:
            for index in keyed:
                keys = [index.key(after) for _, _, after in changes]
                if len(set(keys)) != len(keys):
                    from aglab.tsql.execute.writes import duplicate_error

                    seen: set[Any] = set()
                    for (_, _, after), key in zip(changes, keys, strict=True):
                        if key in seen:
                            raise duplicate_error(table, index, after)
                        seen.add(key)
        for row_id, before, after in changes:
            if writer.foreign:
                writer.verify_parents(after, "UPDATE")
            if writer.children:
                writer.verify_children(before, after, "UPDATE")
            self.change_row(table, name, row_id, after)

    def _compile_set(
        self,
        assignment: st.Assignment,
        table: Table,
        writer: TableWriter,
        compiler: ExpressionCompiler,
        bound: Bound,
        sets: list[tuple[int, Any]],
        variables: list[tuple[str, Any]],
    ) -> None:
        line = assignment.line
        if assignment.column:
            ordinal = self._ordinal(table, assignment.column, line)
            column = table.columns[ordinal]
            if column.computed is not None:
                raise error(271, column.name, line=line)
            if column.identity is not None:
                raise error(8102, column.name, line=line)
            if any(o == ordinal for o, _ in sets):
                raise error(264, column.name, line=line)
            if assignment.expression is None:
                default = writer.defaults[ordinal]
                sets.append((ordinal, default if default is not None else (lambda frame: None)))
                return
            from aglab.tsql.query.select import has_aggregate

            if has_aggregate(assignment.expression):
                raise error(157, line=line)
            node = assignment.expression
            if assignment.op != "=":
                node = ast.Binary(line, assignment.op[:-1], ast.ColumnRef(line, (bound.alias, column.name)), node)
            expr = compiler.value(node)
            change = assigner(expr.type, table, column, writer.shown)
            final = then(expr.fn, change)
            sets.append((ordinal, final))
            if assignment.variable:
                variables.append((assignment.variable.lower(), final))
            return
        key = assignment.variable.lower()
        sql_type = self.runtime.variables.types.get(key)
        if sql_type is None:
            raise error(137, assignment.variable, line=line)
        assert assignment.expression is not None
        node = assignment.expression
        if assignment.op != "=":
            node = ast.Binary(line, assignment.op[:-1], ast.Variable(line, assignment.variable), node)
        variables.append((key, compiler.converted(node, sql_type).fn))

    def _delete(self, s: st.Delete) -> Effects[Any]:
        self.session.command = "DELETE"
        yield from self.in_transaction(lambda: self._delete_rows(s))
        return None

    def _delete_rows(self, s: st.Delete) -> Effects[None]:
        target, source_node = self._locate(s)
        self.check_writable(target)
        if s.cursor:
            raise not_implemented("DELETE ... WHERE CURRENT OF", s.line)

        def build(context: CompileContext) -> Any:
            _, bound, tree, compiler, _ = self._rows_source(context, s, target, source_node)
            writer = self.writer(context, target)
            return (
                context,
                bound,
                tree,
                writer,
                self.output_plan(context, s.output, target.table, s.line),
                self._limit(compiler, s.top),
            )

        context, bound, tree, writer, output, top = self.cached(
            s, build, f"delete{id(target.table) if target.database is None else ''}"
        )

        def compute() -> tuple[Frame, list[int]]:
            frame = context.frame(self.runtime)
            limit = top(frame) if top is not None else None
            found: dict[int, None] = {}
            for _ in tree.iterate(frame):
                if limit is not None and len(found) >= limit:
                    break
                found[frame[bound.rid_slot]] = None
            return frame, list(found)

        while True:
            frame, found = yield from self.guarded(compute)
            if not (yield from self.lock_rows(target, found)):
                break

        def apply() -> list[Row]:
            return [row for row_id in found for row in self.delete_row(target, writer, frame, row_id, output)]

        shown = yield from self.guarded(apply)
        yield from self.finish(frame, output, shown, len(found), "DELETE")

    def delete_row(self, target: Target, writer: TableWriter, frame: Frame, row_id: int, output: OutputPlan | None) -> list[Row]:
        """Delete one row and what cascades from it."""
        before = target.table.rows.get(row_id)
        if before is None:
            return []
        if writer.children:
            cascades = writer.verify_children(before, None, "DELETE")
            for _, child, row_ids in cascades:
                child_target = Target(child, target.database)
                child_writer = self.writer(self.context(), child_target)
                for child_id in row_ids:
                    self.delete_row(child_target, child_writer, frame, child_id, None)
        self.change_row(target.table, target.database.name if target.database else "tempdb", row_id, None)
        return [output.row(frame, before, None)] if output is not None else []

    def _truncate(self, s: st.Truncate) -> Effects[Any]:
        try:
            target = self.target(ast.TableSource(s.line, parts=s.table))
        except Exception as problem:
            if getattr(problem, "number", 0) == 208:
                raise error(4701, s.table[-1], line=s.line) from None
            raise
        yield from self.in_transaction(lambda: self._truncate_rows(s, target))
        return None

    def _truncate_rows(self, s: st.Truncate, target: Target) -> Effects[None]:
        self.check_writable(target)
        table = target.table
        if target.database is not None:
            for other in target.database.tables():
                if other is not table and any(key.referenced.lower() == table.full_name.lower() for key in other.foreign_keys):
                    raise error(4712, table.full_name, line=s.line)
            yield from self.acquire(Resource("OBJECT", target.database_id, table.id), "Sch-M")
        rows, identity, last = table.rows, table.identity_next, table.identity_last

        def undo() -> None:
            table.replace_rows(rows)
            table.identity_next, table.identity_last = identity, last

        table.truncate()
        transaction = self.session.transaction
        assert transaction is not None
        change = SchemaChange("put", "truncate", table.full_name)
        transaction.add(Entry(target.database.name if target.database else "tempdb", table, 0, None, None, change, undo, 400))
        yield Done(None, "", self.in_procedure)


def _cell(slot: int, ordinal: int) -> Callable[[Frame], Any]:
    return lambda frame: frame[slot][ordinal]


class _Default:
    """The place of DEFAULT in a row of VALUES."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 0


DEFAULT_CELL = _Default()


class ReadyColumn(OutColumn):
    """A column whose values are already converted to the target's type."""

    ready = True


def _column(column: OutColumn) -> Any:
    from aglab.core.sqltypes import Column

    return Column(column.name, column.type, column.nullable)


def _find_source(node: ast.Source, parts: tuple[str, ...]) -> ast.TableSource | None:
    """The table source in FROM that a target name means: by alias first, then by name."""
    tables: list[ast.TableSource] = []

    def walk(item: ast.Source | None) -> None:
        if isinstance(item, ast.JoinSource):
            walk(item.left)
            walk(item.right)
        elif isinstance(item, ast.TableSource):
            tables.append(item)

    walk(node)
    name = parts[-1].lower()
    if len(parts) == 1:
        for table in tables:
            if table.alias.lower() == name:
                return table
    for table in tables:
        if table.parts[-1].lower() == name:
            return table
    return None
