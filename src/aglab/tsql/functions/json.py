"""ISJSON, JSON_VALUE, JSON_QUERY and their paths."""

from __future__ import annotations

import json
import re
from typing import Any

from aglab.core.sqltypes import INT, nvarchar
from aglab.tsql.functions.registry import simple
from aglab.tsql.messages import error

_STEP = re.compile(r"\.([A-Za-z_]\w*|\"[^\"]*\")|\[(\d+)\]")


def walk(document: Any, path: str) -> Any:
    """The value at a path; None when it is not there (lax)."""
    strict = path.startswith("strict ")
    body = path.removeprefix("strict ").removeprefix("lax ").strip()
    if not body.startswith("$"):
        raise error(13607, body[:1], 0)
    for match in _STEP.finditer(body, 1):
        key, index = match.groups()
        if key is not None and isinstance(document, dict) and key.strip('"') in document:
            document = document[key.strip('"')]
        elif index is not None and isinstance(document, list) and int(index) < len(document):
            document = document[int(index)]
        elif strict:
            raise error(13608)
        else:
            return None
    return document


def load_json(text: str) -> Any:
    """A document. Error 13609 for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise error(13609, text[:1], 0) from None


@simple("ISJSON", "s", INT)
def _isjson(text: str) -> int:
    try:
        return int(isinstance(json.loads(text), (dict, list)))
    except (ValueError, RecursionError):
        return 0


@simple("JSON_VALUE", "ss", nvarchar(4000))
def _json_value(text: str, path: str) -> Any:
    value = walk(load_json(text), path)
    if value is None or isinstance(value, (dict, list)):
        return None
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


@simple("JSON_QUERY", "ss", nvarchar(), optional=1)
def _json_query(text: str, path: str = "$") -> Any:
    value = walk(load_json(text), path)
    return json.dumps(value, separators=(",", ":")) if isinstance(value, (dict, list)) else None
