"""What drivers ask before they run a statement: sp_describe_first_result_set, sp_describe_undeclared_parameters."""

from __future__ import annotations

import dataclasses
from typing import Any

from aglab.core.sqltypes import BIGINT, BIT, INT, SMALLINT, TINYINT, SqlType, nvarchar, varbinary
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.catalog.type_ids import TYPE_IDS, type_facts
from aglab.tsql.execute.calls import declare
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.procedures.dynamic import parse_declaration
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import CompileContext, OutColumn, Scope
from aglab.tsql.runtime import Variables
from aglab.tsql.store.user_types import TypeBook

_TDS_IDS = {
    "bit": 104,
    "tinyint": 38,
    "smallint": 38,
    "int": 38,
    "bigint": 38,
    "real": 109,
    "float": 109,
    "decimal": 106,
    "numeric": 108,
    "money": 110,
    "smallmoney": 110,
    "date": 40,
    "time": 41,
    "datetime2": 42,
    "datetimeoffset": 43,
    "datetime": 111,
    "smalldatetime": 111,
    "uniqueidentifier": 36,
    "varchar": 167,
    "char": 175,
    "nvarchar": 231,
    "nchar": 239,
    "varbinary": 165,
    "binary": 173,
    "text": 35,
    "ntext": 99,
    "image": 34,
    "xml": 241,
    "sql_variant": 98,
}
_NAME = nvarchar(128)


def _context(executor: Any, variables: Variables) -> CompileContext:
    runtime = executor.runtime
    return CompileContext(runtime.host, executor.session, runtime.database, variables)


def first_result(executor: Any, text: str, declaration: str | None) -> list[OutColumn]:
    """The columns of the first result set a batch gives; an empty list when it gives none."""
    variables = Variables()
    book = TypeBook(executor.runtime.instance, executor.session.database)
    for name, sql_type, _, table in parse_declaration(declaration, book):
        if table is None or table.table is None:
            variables.types[name.lower()] = sql_type
        else:
            variables.tables[name.lower()] = table.table
    return first_of(executor, executor.interpreter.parse(text), variables)


def first_of(executor: Any, body: list[st.Statement], variables: Variables) -> list[OutColumn]:
    """The columns of the first result set of parsed statements."""
    declare(body, variables)
    for statement in body:
        if isinstance(statement, st.QueryStatement):
            plan = Planner(_context(executor, variables)).query(statement.query, None)
            if plan.assignments is None:
                return plan.columns
        if (
            isinstance(statement, (st.Insert, st.Update, st.Delete, st.Merge))
            and statement.output is not None
            and statement.output.into is None
        ):
            table = executor.target(statement.target).table
            output = executor.output_plan(_context(executor, variables), statement.output, table, statement.line)
            return output.columns if output is not None else []
    return []


def described(found: list[OutColumn]) -> list[tuple[Any, ...]]:
    """The rows of sp_describe_first_result_set."""
    rows: list[tuple[Any, ...]] = []
    for ordinal, column in enumerate(found, 1):
        system, _, length, precision, scale = type_facts(column.type)
        text = column.type.name in ("char", "varchar", "nchar", "nvarchar", "text", "ntext")
        rows.append(
            (
                False,
                ordinal,
                column.name or None,
                column.nullable,
                system,
                str(column.type),
                length,
                precision,
                scale,
                "SQL_Latin1_General_CP1_CI_AS" if text else None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                False,
                column.sensitive,
                False,
                None,
                None,
                None,
                None,
                None,
                column.identity,
                None,
                not column.identity,
                False,
                False,
                None,
                None,
                None,
                _TDS_IDS.get(column.type.name, system),
                length if length > 0 else 65535,
                13632521 if text else None,
                52 if text else None,
            )
        )
    return rows


