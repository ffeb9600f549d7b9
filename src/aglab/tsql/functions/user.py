"""User-defined functions: scalar, inline and multi-statement table-valued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.tsql import ast
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr, OutColumn
from aglab.tsql.runtime import Variables
from aglab.tsql.store.database import Database, Module

MAX_DEPTH = 32


def scalar_function(compiler: Any, node: ast.Call) -> Expr:
    """schema.function(args): runs the body in a scope of its own."""
    from aglab.tsql.query.binder import Binder

    context = compiler.context
    database, schema = Binder(compiler.planner, compiler.scope).resolve(node.parts, node.line)
    module = database.find(schema, node.parts[-1])
    if not isinstance(module, Module) or module.kind != "function" or module.definition.returns is None:
        raise error(4121, node.parts[-2], ".".join(node.parts), line=node.line)
    definition = module.definition
    arguments = arguments_of(compiler, definition, node.args, module, node.line)
    returns = definition.returns
    functions = [expr.fn for expr in arguments]
    refs = frozenset().union(*(expr.refs for expr in arguments)) if arguments else frozenset()
    context.volatile = True

    def run(frame: Any) -> Any:
        return call_function(frame[0], module, database, [fn(frame) for fn in functions])

    return Expr(run, returns, refs)


def arguments_of(compiler: Any, definition: Any, args: list[ast.Node], module: Module, line: int) -> list[Expr]:
    """The compiled arguments of a function call in order of its parameters."""
    parameters = definition.parameters
    if len(args) > len(parameters):
        raise error(8144, module.full_name, line=line)
    if len(args) < len(parameters):
        raise error(313, module.full_name, line=line)
    result = []
    for arg, parameter in zip(args, parameters, strict=True):
        if isinstance(arg, ast.Call) and arg.name == "DEFAULT":
            arg = parameter.default or ast.Literal(line, None, None)
        result.append(compiler.converted(arg, parameter.type))
    return result


def call_function(runtime: Any, module: Module, database: Database, values: list[Any]) -> Any:
    """Run a scalar function's body and return its value."""
    from aglab.tsql.interpreter import run_function

    if runtime.nesting + runtime.function_depth >= MAX_DEPTH:
        raise error(217)
    return run_function(runtime, module, database, values)


def table_function(
    compiler: Any, module: Module, database: Database, node: ast.FunctionSource
) -> tuple[list[OutColumn], Callable[[Any], list[tuple[Any, ...]]], frozenset[int]]:
    """Rows of a table-valued function in FROM."""
    from aglab.tsql.query.planner import Planner
    from aglab.tsql.query.scope import CompileContext

    definition = module.definition
    arguments = arguments_of(compiler, definition, node.args, module, node.line)
    refs = frozenset().union(*(expr.refs for expr in arguments)) if arguments else frozenset()
    functions = [expr.fn for expr in arguments]
    names = [parameter.name.lower() for parameter in definition.parameters]
    compiler.context.volatile = True
    if definition.returns_query is not None:
        variables = Variables(types={p.name.lower(): p.type for p in definition.parameters})
        inner = CompileContext(
            compiler.context.host, compiler.context.session, database, variables, depth=compiler.context.depth + 1
        )
        if inner.depth > MAX_DEPTH:
            raise error(217)
        plan = Planner(inner).query(definition.returns_query, None)

        def inline_rows(frame: Any) -> list[tuple[Any, ...]]:
            from dataclasses import replace

            values = Variables(dict(zip(names, [fn(frame) for fn in functions], strict=True)), variables.types)
            return plan.rows(inner.frame(replace(frame[0], variables=values)))

        return plan.columns, inline_rows, refs
    columns = [OutColumn(c.name, c.type, c.nullable is not False) for c in definition.returns_table[1]]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        return call_function(frame[0], module, database, [fn(frame) for fn in functions])

    return columns, rows, refs
