"""FOR XML and FOR JSON: the forms that scripts use to join text; others are refused."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from aglab.core.sqltypes import nvarchar
from aglab.tsql.messages import not_implemented
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.writers import writer

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan


def wrap_for(plan: Plan, clause: tuple[str, dict[str, Any]], line: int) -> Plan:
    """A plan with one row and one text column."""
    from aglab.tsql.query.planner import Plan

    kind, options = clause
    if kind == "JSON" and set(options) <= {"PATH", "AUTO", "WITHOUT_ARRAY_WRAPPER", "INCLUDE_NULL_VALUES", "ROOT"}:
        build = _json(plan, options)
    elif kind == "XML" and "PATH" in options and set(options) <= {"PATH", "TYPE", "ROOT"}:
        build = _xml(plan, options)
    else:
        raise not_implemented(f"FOR {kind} {' '.join(options)}", line)
    name = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B" if kind == "JSON" else "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
    return Plan([OutColumn(name, nvarchar())], build, plan.outer_refs)


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


def _xml(plan: Plan, options: dict[str, Any]) -> Any:
    element = options["PATH"] if isinstance(options["PATH"], str) else "row"
    writers = [writer(column.type, 126 if "date" in column.type.name else None) for column in plan.columns]
    names = [column.name for column in plan.columns]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        parts = []
        for row in plan.rows(frame):
            attributes = "".join(
                f' {n[1:]}="{escape(w(v))}"'
                for n, w, v in zip(names, writers, row, strict=True)
                if n.startswith("@") and v is not None
            )
            body = "".join(
                f"<{n}>{escape(w(v))}</{n}>" if n and n not in ("text()", "*", "data()") else escape(w(v))
                for n, w, v in zip(names, writers, row, strict=True)
                if v is not None and not n.startswith("@")
            )
            parts.append(f"<{element}{attributes}>{body}</{element}>" if element else body)
        return [("".join(parts),)] if parts else [(None,)]

    return rows
