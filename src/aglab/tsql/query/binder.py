"""FROM: from names to bound sources. User tables, views, functions, system views, derived tables, table variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglab.tsql import ast
from aglab.tsql.column_permissions import refused_columns
from aglab.tsql.host import Wanted
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.joins import Conjunct, conjuncts
from aglab.tsql.query.scope import Bound, Frame, OutColumn, Scope
from aglab.tsql.query.sources import Rows, RowSource, TableScan
from aglab.tsql.query.view_source import ViewRows
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.partitions import is_online
from aglab.tsql.store.table import Row, Table

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan, Planner

SYSTEM_SCHEMAS = ("sys", "information_schema")


class Binder:
    """Binds the sources of one FROM clause into a scope."""

    def __init__(self, planner: Planner, scope: Scope) -> None:
        self.planner = planner
        self.context = planner.context
        self.scope = scope
        self.sources: dict[int, tuple[RowSource, Bound]] = {}
        self.on: dict[int, list[Conjunct]] = {}
        self.lateral = False  # the right side of APPLY sees its left siblings; other derived tables do not
        self.compiler = ExpressionCompiler(self.context, scope, planner)

    def bind(self, node: ast.Source) -> None:
        """Bind a source and everything below it, left to right."""
        if isinstance(node, ast.JoinSource):
            assert node.left is not None and node.right is not None
            first = len(self.scope.sources)
            self.bind(node.left)
            before = len(self.scope.sources)
            saved, self.lateral = self.lateral, "APPLY" in node.kind
            self.bind(node.right)
            self.lateral = saved
            self._may_be_missing(node.kind, self.scope.sources[first:before], self.scope.sources[before:])
            if node.on is not None:
                self.on[id(node)] = conjuncts(self.compiler, node.on)
            return
        if isinstance(node, ast.TableSource):
            source, bound = self._table(node)
        elif isinstance(node, ast.QuerySource):
            assert node.query is not None
            plan = self.planner.subquery(node.query, self.scope if self.lateral else self.scope.parent)
            source, bound = self._derived(node, plan, node.alias)
        elif isinstance(node, ast.FunctionSource):
            source, bound = self._function(node)
        else:
            assert isinstance(node, ast.PivotSource)
            from aglab.tsql.query.pivot import pivot_plan

            source, bound = self._derived(node, pivot_plan(self.planner, node, self.scope), node.alias)
        for other in self.scope.sources:
            if not bound.alias or other.alias.lower() != bound.alias.lower():
                continue
            if _same_parts(other.parts, bound.parts) or node.alias:  # an alias is said once
                raise error(
                    1011 if node.alias else 1013,
                    bound.alias,
                    bound.alias,
                    line=node.line,
                )
        self.sources[id(node)] = (source, bound)
        self.scope.sources.append(bound)

    @staticmethod
    def _may_be_missing(kind: str, left: list[Bound], right: list[Bound]) -> None:
        """The side of an outer join that may have no row: its columns promise nothing."""
        missing = {"LEFT": right, "OUTER APPLY": right, "RIGHT": left, "FULL": [*left, *right]}.get(kind, [])
        for bound in missing:
            bound.columns = [replace(column, nullable=True) for column in bound.columns]

    # --- derived rows -------------------------------------------------------------------------------------------------------

    def _derived(self, node: ast.Source, plan: Plan, alias: str) -> tuple[RowSource, Bound]:
        from aglab.tsql.query.planner import named_columns

        columns = (
            named_columns(plan.columns, node.column_aliases, alias or "?", node.line)
            if not isinstance(node, ast.PivotSource)
            else plan.columns
        )
        return self._rows(columns, plan.rows, alias, (), not plan.outer_refs)

    def _rows(
        self, columns: list[OutColumn], rows: Any, alias: str, parts: tuple[str, ...], cache: bool
    ) -> tuple[RowSource, Bound]:
        slot = self.context.slot()
        bound = Bound(alias, parts, columns, slot)
        return Rows(slot, len(columns), rows, self.context.slot() if cache else 0), bound

    # --- tables and views ---------------------------------------------------------------------------------------------------

    def _table(self, node: ast.TableSource) -> tuple[RowSource, Bound]:
        name = node.parts[-1]
        if name.startswith("@"):
            return self._table_variable(node)
        if len(node.parts) == 1:
            binding = self.planner.ctes.get(name.lower())
            if binding is not None:
                if binding.working_slot:
                    slot = binding.working_slot
                    self.scope.outer_refs.add(slot)
                    scope = self.scope.parent
                    while scope is not None:
                        scope.outer_refs.add(slot)
                        scope = scope.parent
                    assert binding.columns is not None
                    return self._rows(binding.columns, lambda frame: frame[slot] or [], node.alias or name, (), False)
                plan = self.planner.cte_plan(binding, self.scope)
                return self._rows(plan.columns, plan.rows, node.alias or name, (), not plan.outer_refs)
        if name.startswith("#"):
            return self._temporary(node)
        database, schema = self.resolve(node.parts, node.line)
        system = self._system_view(node, database, schema)
        if system is not None:
            return system
        item = database.find(schema, name)
        if item is None or (isinstance(item, Module) and item.kind != "view"):
            raise error(208, ".".join(node.parts), line=node.line)
        if isinstance(item, Module):
            return self._view(node, item, database)
        return self.scan(node, item, database.id, True, (database.name, item.schema, item.name))

    def scan(
        self, node: ast.TableSource, table: Table, database_id: int, shared: bool, parts: tuple[str, ...]
    ) -> tuple[TableScan, Bound]:
        """A scan of a table that is known now."""
        if shared:
            self.context.host.check_access(parts[0], self.context.session, False)
            database = self.context.instance.database(parts[0])
            if database is not None and not is_online(database, table):
                raise error(8653, table.name, line=node.line)
        bound = self._bound_table(node, table, parts)
        if shared and table is not self.context.target:
            self._permitted(bound)
        return TableScan(bound, lambda frame: table, node.hints, database_id, shared), bound

    def _permitted(self, bound: Bound) -> None:
        """SELECT on a table or view, but for what a module of dbo reads. Errors 916, 229; 230 when a closed column is read."""
        context = self.context
        if context.session.is_sysadmin or context.chained or context.depth:
            return
        database = context.instance.database(bound.parts[0])
        if database is not None:
            names = [column.name for column in bound.columns]
            _, schema, name = bound.parts
            bound.refused = refused_columns(context.instance, context.session, database, "SELECT", schema, name, names)

    def _bound_table(self, node: ast.TableSource, table: Table, parts: tuple[str, ...]) -> Bound:
        columns = [OutColumn(c.name, c.type, c.nullable, c.case_sensitive, c.identity is not None) for c in table.columns]
        return Bound(node.alias or node.parts[-1], parts, columns, self.context.slot(), self.context.slot(), table)

    def _temporary(self, node: ast.TableSource) -> tuple[RowSource, Bound]:
        self.context.volatile = True
        table = self.context.session.temp_tables.get(node.parts[-1].lower())
        if table is None:
            raise error(208, node.parts[-1], line=node.line)
        return self.scan_private(node, table)

    def scan_private(self, node: ast.TableSource, table: Table) -> tuple[TableScan, Bound]:
        """A scan of a table that only this session sees."""
        bound = self._bound_table(node, table, ("tempdb", table.schema, node.parts[-1]))
        return TableScan(bound, lambda frame: table, node.hints, 2, False), bound

    def _table_variable(self, node: ast.TableSource) -> tuple[RowSource, Bound]:
        name = node.parts[-1].lower()
        table = self.context.variables.tables.get(name)
        if table is None:
            raise error(1087, node.parts[-1], line=node.line)
        bound = self._bound_table(node, table, ("", "", node.parts[-1]))
        bound.alias = node.alias or node.parts[-1]
        return TableScan(bound, lambda frame: frame[0].variables.tables[name], frozenset(), 2, False), bound

    def resolve(self, parts: tuple[str, ...], line: int) -> tuple[Database, str]:
        """The database and schema that a name of up to four parts means. Raises 208 or 911."""
        database = self.context.database
        schema = parts[-2] if len(parts) > 1 else ""
        if len(parts) == 4 and parts[0].lower() != self.context.instance.name.lower():
            raise error(7202, parts[0], line=line)
        if len(parts) > 2 and parts[-3]:
            found = self.context.instance.database(parts[-3])
            if found is None:
                raise error(208, ".".join(parts), line=line)
            database = found
        return database, schema

    def _view(self, node: ast.TableSource, module: Module, database: Database) -> tuple[RowSource, Bound]:
        from aglab.tsql.query.planner import Planner, named_columns

        self.context.depth += 1
        if self.context.depth > 32:
            raise error(217, line=node.line)
        saved = self.context.database
        self.context.database = database
        try:
            definition = module.definition
            plan = Planner(self.context).query(definition.returns_query, None)
        finally:
            self.context.database = saved
            self.context.depth -= 1
        columns = named_columns(plan.columns, definition.columns, module.name, node.line)
        found = self._rows(columns, plan.rows, node.alias or module.name, (database.name, module.schema, module.name), True)
        self._permitted(found[1])
        return found

    def _system_view(self, node: ast.TableSource, database: Database, schema: str) -> tuple[RowSource, Bound] | None:
        from aglab.tsql.catalog.registry import find_view, view_rows

        in_msdb = database.system == "msdb" and schema.lower() in ("", "dbo")
        view = (find_view("msdb", node.parts[-1]) if in_msdb else None) or find_view(schema, node.parts[-1])
        if view is None:
            if schema.lower() in SYSTEM_SCHEMAS:
                raise error(208, ".".join(node.parts), line=node.line)
            return None
        if view.parameters is not None:
            raise error(216, node.parts[-1], line=node.line)
        columns = [OutColumn(c.name, c.type, c.nullable) for c in view.columns]

        def rows(frame: Frame, wanted: Wanted) -> list[Row]:
            return view_rows(frame[0], view, (), database, wanted)

        parts = (database.name, "dbo" if view.schema == "msdb" else view.schema, view.name)
        slot = self.context.slot()
        bound = Bound(node.alias or node.parts[-1], parts, columns, slot)
        return ViewRows(slot, view.names, rows, self.context.slot()), bound

    # --- functions ----------------------------------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionSource) -> tuple[RowSource, Bound]:
        from aglab.tsql.catalog.registry import find_view, view_rows
        from aglab.tsql.functions.tables import TABLE_FUNCTIONS

        name = node.parts[-1]
        schema = node.parts[-2] if len(node.parts) > 1 else ""
        builder = TABLE_FUNCTIONS.get(name.lower()) if len(node.parts) == 1 else None
        alias = node.alias or name
        if builder is not None:
            columns, rows, refs = builder(self.compiler, node)
            self.scope.outer_refs |= self._outer(refs)
            return self._aliased(node, columns, rows, alias, not refs)
        view = find_view(schema or "sys", name)
        if view is not None and view.parameters is not None and (schema.lower() == "sys" or name.lower().startswith("fn_")):
            database, _ = self.resolve(node.parts, node.line)
            if len(node.args) < len(view.parameters) and len(node.args) < view.required:
                raise error(313, ".".join(node.parts), line=node.line)
            if len(node.args) > len(view.parameters):
                raise error(8144, ".".join(node.parts), line=node.line)
            arguments = [
                self.compiler.converted(arg, parameter, explicit=False)
                for arg, parameter in zip(node.args, view.parameters, strict=False)
                if not (isinstance(arg, ast.Call) and arg.name == "DEFAULT")
            ]
            functions = [expr.fn for expr in arguments]
            missing = (None,) * (len(view.parameters) - len(functions))

            def function_rows(frame: Frame) -> list[Row]:
                return view_rows(frame[0], view, tuple(fn(frame) for fn in functions) + missing, database)

            refs = frozenset().union(*(expr.refs for expr in arguments)) if arguments else frozenset()
            self.scope.outer_refs |= self._outer(refs)
            columns = [OutColumn(c.name, c.type, c.nullable) for c in view.columns]
            return self._aliased(node, columns, function_rows, alias, not refs)
        return self._user_function(node, alias)

    def _outer(self, refs: frozenset[int]) -> set[int]:
        own = self.scope.own_slots()
        return {ref for ref in refs if ref not in own}

    def _aliased(self, node: ast.Source, columns: list[OutColumn], rows: Any, alias: str, cache: bool) -> tuple[RowSource, Bound]:
        from aglab.tsql.query.planner import named_columns

        if node.column_aliases:
            columns = named_columns(columns, node.column_aliases, alias, node.line)
        return self._rows(columns, rows, alias, (), cache)

    def _user_function(self, node: ast.FunctionSource, alias: str) -> tuple[RowSource, Bound]:
        from aglab.tsql.functions.user import table_function

        database, schema = self.resolve(node.parts, node.line)
        module = database.find(schema, node.parts[-1])
        if not isinstance(module, Module) or module.kind != "function":
            raise error(208, ".".join(node.parts), line=node.line)
        if module.definition.returns is not None:
            raise not_implemented(f"a scalar function in FROM ({module.full_name})", node.line)
        columns, rows, refs = table_function(self.compiler, module, database, node)
        self.scope.outer_refs |= self._outer(refs)
        return self._aliased(node, columns, rows, alias, not refs)


def _same_parts(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return [p.lower() for p in a] == [p.lower() for p in b] or not a or not b
