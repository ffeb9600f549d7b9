"""sp_executesql and prepared statements: sp_prepare, sp_execute, sp_prepexec, sp_unprepare; application locks."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, SqlType
from aglab.tsql.execute.calls import Argument, to_parameter
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.statements import Parser
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.runtime import Variables
from aglab.tsql.store.user_types import TypeBook, UserType

Declared = list[tuple[str, SqlType, bool, UserType | None]]


def parse_declaration(text: str | None, types: TypeBook | None = None) -> Declared:
    """``@a int, @b nvarchar(10) OUTPUT, @c dbo.T READONLY`` as (name, type, output, table type)."""
    if not text or not text.strip():
        return []
    parser = Parser(text, types)
    parameters: Declared = []
    while True:
        name = parser.variable()
        parser.accept("AS")
        sql_type = parser.data_type(len(parameters) + 1, "parameter")
        table = parser.user_type if parser.user_type is not None and parser.user_type.is_table else None
        if parser.accept("="):
            parser.expression()
        words: set[str] = set()
        while parser.at("OUTPUT", "OUT", "READONLY"):
            words.add(parser.advance().upper)
        if ("READONLY" in words) != (table is not None):
            raise error(346 if table is None else 352, name)
        parameters.append((name, sql_type, bool(words - {"READONLY"}), table))
        if not parser.accept(","):
            break
    if parser.token.kind != 11:
        raise parser.syntax_error()
    return parameters


TableArguments = list[tuple[str, UserType, Argument | None]]


def bind_parameters(
    text: str,
    declaration: str | None,
    arguments: list[Argument],
    types: TypeBook | None = None,
    tables: TableArguments | None = None,
) -> tuple[Variables, dict[str, Argument]]:
    """Declared variables with the arguments' values, by name or position. Errors 8144, 8145, 8178.

    Table-valued parameters go to ``tables``, for the caller to bind; without it they are refused (cursors take none).
    """
    variables = Variables()
    bound: dict[str, Argument] = {}
    parameters = parse_declaration(declaration, types)
    names = {name.lower() for name, *_ in parameters}
    for position, argument in enumerate(arguments):
        if argument.name and argument.name.lower() in names:
            key = argument.name.lower()
        elif argument.name and parameters:
            raise error(8145, argument.name, "")
        elif position < len(parameters):
            key = parameters[position][0].lower()
        else:
            raise error(8144, "")
        bound[key] = argument
    for name, sql_type, _, table in parameters:
        key = name.lower()
        given = bound.get(key)
        if table is not None:
            if tables is None:
                raise not_implemented("table-valued parameters of cursors")
            tables.append((name, table, given))
            continue
        if given is None or given.default:
            raise error(8178, f"({declaration}){text}"[:200], name)
        variables.types[key] = sql_type
        variables.values[key] = to_parameter(given, sql_type)
    return variables, {name.lower(): bound[name.lower()] for name, _, output, _ in parameters if output}


def run_parameterised(executor: Any, text: str, declaration: str | None, arguments: list[Argument]) -> Any:
    """Run text with parameters bound by name or position; output parameters go back into the arguments."""
    tables: TableArguments = []
    types = TypeBook(executor.runtime.instance, executor.session.database)
    variables, outputs = bind_parameters(text, declaration, arguments, types, tables)
    for name, kind, given in tables:
        yield from executor.bind_table(variables, name, kind, given)
    executor.runtime.nesting -= 1  # the system procedure itself is no level that @@NESTLEVEL counts twice
    yield from executor.run_text(text, variables)
    for key, argument in outputs.items():
        if argument.output:
            argument.set(variables.values[key], variables.types[key])


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise error(214, name, "ntext/nchar/nvarchar")
    return value


def _needs(items: list[Argument], name: str, *parameters: str) -> None:
    """Error 201 for the first parameter that is missing."""
    if len(items) < len(parameters):
        raise error(201, name, parameters[len(items)])


@procedure("sp_executesql")
def sp_executesql(executor: Any, arguments: Any) -> Any:
    """@stmt, @params, then the parameters."""
    items = arguments.items
    if not items:
        raise error(201, "sp_executesql", "@statement")
    statement = _text(items[0].value, "@statement")
    if items[0].type is not None and items[0].type.name in ("varchar", "char"):
        raise error(214, "@statement", "ntext/nchar/nvarchar")
    declaration = _text(items[1].value, "@params") if len(items) > 1 else ""
    yield from run_parameterised(executor, statement, declaration, items[2:])
    return executor.session.error


@procedure("sp_prepare")
def sp_prepare(executor: Any, arguments: Any) -> Any:
    """@handle OUTPUT, @params, @stmt: keeps a statement under a handle."""
    session = executor.session
    _needs(arguments.items, "sp_prepare", "@handle", "@params", "@stmt")
    declaration, statement = arguments.items[1].value, _text(arguments.items[2].value, "@stmt")
    parse_declaration(declaration, TypeBook(executor.runtime.instance, session.database))
    executor.interpreter.parse(statement)
    handle = session.next_handle
    session.next_handle += 1
    session.prepared[handle] = (declaration or "", statement)
    arguments.items[0].set(handle, INT)
    return 0
    yield


@procedure("sp_execute")
def sp_execute(executor: Any, arguments: Any) -> Any:
    """@handle, then the parameters."""
    handle = arguments.items[0].value if arguments.items else None
    prepared = executor.session.prepared.get(handle)
    if prepared is None:
        raise error(8179, handle)
    yield from run_parameterised(executor, prepared[1], prepared[0], arguments.items[1:])
    return 0


@procedure("sp_prepexec")
def sp_prepexec(executor: Any, arguments: Any) -> Any:
    """@handle OUTPUT (an old handle may come in), @params, @stmt, then the parameters: prepare and execute."""
    session, items = executor.session, arguments.items
    _needs(items, "sp_prepexec", "@handle", "@params", "@stmt")
    old = items[0].value
    if old is not None:
        session.prepared.pop(old, None)
    declaration, statement = items[1].value, _text(items[2].value, "@stmt")
    handle = session.next_handle
    session.next_handle += 1
    session.prepared[handle] = (declaration or "", statement)
    items[0].set(handle, INT)
    yield from run_parameterised(executor, statement, declaration, items[3:])
    return 0


@procedure("sp_unprepare")
def sp_unprepare(executor: Any, arguments: Any) -> Any:
    """@handle"""
    handle = arguments.items[0].value if arguments.items else None
    if executor.session.prepared.pop(handle, None) is None:
        raise error(8179, handle)
    return 0
    yield


@procedure("sp_reset_connection")
def sp_reset_connection(executor: Any, arguments: Any) -> Any:
    """What a pool sends between two users."""
    executor.rollback_all()
    executor.session.reset()
    return 0
    yield


@procedure("sp_getapplock")
def sp_getapplock(executor: Any, arguments: Any) -> Any:
    """@Resource, @LockMode, @LockOwner, @LockTimeout: 0 granted, 1 granted after waiting, -1 timed out, -3 deadlock victim."""
    from aglab.tsql.messages import TsqlError

    name = arguments.required("@Resource", 0)
    mode = str(arguments.required("@LockMode", 1)).upper()
    modes = {"SHARED": "S", "UPDATE": "U", "EXCLUSIVE": "X", "INTENTSHARED": "IS", "INTENTEXCLUSIVE": "IX"}
    if mode not in modes:
        raise error(15600, "sys.xp_userlock")
    session = executor.session
    timeout = arguments.value("@LockTimeout", 3)
    saved = session.options.lock_timeout_ms
    session.options.lock_timeout_ms = saved if timeout is None else int(timeout)
    resource = Resource("APPLICATION", executor.runtime.database.id, 0, str(name))
    owner = str(arguments.value("@LockOwner", 2) or "Transaction").upper()
    if owner == "TRANSACTION" and not session.trancount:
        raise error(15600, "sys.xp_userlock")
    try:
        waited = yield from executor.acquire(resource, modes[mode])
    except TsqlError as problem:
        return -3 if problem.number == 1205 else -1
    finally:
        session.options.lock_timeout_ms = saved
    if owner == "SESSION":
        executor.runtime.instance.locks.pinned.add((session.spid, resource))
    return 1 if waited else 0


@procedure("sp_releaseapplock")
def sp_releaseapplock(executor: Any, arguments: Any) -> Any:
    """@Resource"""
    resource = Resource("APPLICATION", executor.runtime.database.id, 0, str(arguments.required("@Resource", 0)))
    locks = executor.runtime.instance.locks
    if locks.mode_held(executor.session.spid, resource) is None:
        return -999
    locks.release(executor.session.spid, resource)
    return 0
    yield


@procedure("sp_set_session_context")
def sp_set_session_context(executor: Any, arguments: Any) -> Any:
    """@key, @value"""
    executor.session.session_context[str(arguments.required("@key", 0)).lower()] = arguments.value("@value", 1)
    return 0
    yield
