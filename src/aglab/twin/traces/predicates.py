"""WHERE of an event: comparisons of its fields and of actions, with AND, OR, NOT and the comparators for texts.

``[sqlserver].[like_i_sql_unicode_string]([sqlserver].[sql_text], N'%x%')`` and its relatives are known by name. A text is
compared without case. Errors 25706 (a source that does not exist), 25711 (it cannot be read).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from aglab.tsql.lexer import INTEGER, NATIONAL, STRING
from aglab.tsql.messages import error
from aglab.twin.clauses import Clauses

Test = Callable[[Mapping[str, Any]], bool]
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_WORDS = {
    "equal": "=",
    "not_equal": "<>",
    "less_than": "<",
    "greater_than": ">",
    "less_than_equal": "<=",
    "greater_than_equal": ">=",
}


def predicate(reader: Clauses, sources: frozenset[str]) -> Test:
    """Read a whole predicate; ``sources`` are the fields of the event and the actions."""
    return _either(reader, sources)


def _either(reader: Clauses, sources: frozenset[str]) -> Test:
    parts = [_both(reader, sources)]
    while reader.accept("OR"):
        parts.append(_both(reader, sources))
    return parts[0] if len(parts) == 1 else lambda values: any(one(values) for one in parts)


def _both(reader: Clauses, sources: frozenset[str]) -> Test:
    parts = [_one(reader, sources)]
    while reader.accept("AND"):
        parts.append(_one(reader, sources))
    return parts[0] if len(parts) == 1 else lambda values: all(one(values) for one in parts)


def _one(reader: Clauses, sources: frozenset[str]) -> Test:
    if reader.accept("NOT"):
        inner = _one(reader, sources)
        return lambda values: not inner(values)
    if reader.accept("("):
        inner = _either(reader, sources)
        reader.expect(")")
        return inner
    name = qualified(reader)
    if reader.accept("("):
        source = _source(qualified(reader), sources)
        reader.expect(",")
        constant = _constant(reader)
        reader.expect(")")
        return _named(name, source, constant)
    source = _source(name, sources)
    if reader.accept("LIKE"):
        return _like(source, str(_constant(reader)))
    sign = str(reader.token.value) if reader.token is not None else ""
    if sign not in _SIGNS:
        raise error(25711)
    reader.place += 1
    return _compare(sign, source, _constant(reader))


def qualified(reader: Clauses) -> str:
    """The last part of package.name."""
    name = reader.name()
    while reader.accept("."):
        name = reader.name()
    return name


def _source(name: str, sources: frozenset[str]) -> str:
    if name.lower() not in sources:
        raise error(25706, "event attribute or predicate source", name)
    return name.lower()


def _constant(reader: Clauses) -> Any:
    if reader.accept("("):
        value = _constant(reader)
        reader.expect(")")
        return value
    token = reader.token
    if token is not None and token.kind in (STRING, NATIONAL):
        return reader.text()
    negative = reader.accept("-")
    if reader.token is None or reader.token.kind != INTEGER:
        raise error(25711)
    return -reader.number() if negative else reader.number()


def _named(comparator: str, source: str, constant: Any) -> Test:
    lowered = comparator.lower()
    if lowered.startswith("like_i_sql"):
        return _like(source, str(constant))
    for word in sorted(_WORDS, key=len, reverse=True):
        if lowered.startswith((f"{word}_i_", word)):
            return _compare(_WORDS[word], source, constant)
    raise error(25706, "predicate comparator", comparator)


def _like(source: str, pattern: str) -> Test:
    parts = ("".join(".*" if mark == "%" else "." if mark == "_" else re.escape(mark)) for mark in pattern)
    wanted = re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
    return lambda values: wanted.fullmatch(str(values.get(source, ""))) is not None


def _compare(sign: str, source: str, constant: Any) -> Test:
    rule = _SIGNS[sign]
    if isinstance(constant, str):
        lowered = constant.lower()
        return lambda values: rule(str(values.get(source, "")).lower(), lowered)

    def test(values: Mapping[str, Any]) -> bool:
        value = values.get(source)
        return isinstance(value, int) and rule(int(value), constant)

    return test