@procedure("sp_describe_first_result_set")
def sp_describe_first_result_set(executor: Any, arguments: Any) -> Any:
    """@tsql, @params, @browse_information_mode"""
    found = first_result(executor, str(arguments.required("@tsql", 0) or ""), arguments.value("@params", 1))
    columns = [
        OutColumn("is_hidden", BIT, False),
        OutColumn("column_ordinal", INT, False),
        OutColumn("name", _NAME),
        OutColumn("is_nullable", BIT, False),
        OutColumn("system_type_id", INT, False),
        OutColumn("system_type_name", nvarchar(256)),
        OutColumn("max_length", SMALLINT, False),
        OutColumn("precision", TINYINT, False),
        OutColumn("scale", TINYINT, False),
        OutColumn("collation_name", _NAME),
        OutColumn("user_type_id", INT),
        OutColumn("user_type_database", _NAME),
        OutColumn("user_type_schema", _NAME),
        OutColumn("user_type_name", _NAME),
        OutColumn("assembly_qualified_type_name", nvarchar(4000)),
        OutColumn("xml_collection_id", INT),
        OutColumn("xml_collection_database", _NAME),
        OutColumn("xml_collection_schema", _NAME),
        OutColumn("xml_collection_name", _NAME),
        OutColumn("is_xml_document", BIT, False),
        OutColumn("is_case_sensitive", BIT, False),
        OutColumn("is_fixed_length_clr_type", BIT, False),
        OutColumn("source_server", _NAME),
        OutColumn("source_database", _NAME),
        OutColumn("source_schema", _NAME),
        OutColumn("source_table", _NAME),
        OutColumn("source_column", _NAME),
        OutColumn("is_identity_column", BIT),
        OutColumn("is_part_of_unique_key", BIT),
        OutColumn("is_updateable", BIT),
        OutColumn("is_computed_column", BIT),
        OutColumn("is_sparse_column_set", BIT),
        OutColumn("ordinal_in_order_by_list", SMALLINT),
        OutColumn("order_by_list_length", SMALLINT),
        OutColumn("order_by_is_descending", SMALLINT),
        OutColumn("tds_type_id", INT, False),
        OutColumn("tds_length", INT, False),
        OutColumn("tds_collation_id", INT),
        OutColumn("tds_collation_sort_id", TINYINT),
    ]
    yield from executor.send(columns, described(found))
    return 0


@procedure("sp_describe_undeclared_parameters")
def sp_describe_undeclared_parameters(executor: Any, arguments: Any) -> Any:
    """@tsql, @params: a type for each variable that the text uses and nobody declares."""
    text = str(arguments.required("@tsql", 0) or "")
    book = TypeBook(executor.runtime.instance, executor.session.database)
    known = {name.lower() for name, *_ in parse_declaration(arguments.value("@params", 1), book)}
    body = executor.interpreter.parse(text)
    declared = Variables()
    declare(body, declared)
    names: dict[str, str] = {}
    _collect(body, names)
    columns = [
        OutColumn("parameter_ordinal", INT, False),
        OutColumn("name", _NAME, False),
        OutColumn("suggested_system_type_id", INT, False),
        OutColumn("suggested_system_type_name", nvarchar(256)),
        OutColumn("suggested_max_length", SMALLINT, False),
        OutColumn("suggested_precision", TINYINT, False),
        OutColumn("suggested_scale", TINYINT, False),
        OutColumn("suggested_user_type_id", INT),
        OutColumn("suggested_user_type_database", _NAME),
        OutColumn("suggested_user_type_schema", _NAME),
        OutColumn("suggested_user_type_name", _NAME),
        OutColumn("suggested_assembly_qualified_type_name", nvarchar(4000)),
        OutColumn("suggested_xml_collection_id", INT),
        OutColumn("suggested_xml_collection_database", _NAME),
        OutColumn("suggested_xml_collection_schema", _NAME),
        OutColumn("suggested_xml_collection_name", _NAME),
        OutColumn("suggested_is_xml_document", BIT, False),
        OutColumn("suggested_is_case_sensitive", BIT, False),
        OutColumn("suggested_is_fixed_length_clr_type", BIT, False),
        OutColumn("suggested_is_input", BIT, False),
        OutColumn("suggested_is_output", BIT, False),
        OutColumn("formal_parameter_name", _NAME),
        OutColumn("suggested_tds_type_id", INT, False),
        OutColumn("suggested_tds_length", INT, False),
    ]
    rows: list[tuple[Any, ...]] = []
    for key, name in names.items():
        if key in known or key in declared.types or key in declared.tables:
            continue
        sql_type = _suggest(executor, body, key)
        system, _, length, precision, scale = type_facts(sql_type)
        rows.append(
            (
                len(rows) + 1,
                name,
                system,
                str(sql_type),
                length,
                precision,
                scale,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                False,
                False,
                False,
                True,
                False,
                None,
                _TDS_IDS.get(sql_type.name, system),
                length if length > 0 else 65535,
            )
        )
    yield from executor.send(columns, rows)
    return 0


