"""The cursors that drivers open by RPC: sp_cursoropen, sp_cursorfetch, sp_cursoroption, sp_cursorclose and the prepared ones.

Sources: the pages of these procedures (SQL Server documentation), MS-TDS 2.2.6.6 (numbers), COLINFO and TABNAME there.
A result of an open or a fetch has a last column ROWSTAT: 1 the row was read, 2 it is missing, the other columns are then fillers.
A statement that no cursor can be opened on runs directly where ccopt has ALLOW_DIRECT (note 16954), otherwise it is error 16937;
EXECUTE of a procedure gives a snapshot of its rows. Left out: asynchronous population, TEXTPTR_ONLY and TEXTDATA (accepted).
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, Column, SqlType
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Browse, Columns, Rows
from aglab.tsql.execute.calls import Argument, to_parameter
from aglab.tsql.execute.cursor_model import DYNAMIC, FAST_FORWARD, KEYSET, OPTIMISTIC, READ_ONLY, SCROLL_LOCKS, STATIC, Cursor
from aglab.tsql.execute.cursors import HANDLES
from aglab.tsql.messages import error, info
from aglab.tsql.procedures.dynamic import _text, bind_parameters, parse_declaration, run_parameterised
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.keyset import locator
from aglab.tsql.store.user_types import TypeBook

FORWARD_ONLY = "FORWARD_ONLY"
SCROLL = {1: KEYSET, 2: DYNAMIC, 4: FORWARD_ONLY, 8: STATIC, 0x10: FAST_FORWARD}
SCROLL_BITS = {name: bit for bit, name in SCROLL.items()}
PARAMETERIZED, AUTO_FETCH, AUTO_CLOSE, CHECK_ACCEPTED = 0x1000, 0x2000, 0x4000, 0x8000
CONCURRENCY = {1: READ_ONLY, 2: SCROLL_LOCKS, 4: OPTIMISTIC, 8: OPTIMISTIC}
ALLOW_DIRECT = 0x2000
DIRECTIONS = {
    1: "FIRST",
    2: "NEXT",
    4: "PRIOR",
    8: "LAST",
    0x10: "ABSOLUTE",
    0x20: "RELATIVE",
    0x80: "REFRESH",
    0x200: "PRIOR_NOADJUST",
}
INFO, SKIP_UPDATE_CONCURRENCY = 0x100, 0x400
DEFAULT_ROWS = 20
ROWS_MAX = 100_000
ROWSTAT = Column("ROWSTAT", INT, False)
SUCCEEDED, MISSING = 1, 2
EXPRESSION, KEY, HIDDEN, DIFFERENT_NAME = 4, 8, 16, 32
AUTO_CLOSED, MOVED_TO_FIRST = 16, 2
RETURN_METADATA = 1


def _value(items: list[Argument], position: int, default: int = 0) -> int:
    """An int argument by position; NULL and a missing one are the default. Error 8114 where it is none."""
    if position >= len(items) or items[position].default or items[position].value is None:
        return default
    return int(to_parameter(items[position], INT))


def _set(items: list[Argument], position: int, value: int) -> None:
    if position < len(items):
        items[position].set(value, INT)


def _needs(items: list[Argument], name: str, count: int) -> None:
    if len(items) < count:
        raise error(16903, name)


def _statement(items: list[Argument], position: int, name: str) -> str:
    value = items[position].value
    if not isinstance(value, str):
        raise error(16902, name, "stmt")
    return value


def _cursor(executor: Any, items: list[Argument], name: str) -> Cursor:
    """The cursor of the handle in the first argument. Error 16909."""
    _needs(items, name, 1)
    handle = _value(items, 0)
    found: Cursor | None = executor.session.api_cursors.get(handle)
    if found is None:
        raise error(16909, name, handle & 0xFFFFFFFF)
    return found


# --- results ------------------------------------------------------------------------------------------------------------------


def _columns(cursor: Cursor, executor: Any) -> Columns:
    """COLMETADATA, TABNAME and COLINFO of a cursor."""
    columns = [Column(c.name, c.type, c.nullable, c.identity) for c in cursor.columns]
    if cursor.keyset is None:
        browse = Browse((), ((0, EXPRESSION, ""),) * len(columns) + ((0, EXPRESSION | HIDDEN, ""),))
    else:
        tables = cursor.keyset.tables(cursor._frame(executor))
        keys = [locator(table) for table in tables]
        described = []
        for column, origin in zip(cursor.columns, cursor.keyset.origins, strict=True):
            if origin is None:
                described.append((0, EXPRESSION, ""))
                continue
            number, ordinal = origin
            own, index = tables[number].columns[ordinal].name, keys[number]
            status = (KEY if index is not None and ordinal in index.columns else 0) | (
                DIFFERENT_NAME if own != column.name else 0
            )
            described.append((number + 1, status, own))
        browse = Browse(tuple(cursor.names), (*described, (0, EXPRESSION | HIDDEN, "")))
    return Columns((*columns, ROWSTAT), browse)


def _filler(column: Column) -> Any:
    """What stands in a missing row."""
    if column.nullable:
        return None
    from aglab.tsql.convert import converter

    name = column.type.name
    if name in ("binary", "varbinary", "image"):
        return b""
    zero = "1900-01-01" if "date" in name else "00:00" if name == "time" else "" if "char" in name or "text" in name else "0"
    if name == "uniqueidentifier":
        zero = "00000000-0000-0000-0000-000000000000"
    change = converter(SqlType("varchar", length=40), column.type, None, True)
    return zero if change is None else change(zero)


def _send(cursor: Cursor, executor: Any, rows: bool = True) -> Any:
    """The fetch buffer as a result, or no rows."""
    head = _columns(cursor, executor)
    yield head
    out = []
    for one in cursor.buffer if rows else ():
        if one.row is None:
            out.append((*[_filler(column) for column in head.columns[:-1]], MISSING))
        else:
            out.append((*one.row, SUCCEEDED))
    for start in range(0, len(out), 500):
        yield Rows(out[start : start + 500])
    yield executor.done(len(out), "SELECT")


# --- opening ------------------------------------------------------------------------------------------------------------------


def _selected(body: list[st.Statement]) -> ast.Query | None:
    """The query of a text that is one SELECT and no more: no INTO, no assignment."""
    if len(body) != 1 or not isinstance(body[0], st.QueryStatement):
        return None
    query = body[0].query
    if isinstance(query, ast.Select) and (query.into is not None or any(item.variable for item in query.items)):
        return None
    return query


def _make(executor: Any, query: ast.Query | None, text: str, scroll: int, concurrency: int) -> Cursor:
    asked = next((name for bit, name in SCROLL.items() if scroll & bit), KEYSET)
    return Cursor(
        next(HANDLES),
        "",
        query if query is not None else ast.Values(1),
        DYNAMIC if asked == FORWARD_ONLY else asked,
        scrollable=asked in (KEYSET, DYNAMIC, STATIC),
        concurrency=next((name for bit, name in CONCURRENCY.items() if concurrency & bit), ""),
        api=True,
        created=executor.runtime.now(),
        text=text,
    )


def _got(cursor: Cursor, scroll: int, concurrency: int) -> tuple[int, int]:
    """What scrollopt and ccopt become. Error 16955 where the client named what it takes and this is not among it."""
    kind = FORWARD_ONLY if cursor.kind == DYNAMIC and not cursor.scrollable else cursor.kind
    bit = SCROLL_BITS[kind]
    if scroll & CHECK_ACCEPTED and not scroll & bit and not scroll & (bit << 16):
        raise error(16955)
    control = next(b for b, name in CONCURRENCY.items() if name == cursor.concurrency)
    return bit, 8 if control == 4 and concurrency & 8 else control


def _open(executor: Any, text: str, declaration: str | None, bound: list[Argument], places: dict[str, Any]) -> Any:
    """Open a cursor on a text or run it directly; ``places``: the arguments cursor, scroll, concurrency and rows, or None."""
    scroll, concurrency, asked_rows = (
        _value([places[name]], 0) if places[name] is not None else 0 for name in ("scroll", "concurrency", "rows")
    )
    session = executor.session

    def tell(name: str, value: int) -> None:
        if places[name] is not None:
            places[name].set(value, INT)

    body = executor.interpreter.parse(text)
    query = _selected(body)
    called = body[0] if len(body) == 1 and isinstance(body[0], st.Execute) else None
    book = TypeBook(executor.runtime.instance, executor.session.database)
    variables, _ = bind_parameters(text, declaration, bound, book)
    cursor = _make(executor, query, text, scroll, concurrency)
    if called is not None:
        inner = executor.interpreter.executor(executor.runtime)
        inner.runtime.variables = variables
        columns, rows = yield from executor.interpreter.capture(inner, called)
        if columns:
            cursor.give(columns, rows)
    elif query is not None:
        cursor.variables = variables
        yield from cursor.open(executor)
    if not cursor.is_open:
        if not concurrency & ALLOW_DIRECT and called is None:
            raise error(16937)
        yield info(16954)
        tell("cursor", 0)
        tell("rows", 0)
        if called is None:
            yield from run_parameterised(executor, text, declaration, bound)
        return 0
    got = _got(cursor, scroll, concurrency)
    session.api_cursors[cursor.handle] = cursor
    session.every_cursor[cursor.handle] = cursor
    fetching = bool(scroll & AUTO_FETCH)
    if fetching:
        yield from cursor.fetch(executor, "NEXT", 0, min(asked_rows or DEFAULT_ROWS, ROWS_MAX))
    yield from _send(cursor, executor, fetching)
    tell("cursor", cursor.handle)
    tell("scroll", got[0])
    tell("concurrency", got[1])
    tell("rows", len(cursor.buffer) if fetching else cursor.rows)
    if fetching and scroll & AUTO_CLOSE and cursor.start + len(cursor.buffer) > len(cursor._members):
        _close(executor, cursor)
        return AUTO_CLOSED
    return 0


def _close(executor: Any, cursor: Cursor) -> None:
    session = executor.session
    if cursor.is_open:
        cursor.close(executor)
    session.api_cursors.pop(cursor.handle, None)
    for name in [name for name, one in session.cursors.items() if one is cursor]:
        del session.cursors[name]


def _places(items: list[Argument], cursor: int, scroll: int, concurrency: int, rows: int) -> dict[str, Any]:
    numbers = {"cursor": cursor, "scroll": scroll, "concurrency": concurrency, "rows": rows}
    return {name: items[n] if n < len(items) else None for name, n in numbers.items()}


@procedure("sp_cursoropen")
def sp_cursoropen(executor: Any, arguments: Any) -> Any:
    """cursor OUTPUT, stmt, scrollopt OUTPUT, ccopt OUTPUT, rowcount OUTPUT, [paramdef, values]"""
    items = arguments.items
    _needs(items, "sp_cursoropen", 2)
    declaration = _text(items[5].value, "@paramdef") if len(items) > 5 and _value(items, 2) & PARAMETERIZED else None
    return (yield from _open(executor, _statement(items, 1, "sp_cursoropen"), declaration, items[6:], _places(items, 0, 2, 3, 4)))


# --- prepared -----------------------------------------------------------------------------------------------------------------


def _prepare(executor: Any, text: str, declaration: str | None, scroll: int, concurrency: int) -> int:
    session = executor.session
    parse_declaration(declaration)
    if _selected(executor.interpreter.parse(text)) is None and not concurrency & ALLOW_DIRECT:
        body = executor.interpreter.parse(text)
        if len(body) != 1 or not isinstance(body[0], st.Execute):
            raise error(16937)
    handle: int = session.next_handle
    session.next_handle += 1
    session.prepared[handle] = (declaration or "", text)
    session.cursor_options[handle] = (scroll, concurrency)
    return handle


@procedure("sp_cursorprepare")
def sp_cursorprepare(executor: Any, arguments: Any) -> Any:
    """prepared_handle OUTPUT, params, stmt, options, [scrollopt OUTPUT, ccopt OUTPUT]"""
    items = arguments.items
    _needs(items, "sp_cursorprepare", 4)
    text, scroll, concurrency = _statement(items, 2, "sp_cursorprepare"), _value(items, 4), _value(items, 5)
    declaration = _text(items[1].value, "@params")
    handle = _prepare(executor, text, declaration, scroll, concurrency)
    query = _selected(executor.interpreter.parse(text))
    if query is not None:
        cursor = _make(executor, query, text, scroll, concurrency)
        for name, sql_type, _, _ in parse_declaration(declaration):
            cursor.variables.types[name.lower()], cursor.variables.values[name.lower()] = sql_type, None
        cursor.settle(executor)
        if _value(items, 3) & RETURN_METADATA:
            yield _columns(cursor, executor)
            yield executor.done(0, "SELECT")
        bits, control = _got(cursor, scroll, concurrency)
        _set(items, 4, bits)
        _set(items, 5, control)
    _set(items, 0, handle)
    return 0


@procedure("sp_cursorexecute")
def sp_cursorexecute(executor: Any, arguments: Any) -> Any:
    """prepared_handle, cursor OUTPUT, [scrollopt OUTPUT, ccopt OUTPUT, rowcount OUTPUT, values]"""
    items = arguments.items
    _needs(items, "sp_cursorexecute", 2)
    handle = _value(items, 0)
    prepared = executor.session.prepared.get(handle)
    if prepared is None:
        raise error(8179, handle)
    places = _places(items, 1, 2, 3, 4)
    for name, kept in zip(("scroll", "concurrency"), executor.session.cursor_options.get(handle, (0, 0)), strict=True):
        if places[name] is None:
            places[name] = Argument("", kept, INT)
        elif not places[name].value:
            places[name].value = kept
    return (yield from _open(executor, prepared[1], prepared[0], items[5:], places))


@procedure("sp_cursorprepexec")
def sp_cursorprepexec(executor: Any, arguments: Any) -> Any:
    """prepared_handle OUTPUT, cursor OUTPUT, params, statement, [scrollopt OUTPUT, ccopt OUTPUT, rowcount OUTPUT, values]"""
    items = arguments.items
    _needs(items, "sp_cursorprepexec", 4)
    text, session = _statement(items, 3, "sp_cursorprepexec"), executor.session
    old = items[0].value
    if old:
        session.prepared.pop(old, None)
    declaration = _text(items[2].value, "@params")
    handle = _prepare(executor, text, declaration, _value(items, 4), _value(items, 5))
    _set(items, 0, handle)
    return (yield from _open(executor, text, declaration, items[7:], _places(items, 1, 4, 5, 6)))


@procedure("sp_cursorunprepare")
def sp_cursorunprepare(executor: Any, arguments: Any) -> Any:
    """handle"""
    _needs(arguments.items, "sp_cursorunprepare", 1)
    handle = _value(arguments.items, 0)
    executor.session.cursor_options.pop(handle, None)
    if executor.session.prepared.pop(handle, None) is None:
        raise error(8179, handle)
    return 0
    yield


# --- using --------------------------------------------------------------------------------------------------------------------


@procedure("sp_cursorfetch")
def sp_cursorfetch(executor: Any, arguments: Any) -> Any:
    """cursor, fetchtype, rownum, nrows"""
    items = arguments.items
    cursor = _cursor(executor, items, "sp_cursorfetch")
    kind = _value(items, 1, 2)
    if kind & INFO:
        _set(items, 2, 1 if cursor.live and cursor.buffer else cursor.position)
        _set(items, 3, cursor.rows)
        return 0
    direction = DIRECTIONS.get(kind & ~SKIP_UPDATE_CONCURRENCY)
    if direction is None:
        raise error(16902, "sp_cursorfetch", "fetchtype")
    count = _value(items, 3, DEFAULT_ROWS)
    if not 0 <= count <= ROWS_MAX or (count == 0 and direction not in ("FIRST", "LAST", "REFRESH")):
        raise error(16902, "sp_cursorfetch", "nrows")
    moved = yield from cursor.fetch(executor, direction, _value(items, 2), count)
    if count or direction == "REFRESH":  # a position alone is no result: Microsoft's ODBC driver sends it before another fetch
        yield from _send(cursor, executor)
    return MOVED_TO_FIRST if moved else 0


@procedure("sp_cursoroption")
def sp_cursoroption(executor: Any, arguments: Any) -> Any:
    """cursor, code, value: 2 names the cursor; 4, 5, 6 tell scrollopt, ccopt and the number of rows"""
    items = arguments.items
    cursor = _cursor(executor, items, "sp_cursoroption")
    _needs(items, "sp_cursoroption", 3)
    code = _value(items, 1)
    if code == 2:
        name = str(items[2].value or "")
        if executor.session.cursors.get(name.lower()) not in (None, cursor):
            raise error(16915, name)
        cursor.name = name
        executor.session.cursors[name.lower()] = cursor
    elif code in (4, 5, 6):
        _set(items, 2, (*_got(cursor, 0, 0), cursor.rows)[code - 4])
    elif code not in (1, 3):
        raise error(16902, "sp_cursoroption", "code")
    return 0
    yield


@procedure("sp_cursorclose")
def sp_cursorclose(executor: Any, arguments: Any) -> Any:
    """cursor; -1 is all of them"""
    if arguments.items and arguments.items[0].value == -1:
        for cursor in list(executor.session.api_cursors.values()):
            _close(executor, cursor)
        return 0
    _close(executor, _cursor(executor, arguments.items, "sp_cursorclose"))
    return 0
    yield
