"""What every writing statement shares: the target table, its locks, OUTPUT, and storing one new row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import BIGINT, FLOAT, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.column_permissions import refused_columns
from aglab.tsql.effects import Columns, Rows
from aglab.tsql.execute.base import ESCALATION_ROWS, BaseExecutor, Effects
from aglab.tsql.execute.writes import TableWriter, assigner, make_writer
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.permissions import need_object
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import CteBinding, Planner
from aglab.tsql.query.scope import Bound, CompileContext, Frame, OutColumn, Scope
from aglab.tsql.store.database import Database
from aglab.tsql.store.partitions import is_online
from aglab.tsql.store.table import Row, Table


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


def find_source(node: ast.Source, parts: tuple[str, ...]) -> ast.TableSource | None:
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


class TargetMixin(BaseExecutor):
    """What every writing statement shares: the target table, its locks, OUTPUT, and storing one new row."""

    def target(self, node: ast.TableSource) -> Target:
        """The table that a name means, for writing. Errors 208, 259, 1087, and the node's own refusals."""
        name = node.parts[-1]
        if name.startswith("@"):
            table = self.runtime.variables.tables.get(name.lower())
            if table is None:
                raise error(1087, name, line=node.line)
            if name.lower() in self.runtime.variables.readonly:
                raise error(10700, name, line=node.line)
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

    @staticmethod
    def mark(target: Target) -> str:
        """What tells plans of one statement apart: a temporary table by itself; a table variable is the same in every call."""
        return "" if target.database is not None else target.variable or str(id(target.table))

    def check_writable(self, target: Target, changed: list[str] | None = None) -> None:
        """The database's own refusal: read-only, secondary role; and permission on the table, or on the columns changed."""
        if target.database is None:
            return
        self.runtime.host.check_access(target.database.name, self.session, True)
        if not self.session.is_sysadmin and not self.runtime.procedure_id:
            what = self.session.command if self.session.command in ("INSERT", "UPDATE", "DELETE") else "ALTER"
            table = target.table
            asked = (self.runtime.instance, self.session, target.database, what, table.schema, table.name)
            if changed is None:
                need_object(*asked)
            else:
                refused = refused_columns(*asked, [column.name for column in table.columns])
                for name in changed:
                    ordinal = table.ordinal(name)
                    if ordinal in refused:
                        raise refused[ordinal]
        if target.database.options["is_read_only"]:
            raise error(3906, target.database.name)
        if not is_online(target.database, target.table):
            raise error(8653, target.table.name)

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
            if target.variable:  # this call's table, not that of the call that compiled the statement
                target = Target(self.runtime.variables.tables[target.variable], None, target.variable)
                writer = writer.on(target.table)
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

    def insert_row(self, target: Target, writer: TableWriter, frame: Frame, provided: dict[int, Any]) -> tuple[int, Row]:
        """Insert one row: complete it, check it, store it."""
        row = writer.row(frame, provided, False)
        row_id = target.table.next_row_id
        writer.verify_unique(self.runtime, target.database_id, row_id, row)
        if writer.foreign:
            writer.verify_parents(row, "INSERT")
        self.change_row(target.table, target.database.name if target.database else "tempdb", row_id, row)
        return row_id, row

    def _limit(self, compiler: ExpressionCompiler, top: ast.Top | None) -> Any:
        if top is None:
            return None
        return compiler.converted(top.count, FLOAT if top.percent else BIGINT).fn
