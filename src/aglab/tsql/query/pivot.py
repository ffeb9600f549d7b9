"""PIVOT and UNPIVOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.convert import converter
from aglab.tsql.messages import error
from aglab.tsql.query.aggregates import AGGREGATES, finisher
from aglab.tsql.query.scope import OutColumn, Scope
from aglab.tsql.store.table import comparable
from aglab.tsql.types import common

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan, Planner


def pivot_plan(planner: Planner, node: ast.PivotSource, scope: Scope) -> Plan:
    """The rows of a pivoted source: everything of the source not named in the clause is a grouping column."""
    select = ast.Select(node.line, items=[ast.SelectItem(node.line, ast.Star(node.line))], source=node.source)
    plan = planner.subquery(select, scope.parent)
    names = {column.name.lower(): i for i, column in enumerate(plan.columns)}
    return _unpivot(plan, node, names) if node.unpivot else _pivot(plan, node, names)


def _position(names: dict[str, int], name: str, line: int) -> int:
    if name.lower() not in names:
        raise error(207, name, line=line)
    return names[name.lower()]


def _pivot(plan: Plan, node: ast.PivotSource, names: dict[str, int]) -> Plan:
    from aglab.tsql.query.planner import Plan

    call = node.aggregate
    assert call is not None
    if call.name not in AGGREGATES or len(call.args) != 1 or not isinstance(call.args[0], ast.ColumnRef):
        raise error(102, call.parts[-1], line=node.line)
    value, spread = _position(names, call.args[0].name, node.line), _position(names, node.name_column, node.line)
    keys = [i for i in range(len(plan.columns)) if i not in (value, spread)]
    sql_type, finish = finisher(call.name, plan.columns[value].type)
    change = converter(plan.columns[spread].type, nvarchar(128), None, True)
    wanted = [comparable(name) for name in node.names]
    columns = [plan.columns[i] for i in keys] + [OutColumn(name, sql_type) for name in node.names]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        groups: dict[Any, tuple[tuple[Any, ...], dict[Any, list[Any]]]] = {}
        for row in plan.rows(frame):
            key = tuple(comparable(row[i]) for i in keys)
            group = groups.setdefault(key, (tuple(row[i] for i in keys), {}))
            label = row[spread]
            if label is None:
                continue
            bucket = group[1].setdefault(comparable(change(label) if change else label), [])
            if row[value] is not None:
                bucket.append(row[value])
        counting = call.name in ("COUNT", "COUNT_BIG")
        return [
            shown + tuple(finish(buckets[w]) if w in buckets else (0 if counting else None) for w in wanted)
            for shown, buckets in groups.values()
        ]

    return Plan(columns, rows, plan.outer_refs)


def _unpivot(plan: Plan, node: ast.PivotSource, names: dict[str, int]) -> Plan:
    from aglab.tsql.query.planner import Plan

    picked = [_position(names, name, node.line) for name in node.names]
    keys = [i for i in range(len(plan.columns)) if i not in picked]
    sql_type: SqlType | None = None
    for i in picked:
        sql_type = common(sql_type, plan.columns[i].type)
    labels = [plan.columns[i].name for i in picked]
    columns = [plan.columns[i] for i in keys]
    columns += [OutColumn(node.value_column, sql_type or INT), OutColumn(node.name_column, nvarchar(128))]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        return [
            (*(row[i] for i in keys), row[p], label)
            for row in plan.rows(frame)
            for p, label in zip(picked, labels, strict=True)
            if row[p] is not None
        ]

    return Plan(columns, rows, plan.outer_refs)
