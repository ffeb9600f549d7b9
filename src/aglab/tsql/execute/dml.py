"""UPDATE, DELETE, TRUNCATE."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.derived_targets import Derived, find_derived, replace_source
from aglab.tsql.execute.inserts import InsertMixin
from aglab.tsql.execute.memory import refuse
from aglab.tsql.execute.selects import SelectMixin
from aglab.tsql.execute.targets import OutputPlan, Target, find_source
from aglab.tsql.execute.writes import TableWriter, assigner
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error
from aglab.tsql.query.binder import Binder
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.joins import JoinBuilder, conjuncts
from aglab.tsql.query.scope import Bound, CompileContext, Frame, Scope, then
from aglab.tsql.query.sources import Filter, RowSource, TableScan
from aglab.tsql.store.table import Row, Table
from aglab.tsql.transactions import Entry


class DmlMixin(InsertMixin, SelectMixin):
    """Statements about rows."""

    # --- SELECT -------------------------------------------------------------------------------------------------------------

    # --- targets ------------------------------------------------------------------------------------------------------------

    # --- OUTPUT -------------------------------------------------------------------------------------------------------------

    # --- INSERT -------------------------------------------------------------------------------------------------------------

    # --- UPDATE and DELETE --------------------------------------------------------------------------------------------------

    def _locate(self, s: st.Update | st.Delete) -> tuple[Target, ast.Source, Derived | None]:
        """The target and the FROM clause, in which the target may have an alias or be a query over the table."""
        derived = find_derived(s)
        if derived is not None:
            return self.target(derived.base), s.source or s.target, derived
        if s.source is not None:
            found = find_source(s.source, s.target.parts)
            if found is not None:
                return self.target(found), s.source, None
            source = ast.JoinSource(s.line, kind="CROSS", left=s.target, right=s.source)
            return self.target(s.target), source, None
        return self.target(s.target), s.target, None

    def _rows_source(
        self, context: CompileContext, s: st.Update | st.Delete, target: Target, source_node: ast.Source, derived: Derived | None
    ) -> tuple[Callable[[Frame], int], Bound, RowSource, ExpressionCompiler]:
        """What tells a row's number, the source that the target is, the rows, and what compiles expressions over them."""
        context.target = target.table
        planner = self.planner(context, s.ctes)
        scope = Scope()
        binder = Binder(planner, scope)
        node: ast.Source
        if derived is not None:
            planner.ctes.pop(derived.name.lower(), None)  # inside, the name means a table
            node = derived.node(s.line)
            source_node = node if derived.replaced is None else replace_source(source_node, derived.replaced, node)
        else:
            node = find_source(source_node, s.target.parts) or s.target
        binder.bind(source_node)
        source, bound = binder.sources[id(node)]
        slot, rid_slot = bound.slot, bound.rid_slot
        number: Callable[[Frame], int] = (lambda frame: frame[slot][-1]) if derived else (lambda frame: frame[rid_slot])
        if derived is None:
            assert isinstance(source, TableScan)
            source.for_update = True
            bound.used.update(range(len(bound.columns)))  # the row itself is changed: no index covers that
        compiler = ExpressionCompiler(context, scope, planner)
        wheres = conjuncts(compiler, s.where)
        builder = JoinBuilder(scope.own_slots(), binder.sources, binder.on)
        tree = builder.build(source_node, wheres, frozenset())
        for conjunct in wheres:
            if not conjunct.used:
                tree = Filter(tree, conjunct.expr.fn)
        return number, bound, tree, compiler

    @staticmethod
    def _found(frame: Frame, bound: Bound, tree: RowSource, target: Target, current: int | None) -> Iterator[None]:
        """The rows that qualify; with WHERE CURRENT OF the one row."""
        if current is None:
            yield from tree.iterate(frame)
        else:
            frame[bound.slot], frame[bound.rid_slot] = target.table.rows[current], current
            yield

    def _update(self, s: st.Update) -> Effects[Any]:
        self.session.command = "UPDATE"
        yield from self.in_transaction(lambda: self._update_rows(s))
        return None

    def _update_rows(self, s: st.Update) -> Effects[None]:
        target, source_node, derived = self._locate(s)
        self.check_writable(target, [one.column for one in s.assignments if one.column])
        current = (yield from self.current_row(s, target)) if s.cursor else None  # type: ignore[attr-defined]

        def build(context: CompileContext) -> Any:
            number, bound, tree, compiler = self._rows_source(context, s, target, source_node, derived)
            writer = self.writer(context, target)
            sets: list[tuple[int, Any]] = []
            variables: list[tuple[str, Any]] = []
            for assignment in s.assignments:
                self._compile_set(assignment, target.table, writer, compiler, bound, sets, variables, derived)
            return (
                context,
                number,
                bound,
                tree,
                writer,
                sets,
                variables,
                self.output_plan(context, s.output, target.table, s.line),
                self._limit(compiler, s.top),
            )

        context, number, bound, tree, writer, sets, variables, output, top = self.cached(s, build, f"update{self.mark(target)}")
        writer = writer.on(target.table)

        def compute() -> tuple[Frame, dict[int, list[Any]], dict[str, Any]]:
            frame = context.frame(self.runtime)
            found: dict[int, list[Any]] = {}
            limit = top(frame) if top is not None else None
            assigned: dict[str, Any] = {}
            for _ in self._found(frame, bound, tree, target, current):
                row_id = number(frame)
                if row_id in found:
                    continue
                if limit is not None and len(found) >= limit:
                    break
                cells = list(frame[bound.slot] if derived is None else target.table.rows[row_id])
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
        if current is not None:
            self.row_changed(s, target, current)  # type: ignore[attr-defined]
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
        derived: Derived | None = None,
    ) -> None:
        line = assignment.line
        if assignment.column:
            named = derived.base_column(assignment.column, table, line) if derived is not None else assignment.column
            ordinal = self._ordinal(table, named, line)
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
                node = ast.Binary(line, assignment.op[:-1], ast.ColumnRef(line, (bound.alias, assignment.column)), node)
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
        target, source_node, derived = self._locate(s)
        self.check_writable(target)
        current = (yield from self.current_row(s, target)) if s.cursor else None  # type: ignore[attr-defined]

        def build(context: CompileContext) -> Any:
            number, bound, tree, compiler = self._rows_source(context, s, target, source_node, derived)
            writer = self.writer(context, target)
            return (
                context,
                number,
                bound,
                tree,
                writer,
                self.output_plan(context, s.output, target.table, s.line),
                self._limit(compiler, s.top),
            )

        context, number, bound, tree, writer, output, top = self.cached(s, build, f"delete{self.mark(target)}")
        writer = writer.on(target.table)

        def compute() -> tuple[Frame, list[int]]:
            frame = context.frame(self.runtime)
            limit = top(frame) if top is not None else None
            found: dict[int, None] = {}
            for _ in self._found(frame, bound, tree, target, current):
                if limit is not None and len(found) >= limit:
                    break
                found[number(frame)] = None
            return frame, list(found)

        while True:
            frame, found = yield from self.guarded(compute)
            if not (yield from self.lock_rows(target, found)):
                break

        def apply() -> list[Row]:
            return [row for row_id in found for row in self.delete_row(target, writer, frame, row_id, output)]

        shown = yield from self.guarded(apply)
        if current is not None:
            self.row_changed(s, target, current)  # type: ignore[attr-defined]
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
        refuse(table, "statement", "TRUNCATE TABLE", s.line, 96)
        if target.database is not None:
            for other in target.database.tables():
                if other is not table and any(key.referenced.lower() == table.full_name.lower() for key in other.foreign_keys):
                    raise error(4712, table.full_name, line=s.line)
            yield from self.acquire(Resource("OBJECT", target.database_id, table.id), "Sch-M")
        if s.partitions:
            if target.database is None:
                raise error(7729, "truncate table", "table", table.name, line=s.line)
            yield from self.truncate_partitions(s, table, target.database)  # type: ignore[attr-defined]
            yield Done(None, "", self.in_procedure)
            return
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