def _collect(node: Any, names: dict[str, str]) -> None:
    if isinstance(node, ast.Variable) and not node.name.startswith("@@"):
        names.setdefault(node.name.lower(), node.name)
    if isinstance(node, ast.Node) or dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):  # type: ignore[arg-type]
            if field.name != "plan":
                _collect(getattr(node, field.name), names)
    elif isinstance(node, (list, tuple)):
        for item in node:
            _collect(item, names)


def _suggest(executor: Any, body: list[st.Statement], key: str) -> SqlType:
    """The type of what the variable is compared with or stored into; nvarchar(4000) where nothing tells."""
    for statement in body:
        found = _from_insert(executor, statement, key) or _from_compare(executor, statement, key)
        if found is not None:
            return found
    return nvarchar(4000)


def _is(node: Any, key: str) -> bool:
    return isinstance(node, ast.Variable) and node.name.lower() == key


def _from_insert(executor: Any, statement: Any, key: str) -> SqlType | None:
    try:
        if isinstance(statement, st.Insert) and isinstance(statement.query, ast.Values):
            table = executor.target(statement.target).table
            columns = statement.columns or [c.name for c in table.columns if c.identity is None and c.computed is None]
            for row in statement.query.rows:
                for name, cell in zip(columns, row, strict=False):
                    ordinal = table.ordinal(name)
                    if _is(cell, key) and ordinal is not None:
                        return table.columns[ordinal].type
        if isinstance(statement, st.Update):
            table = executor.target(statement.target).table
            for assignment in statement.assignments:
                ordinal = table.ordinal(assignment.column)
                if _is(assignment.expression, key) and ordinal is not None:
                    return table.columns[ordinal].type
    except TsqlError:
        return None
    return None


def _from_compare(executor: Any, statement: Any, key: str) -> SqlType | None:
    source: ast.Source | None = statement.target if isinstance(statement, (st.Update, st.Delete)) else None
    where = getattr(statement, "where", None)
    if isinstance(statement, st.QueryStatement) and isinstance(statement.query, ast.Select):
        source, where = statement.query.source, statement.query.where
    if source is None or where is None:
        return None
    from aglab.tsql.query.binder import Binder

    context = _context(executor, Variables())
    scope = Scope()
    planner = Planner(context)
    try:
        Binder(planner, scope).bind(source)
    except TsqlError:
        return None
    compiler = ExpressionCompiler(context, scope, planner)

    def search(node: Any) -> SqlType | None:
        pairs: list[tuple[Any, Any]] = []
        if isinstance(node, ast.Compare):
            pairs = [(node.left, node.right), (node.right, node.left)]
        elif isinstance(node, ast.Like):
            pairs = [(node.pattern, node.operand)]
        elif isinstance(node, ast.Between):
            pairs = [(node.low, node.operand), (node.high, node.operand)]
        elif isinstance(node, ast.In) and node.items:
            pairs = [(item, node.operand) for item in node.items]
        for mine, other in pairs:
            if _is(mine, key):
                try:
                    return compiler.value(other).type
                except TsqlError:
                    return None
        if isinstance(node, ast.Logical):
            return search(node.left) or search(node.right)
        return search(node.operand) if isinstance(node, ast.Not) else None

    return search(where)


_ = (BIGINT, TYPE_IDS, error, varbinary)
