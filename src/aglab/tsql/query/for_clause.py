"""FOR XML and FOR JSON make one row of one column; what a form does not know is refused by name."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.messages import not_implemented
from aglab.tsql.query.for_xml import xml_rows
from aglab.tsql.query.scope import OutColumn

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan


def wrap_for(plan: Plan, node: ast.Query) -> Plan:
    """A plan with one row and one column: text, or xml with FOR XML ..., TYPE."""
    from aglab.tsql.query.planner import Plan

    assert node.for_clause is not None
    (kind, options), sql_type = node.for_clause, nvarchar()
    if kind == "JSON" and set(options) <= {"PATH", "AUTO", "WITHOUT_ARRAY_WRAPPER", "INCLUDE_NULL_VALUES", "ROOT"}:
        build = _json(plan, options)
    elif kind == "XML" and options.keys() & {"PATH", "RAW", "AUTO"}:
        build = xml_rows(plan, options, node)
        sql_type = SqlType("xml") if "TYPE" in options else sql_type
    else:
        raise not_implemented(f"FOR {kind} {' '.join(options)}", node.line)
    name = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B" if kind == "JSON" else "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
    return Plan([OutColumn(name, sql_type)], build, plan.outer_refs)


def _json_value(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _json(plan: Plan, options: dict[str, Any]) -> Any:
    names = [column.name for column in plan.columns]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        items = []
        for row in plan.rows(frame):
            item: dict[str, Any] = {}
            for name, value in zip(names, row, strict=True):
                if value is None and "INCLUDE_NULL_VALUES" not in options:
                    continue
                target = item
                *path, leaf = name.split(".")
                for part in path:
                    target = target.setdefault(part, {})
                target[leaf] = _json_value(value)
            items.append(item)
        if not items:
            return []
        text = ",".join(json.dumps(item, separators=(",", ":"), ensure_ascii=False) for item in items)
        return [(text if "WITHOUT_ARRAY_WRAPPER" in options else f"[{text}]",)]

    return rows
