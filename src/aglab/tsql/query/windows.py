"""Window functions: ranking, offsets, and aggregates over a partition or a moving frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import BIGINT, FLOAT, INT
from aglab.tsql import ast
from aglab.tsql.messages import error
from aglab.tsql.query.aggregates import AGGREGATES, finisher
from aglab.tsql.query.scope import Expr, Frame, Function
from aglab.tsql.store.table import comparable

RANKING = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST"})
OFFSETS = frozenset({"LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE"})


@dataclass
class WindowSpec:
    """One window function of a query."""

    name: str
    args: list[Function]
    partition: list[tuple[Function, bool]]
    order: list[tuple[Function, bool, bool]]  # function, descending, fold
    frame: tuple[str, Any, Any] | None
    finish: Any
    star: bool


def compile_window(compiler: Any, node: ast.Call) -> Expr:
    """Register a window function with the scope; the value is read from the row's window slot."""
    assert node.over is not None
    name = node.name
    scope = compiler.scope
    if scope.windows is None:
        raise error(4108, line=node.line)
    if name not in RANKING and name not in OFFSETS and name not in AGGREGATES:
        raise error(4113, node.parts[-1], line=node.line)
    if (name in RANKING or name in OFFSETS) and not node.over.order:
        raise error(4112, node.parts[-1], line=node.line)
    args = [compiler.value(arg) for arg in node.args]
    finish = None
    if name in ("ROW_NUMBER", "RANK", "DENSE_RANK") or name == "NTILE":
        sql_type = BIGINT
    elif name in ("PERCENT_RANK", "CUME_DIST"):
        sql_type = FLOAT
    elif name in OFFSETS:
        if not args:
            raise error(174, name.lower(), 1, line=node.line)
        sql_type = args[0].type or INT
        if len(args) > 2:
            args[2] = compiler.convert(args[2], sql_type)
    else:
        sql_type, finish = finisher(name, args[0].type) if args else (INT if name == "COUNT" else BIGINT, len)
    partition = [(e.fn, not e.sensitive) for e in (compiler.value(item) for item in node.over.partition)]
    order = [(e.fn, descending, not e.sensitive) for e, descending in ((compiler.value(item), d) for item, d in node.over.order)]
    spec = WindowSpec(name, [e.fn for e in args], partition, order, node.over.frame, finish, node.star)
    position = len(scope.windows)
    scope.windows.append(spec)
    slot = scope.window_slot
    return Expr(lambda frame: frame[slot][position], sql_type, frozenset({slot}))


def compute(spec: WindowSpec, frame: Frame, states: list[tuple[Any, ...]], slots: tuple[int, ...]) -> list[Any]:
    """The function's value for every row (state); ``slots`` say where a state's parts go in the frame."""
    partitions: dict[Any, list[int]] = {}
    order_keys: list[tuple[Any, ...]] = []
    arguments: list[tuple[Any, ...]] = []
    for position, state in enumerate(states):
        for slot, value in zip(slots, state, strict=True):
            frame[slot] = value
        key = tuple(comparable(fn(frame), fold) for fn, fold in spec.partition)
        partitions.setdefault(key, []).append(position)
        order_keys.append(tuple(comparable(fn(frame), fold) for fn, _, fold in spec.order))
        arguments.append(tuple(fn(frame) for fn in spec.args))
    result: list[Any] = [None] * len(states)
    for members in partitions.values():
        for place in range(len(spec.order) - 1, -1, -1):
            members.sort(key=lambda m: order_keys[m][place], reverse=spec.order[place][1])
        _partition(spec, members, order_keys, arguments, result)
    return result


def _partition(spec: WindowSpec, members: list[int], keys: list[Any], args: list[Any], result: list[Any]) -> None:
    count = len(members)
    name = spec.name
    if name == "ROW_NUMBER":
        for number, member in enumerate(members, 1):
            result[member] = number
    elif name in ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"):
        _ranks(name, members, keys, result)
    elif name == "NTILE":
        tiles = args[members[0]][0]
        if tiles is None or tiles < 1:
            raise error(4116)
        base, extra = divmod(count, tiles)
        position = 0
        for tile in range(1, tiles + 1):
            for _ in range(base + (1 if tile <= extra else 0)):
                result[members[position]] = tile
                position += 1
    elif name in ("LAG", "LEAD"):
        for place, member in enumerate(members):
            own = args[member]
            step = own[1] if len(own) > 1 else 1
            other = place - step if name == "LAG" else place + step
            result[member] = args[members[other]][0] if 0 <= other < count else own[2] if len(own) > 2 else None
    else:
        _framed(spec, members, keys, args, result)


def _ranks(name: str, members: list[int], keys: list[Any], result: list[Any]) -> None:
    rank = dense = 0
    count = len(members)
    previous: Any = None
    for place, member in enumerate(members, 1):
        if place == 1 or keys[member] != previous:
            rank, dense, previous = place, dense + 1, keys[member]
        if name == "RANK":
            result[member] = rank
        elif name == "DENSE_RANK":
            result[member] = dense
        elif name == "PERCENT_RANK":
            result[member] = (rank - 1) / (count - 1) if count > 1 else 0.0
        else:
            last = place
            while last < count and keys[members[last]] == keys[member]:
                last += 1
            result[member] = last / count


def _framed(spec: WindowSpec, members: list[int], keys: list[Any], args: list[Any], result: list[Any]) -> None:
    count = len(members)
    unit, start, end = spec.frame or (
        ("RANGE", ("UNBOUNDED PRECEDING", None), ("CURRENT ROW", None))
        if spec.order
        else ("ROWS", ("UNBOUNDED PRECEDING", None), ("UNBOUNDED FOLLOWING", None))
    )
    whole = start[0] == "UNBOUNDED PRECEDING" and end[0] == "UNBOUNDED FOLLOWING"
    shared = _reduce(spec, members, args) if whole else None
    previous: tuple[int, int] | None = None
    value: Any = None
    for place, member in enumerate(members):
        if whole:
            result[member] = shared
            continue
        first, last = _edge(unit, start, place, members, keys, True), _edge(unit, end, place, members, keys, False)
        bounds = (max(first, 0), min(last, count - 1))
        if bounds != previous:
            value = _reduce(spec, members[bounds[0] : bounds[1] + 1], args)
            previous = bounds
        result[member] = value


def _edge(unit: str, bound: tuple[str, Any], place: int, members: list[int], keys: list[Any], first: bool) -> int:
    kind, number = bound
    if kind == "UNBOUNDED PRECEDING":
        return 0
    if kind == "UNBOUNDED FOLLOWING":
        return len(members) - 1
    if kind == "PRECEDING":
        return place - number
    if kind == "FOLLOWING":
        return place + number
    if unit == "ROWS":
        return place
    edge = place
    step = -1 if first else 1
    while 0 <= edge + step < len(members) and keys[members[edge + step]] == keys[members[place]]:
        edge += step
    return edge


def _reduce(spec: WindowSpec, members: list[int], args: list[Any]) -> Any:
    if spec.star:
        return len(members)
    if spec.name == "FIRST_VALUE":
        return args[members[0]][0] if members else None
    if spec.name == "LAST_VALUE":
        return args[members[-1]][0] if members else None
    return spec.finish([args[m][0] for m in members if args[m][0] is not None])
