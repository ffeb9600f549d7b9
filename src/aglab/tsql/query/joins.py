"""From bound sources and conditions to a tree of row sources: where each condition runs, which index a table uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aglab.tsql import ast
from aglab.tsql.messages import error
from aglab.tsql.query.reads import Window
from aglab.tsql.query.scope import Bound, Expr, Function
from aglab.tsql.query.sources import HashJoin, NestedLoop, Rows, RowSource, Seek, TableScan
from aglab.tsql.query.view_source import ViewRows
from aglab.tsql.store.table import Table
from aglab.tsql.types import DATES, EXACTS, INTEGERS, STRINGS, common

if TYPE_CHECKING:
    from aglab.tsql.query.expressions import ExpressionCompiler

_MEMBERS_MAX = 100  # of IN (...): a longer list is only tested row by row


@dataclass(eq=False)
class Conjunct:
    """One condition joined by AND. ``sides`` are set for a comparison of two values; ``members`` for a list of constants."""

    expr: Expr
    op: str = ""
    left: Expr | None = None
    right: Expr | None = None
    left_fn: Function | None = None
    right_fn: Function | None = None
    members: list[tuple[Expr, Function]] = field(default_factory=list)
    used: bool = False

    def needs(self, own: frozenset[int]) -> frozenset[int]:
        """The slots of this query that it reads."""
        return self.expr.refs & own


def split(node: ast.Node | None) -> list[ast.Node]:
    """The conditions that AND joins; BETWEEN counts as two."""
    if node is None:
        return []
    if isinstance(node, ast.Logical) and node.op == "AND":
        return split(node.left) + split(node.right)
    if isinstance(node, ast.Between) and not node.negated:
        return [ast.Compare(node.line, ">=", node.operand, node.low), ast.Compare(node.line, "<=", node.operand, node.high)]
    return [node]


def conjuncts(compiler: ExpressionCompiler, node: ast.Node | None) -> list[Conjunct]:
    """Compiled conditions, comparisons with their two sides."""
    result: list[Conjunct] = []
    for part in split(node):
        conjunct = Conjunct(compiler.condition(part))
        if isinstance(part, ast.Compare) and part.op != "<>":
            conjunct.op = part.op
            conjunct.left, conjunct.right = compiler.value(part.left), compiler.value(part.right)
            conjunct.left_fn, conjunct.right_fn, _ = compiler.pair(conjunct.left, conjunct.right)
        elif isinstance(part, ast.In) and not part.negated and isinstance(part.operand, ast.ColumnRef):
            conjunct.left = compiler.value(part.operand)
            conjunct.members = _constants(compiler, conjunct.left, part.items)
        result.append(conjunct)
    return result


def _constants(compiler: ExpressionCompiler, left: Expr, items: list[ast.Node] | None) -> list[tuple[Expr, Function]]:
    """The items of IN (...) as ``left`` compares with them, where all are literals or variables; else none."""
    if not items or len(items) > _MEMBERS_MAX or not all(isinstance(item, (ast.Literal, ast.Variable)) for item in items):
        return []
    values = [compiler.value(item) for item in items]
    return [(value, compiler.pair(left, value)[1]) for value in values]


class JoinBuilder:
    """Builds the tree for one FROM clause."""

    def __init__(self, own_slots: set[int], sources: dict[int, tuple[RowSource, Bound]], on: dict[int, list[Conjunct]]) -> None:
        self.own = frozenset(own_slots)
        self.sources = sources  # id(source node) -> row source and its binding
        self.on = on  # id(join node) -> its ON conditions

    def build(self, node: ast.Source, wheres: list[Conjunct], available: frozenset[int]) -> RowSource:
        """The row source of a node, with the conditions it can apply; ``available`` slots are set before it runs."""
        if isinstance(node, ast.JoinSource):
            return self._join(node, wheres, available)
        source, bound = self.sources[id(node)]
        mine = [c for c in wheres if not c.used and bound.slot in c.expr.refs and c.needs(self.own) <= available | {bound.slot}]
        if isinstance(source, TableScan) and isinstance(bound.table, Table):
            source.seek = self._seek(bound, mine, available, _hinted(source, bound.table))
            source.window = self._window(bound, mine)
        if mine and isinstance(source, (TableScan, Rows)):
            source.condition = _all([c.expr.fn for c in mine])
            for conjunct in mine:
                conjunct.used = True
        if isinstance(source, ViewRows):
            source.asked = self._asked(bound, mine)
        return source

    def _join(self, node: ast.JoinSource, wheres: list[Conjunct], available: frozenset[int]) -> RowSource:
        assert node.left is not None and node.right is not None
        kind = node.kind
        on = self.on.get(id(node), [])
        if kind == "RIGHT":
            flipped = ast.JoinSource(node.line, kind="LEFT", left=node.right, right=node.left)
            self.on[id(flipped)] = on
            return self._join(flipped, wheres, available)
        if kind == "FULL":
            left = self.build(node.left, [], available)
            right = self.build(node.right, [], available)
            keys, rest = self._equalities(on, frozenset(left.slots), frozenset(right.slots))
            return HashJoin(left, right, keys, _all([c.expr.fn for c in rest]) if rest else None, "FULL")
        left = self.build(node.left, wheres + (on if kind in ("INNER",) else []), available)
        inside = available | (frozenset(left.slots) & self.own)
        if kind in ("CROSS", "INNER", "CROSS APPLY"):
            return self._inner(node, left, wheres, on, available, inside)
        right = self.build(node.right, on, inside if self._seekable(node.right, on, inside) or "APPLY" in kind else available)
        rest = [c for c in on if not c.used]
        if "APPLY" in kind:
            return NestedLoop(left, right, None, True)
        if not (isinstance(right, TableScan) and right.seek is not None):
            keys, others = self._equalities(rest, frozenset(left.slots), frozenset(right.slots))
            if keys:
                return HashJoin(left, right, keys, _all([c.expr.fn for c in others]) if others else None, "LEFT")
        return NestedLoop(left, right, _all([c.expr.fn for c in rest]) if rest else None, True)

    def _inner(
        self,
        node: ast.JoinSource,
        left: RowSource,
        wheres: list[Conjunct],
        on: list[Conjunct],
        available: frozenset[int],
        inside: frozenset[int],
    ) -> RowSource:
        assert node.right is not None
        conditions = wheres + on
        lateral = node.kind == "CROSS APPLY" or self._seekable(node.right, conditions, inside)
        right = self.build(node.right, conditions, inside if lateral else available)
        both = inside | (frozenset(right.slots) & self.own)
        ready = [c for c in conditions if not c.used and c.needs(self.own) <= both]
        keys, others = self._equalities(ready, frozenset(left.slots), frozenset(right.slots)) if not lateral else ([], ready)
        for conjunct in ready:
            conjunct.used = True
        condition = _all([c.expr.fn for c in others]) if others else None
        if keys:
            return HashJoin(left, right, keys, condition, "INNER")
        return NestedLoop(left, right, condition, False)

    def _seekable(self, node: ast.Source, conditions: list[Conjunct], available: frozenset[int]) -> bool:
        if isinstance(node, ast.JoinSource):
            return False
        source, bound = self.sources[id(node)]
        if not isinstance(source, TableScan) or not isinstance(bound.table, Table):
            return False
        mine = [
            c for c in conditions if not c.used and bound.slot in c.expr.refs and c.needs(self.own) <= available | {bound.slot}
        ]
        return self._seek(bound, mine, available, _hinted(source, bound.table)) is not None

    def _seek(self, bound: Bound, conditions: list[Conjunct], available: frozenset[int], hinted: str) -> Seek | None:
        """The best index: the longest prefix of equalities, then a range on the next column."""
        equal: dict[int, Function] = {}
        low: dict[int, Function] = {}
        high: dict[int, Function] = {}
        for conjunct in conditions:
            for column, op, other in self._comparisons(bound, conjunct):
                if op == "=":
                    equal.setdefault(column, other)
                elif op in (">", ">="):
                    low.setdefault(column, other)
                elif op in ("<", "<="):
                    high.setdefault(column, other)
        best: Seek | None = None
        best_score = 0.0
        for index in bound.table.indexes:
            if "filter" in index.options or index.options.get("DISABLED") or (hinted and index.name.lower() != hinted):
                continue
            width = 0
            while width < len(index.columns) and index.columns[width] in equal:
                width += 1
            following = index.columns[width] if width < len(index.columns) else -1
            ranged = following in low or following in high
            score = 2 * width + (1 if ranged else 0) + (0.5 if index.unique and width == len(index.columns) else 0)
            if score > best_score:
                best_score = score
                best = Seek(
                    index.name,
                    [equal[c] for c in index.columns[:width]],
                    index.fold[:width] or (),
                    low.get(following),
                    high.get(following),
                )
        return best

    def _window(self, bound: Bound, conditions: list[Conjunct]) -> Window:
        """For each partitioning column, the lowest and the highest value that the conditions leave."""
        cut = {
            placement.column for placement in (bound.table.placement, *(i.placement for i in bound.table.indexes)) if placement
        }
        window: Window = {}
        for conjunct in conditions if cut != {-1} else ():
            for column, op, other in self._comparisons(bound, conjunct):
                if column in cut:
                    low, high = window.get(column, (None, None))
                    window[column] = (other if op in ("=", ">", ">=") else low, other if op in ("=", "<", "<=") else high)
        return window

    def _asked(self, bound: Bound, conditions: list[Conjunct]) -> dict[int, list[Function]]:
        """For each column that must equal a constant or one of several, how these compare."""
        asked: dict[int, list[Function]] = {}
        for conjunct in conditions:
            column = conjunct.left.column if conjunct.left else None
            if conjunct.members and conjunct.left and column and column[0] == bound.slot:
                if all(value.type is None or _sargable(conjunct.left, value) for value, _ in conjunct.members):
                    asked.setdefault(column[1], [fn for _, fn in conjunct.members])
            elif conjunct.op == "=" and any(side and side.constant for side in (conjunct.left, conjunct.right)):
                for ordinal, _, fn in self._comparisons(bound, conjunct):
                    asked.setdefault(ordinal, [fn])
        return asked

    def _comparisons(self, bound: Bound, conjunct: Conjunct) -> list[tuple[int, str, Function]]:
        if not conjunct.op or conjunct.left is None or conjunct.right is None:
            return []
        found = []
        flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
        assert conjunct.left_fn is not None and conjunct.right_fn is not None
        for column, other, fn, op in (
            (conjunct.left, conjunct.right, conjunct.right_fn, conjunct.op),
            (conjunct.right, conjunct.left, conjunct.left_fn, flip[conjunct.op]),
        ):
            if column.column is None or column.column[0] != bound.slot or bound.slot in other.refs:
                continue
            if not _sargable(column, other):
                continue
            found.append((column.column[1], op, fn))
        return found

    def _equalities(
        self, conditions: list[Conjunct], left: frozenset[int], right: frozenset[int]
    ) -> tuple[list[tuple[Function, Function]], list[Conjunct]]:
        """Equalities between the two sides, and what remains."""
        keys: list[tuple[Function, Function]] = []
        rest: list[Conjunct] = []
        for conjunct in conditions:
            if conjunct.op == "=" and conjunct.left is not None and conjunct.right is not None:
                assert conjunct.left_fn is not None and conjunct.right_fn is not None
                a, b = conjunct.left.refs & self.own, conjunct.right.refs & self.own
                if a and b and a <= left and b <= right:
                    keys.append((conjunct.left_fn, conjunct.right_fn))
                    continue
                if a and b and a <= right and b <= left:
                    keys.append((conjunct.right_fn, conjunct.left_fn))
                    continue
            rest.append(conjunct)
        return keys, rest


def _hinted(source: TableScan, table: Table) -> str:
    """The index that WITH (INDEX (name)) asks for, in lower case. Error 308 where the table has none of that name."""
    wanted = next((hint[6:] for hint in source.hints if hint.startswith("INDEX ")), "")
    if wanted and not any(index.name.lower() == wanted for index in table.indexes):
        raise error(308, wanted, table.full_name)
    return wanted


def _sargable(column: Expr, other: Expr) -> bool:
    """Whether the comparison leaves the column as it is stored."""
    if column.type is None or other.type is None:
        return False
    target = common(column.type, other.type)
    assert target is not None
    name = column.type.name
    if name in STRINGS:
        return target.name in STRINGS and not (other.sensitive and not column.sensitive)
    if name in INTEGERS or name in EXACTS:
        return target.name in INTEGERS or target.name in EXACTS
    if name in DATES:
        return target.name == name or {target.name, name} <= {"datetime", "datetime2", "smalldatetime"}
    return target.name == name


def _all(functions: list[Function]) -> Function | None:
    if not functions:
        return None
    if len(functions) == 1:
        return functions[0]
    if len(functions) == 2:
        a, b = functions
        return lambda frame: a(frame) and b(frame)
    return lambda frame: all(fn(frame) for fn in functions)
