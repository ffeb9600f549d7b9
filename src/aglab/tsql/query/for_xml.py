"""FOR XML PATH, RAW and AUTO: rows as one text of xml.

PATH reads each column's name as a place: ``@a`` an attribute of the row's element, ``a/b`` an element within an element
(columns in a row that share the start of a path share the elements), ``text()``, ``data()`` (values with a blank between),
``node()`` and ``*`` without an element, ``comment()``, ``processing-instruction(name)``. A column of type xml stays xml.
Errors: 6809 a RAW attribute without a name, 6852 an attribute after what is no attribute, 6841 a character that xml has not.
AUTO knows one table only, EXPLICIT, XMLDATA, XMLSCHEMA and BINARY BASE64 are refused by name. Sources: "Use PATH mode with FOR
XML", "Columns with a name", "Columns without a name", "Use RAW mode with FOR XML", "Use AUTO mode with FOR XML" (SQL Server
documentation).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from aglab.tsql import ast
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.types import BINARIES
from aglab.tsql.writers import writer

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan
    from aglab.tsql.query.scope import OutColumn

KNOWN = frozenset({"PATH", "RAW", "AUTO", "TYPE", "ROOT", "ELEMENTS"})
TEXTS = ("", "*", "text()", "node()", "data()")
_IN_ATTRIBUTES = {chr(34): "&quot;", chr(13): "&#x0D;", chr(10): "&#x0A;", chr(9): "&#x09;"}
_EMPTY = re.compile(r"<([^\s<>/!?]+)([^<>]*)></\1>")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(slots=True)
class _Element:
    """One element of a row while it is put together: what its parts are is known only when the row's last column is read."""

    name: str
    attributes: list[str] = field(default_factory=list)
    parts: list[str | _Element] = field(default_factory=list)

    def written(self) -> str:
        body = "".join(part if isinstance(part, str) else part.written() for part in self.parts)
        if not self.name:
            return body
        head = f"<{self.name}{''.join(self.attributes)}"
        return f"{head}>{body}</{self.name}>" if self.parts else f"{head}/>"


def xml_rows(plan: Plan, options: dict[str, Any], node: ast.Query) -> Callable[[Any], list[tuple[Any, ...]]]:
    """The one row and column of FOR XML; NULL without rows."""
    if not set(options) <= KNOWN or options.get("ELEMENTS") not in (None, True):
        raise not_implemented(f"FOR XML {' '.join(options)}", node.line)
    if "PATH" in options:
        row = _path_row(plan.columns, options["PATH"] if isinstance(options["PATH"], str) else "row", node.line)
    else:
        name = _table_name(node) if "AUTO" in options else options["RAW"] if isinstance(options.get("RAW"), str) else "row"
        row = _flat_row(plan.columns, name, "ELEMENTS" in options, node.line)
    root = options.get("ROOT")
    root = "root" if root is True else root
    typed = "TYPE" in options  # a value of type xml writes an empty element in one tag

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        found = plan.rows(frame)
        if not found:
            return [(None,)]
        text = "".join(map(row, found))
        text = f"<{root}>{text}</{root}>" if root else text
        return [(_EMPTY.sub(r"<\1\2/>", text) if typed else text,)]

    return rows


def _table_name(node: ast.Query) -> str:
    source = node.source if isinstance(node, ast.Select) else None
    if not isinstance(source, ast.TableSource):
        raise not_implemented("FOR XML AUTO of more than one table", node.line)
    return _encoded(source.alias or source.parts[-1])


def _encoded(name: str) -> str:
    """A name as xml allows it: other characters as _xHHHH_."""
    made = "".join(c if c.isalnum() or c in "_-." else f"_x{ord(c):04X}_" for c in name)
    return f"_x{ord(made[0]):04X}_{made[1:]}" if made[:1].isdigit() or made[:1] in "-." else made


def _writer(column: OutColumn) -> Callable[[Any], str]:
    if column.type.name in BINARIES:
        return lambda value: base64.b64encode(value).decode()
    return writer(column.type, 126)


def _checked(text: str, name: str) -> str:
    wrong = _FORBIDDEN.search(text)
    if wrong is not None:
        raise error(6841, name or "NoName", f"0x{ord(wrong.group()):04X}")
    return text


def _text(value: str, name: str) -> str:
    return escape(_checked(value, name), {"\r": "&#x0D;"})


def _attribute(name: str, value: str) -> str:
    return (
        f' {name}="{escape(_checked(value, name), {chr(34): "&quot;", chr(13): "&#x0D;", chr(10): "&#x0A;", chr(9): "&#x09;"})}"'
    )


def _flat_row(columns: list[OutColumn], name: str, elements: bool, line: int) -> Callable[[tuple[Any, ...]], str]:
    """RAW and AUTO: an attribute, or with ELEMENTS an element, for each column that is not NULL."""
    if any(not column.name for column in columns):
        raise error(6809, line=line)
    shown = [(_encoded(column.name), _writer(column), column.type.name == "xml") for column in columns]

    def row(values: tuple[Any, ...]) -> str:
        made = _Element(name)
        for (label, write, is_xml), value in zip(shown, values, strict=True):
            if value is None:
                continue
            if elements or is_xml:
                made.parts.append(_Element(label, [], [write(value) if is_xml else _text(write(value), label)]))
            else:
                made.attributes.append(_attribute(label, write(value)))
        return made.written()

    return row


def _path_row(columns: list[OutColumn], name: str, line: int) -> Callable[[tuple[Any, ...]], str]:
    """PATH: where each column goes is read once from the names; attributes come before what is no attribute (6852)."""
    places: list[tuple[list[str], str, Callable[[Any], str], bool]] = []
    filled: set[tuple[str, ...]] = set()
    for column in columns:
        *path, leaf = column.name.split("/") if column.name else [""]
        if leaf.startswith("@"):
            if not name and not path:
                raise error(6864, line=line)
            if tuple(path) in filled:
                raise error(6852, column.name, line=line)
        else:
            filled.update(tuple(path[:depth]) for depth in range(len(path) + 1))
        places.append((path, leaf, _writer(column), column.type.name == "xml"))

    def row(values: tuple[Any, ...]) -> str:
        made = _Element(name)
        data_in: _Element | None = None  # data() after data() in one element: a blank between
        for (path, leaf, write, is_xml), value in zip(places, values, strict=True):
            if value is None:
                continue
            at = made
            for step in path:
                last = at.parts[-1] if at.parts else None
                if not (isinstance(last, _Element) and last.name == step):
                    last = _Element(step)
                    at.parts.append(last)
                at = last
            text = write(value)
            if leaf.startswith("@"):
                at.attributes.append(_attribute(leaf[1:], text))
                continue
            if leaf == "comment()":
                at.parts.append(f"<!--{text}-->")
            elif leaf.startswith("processing-instruction("):
                at.parts.append(f"<?{leaf[23:-1]} {_checked(text, leaf)}?>")
            elif leaf in TEXTS:
                at.parts.append((" " if leaf == "data()" and data_in is at else "") + (text if is_xml else _text(text, leaf)))
            else:
                at.parts.append(_Element(leaf, [], [text if is_xml else _text(text, leaf)]))
            data_in = at if leaf == "data()" else None
        return made.written()

    return row
