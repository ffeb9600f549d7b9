"""XML values and the paths that the methods of type xml take: parsing, evaluation, serialisation.

The subset of XQuery that queries of Extended Events and deadlock graphs use: steps with ``/`` and ``//``, ``.``, ``..``, names,
``*``, ``@name``, ``text()``, ``node()``; predicates with positions, comparisons, ``and``, ``or``; ``count``, ``local-name``,
``string``, ``data``, ``contains``, ``not``, ``position``, ``last``. What is left out (FLWOR, namespaces, sql:variable) is an
error that names it. Names are compared without their namespace. Source: "XQuery Language Reference (SQL Server)".
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from aglab.tsql.messages import error, not_implemented

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"[^\"]*\"|'[^']*')|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<sign>//|/|\.\.|\.|@|\*|\(|\)|\[|\]|,|!=|<=|>=|=|<|>)|(?P<name>[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?))"
)
DEPTH_MAX = 128  # levels of nested elements, and of parentheses in a path
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_WORDS = {"eq": "=", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
_FUNCTIONS = ("count", "local-name", "string", "data", "contains", "not", "position", "last")
_PROBLEMS = {3: (9400, "unexpected end of input"), 7: (9436, "end tag does not match start tag")}


class Node:
    """A document, an element, an attribute or a text of a tree."""

    __slots__ = ("attributes", "children", "kind", "name", "order", "parent", "value")

    def __init__(self, kind: str, name: str, value: str, parent: Node | None, order: int) -> None:
        self.kind, self.name, self.value, self.parent, self.order = kind, name, value, parent, order
        self.children: list[Node] = []
        self.attributes: list[Node] = []

    def text(self) -> str:
        """The string value: all text inside."""
        if self.kind in ("attribute", "text"):
            return self.value
        return "".join(child.text() for child in self.children)

    def inside(self) -> Iterator[Node]:
        """The node and everything below it, in document order."""
        yield self
        for child in self.children:
            yield from child.inside()

    def written(self) -> str:
        """As XML."""
        if self.kind in ("attribute", "text"):
            return escape(self.value)
        body = "".join(child.written() for child in self.children)
        if self.kind == "document":
            return body
        said = "".join(f" {one.name}={quoteattr(one.value)}" for one in self.attributes)
        return f"<{self.name}{said}>{body}</{self.name}>" if body else f"<{self.name}{said}/>"


class Reference(str):
    """A row of nodes(): its text, and the node that paths start from."""

    __slots__ = ("node",)
    node: Node


def refer(node: Node) -> Reference:
    """A value that stands for a node inside a document."""
    made = Reference(node.written())
    made.node = node
    return made


def context(value: str) -> Node:
    """Where paths on a value start: at the node of a row of nodes(), else at the document."""
    return value.node if isinstance(value, Reference) else _parsed(value)


@lru_cache(maxsize=32)
def _parsed(text: str) -> Node:
    counter = iter(range(1, 1 << 62))
    document = Node("document", "", "", None, 0)
    try:
        root = ET.fromstring(f"<d>{_without_declaration(text)}</d>")
    except ET.ParseError as problem:
        number, words = _PROBLEMS.get(problem.code, (9455, "illegal qualified name character"))
        line, column = problem.position
        raise error(number, line, max(1, column - 2), words) from None
    _take(root, document, counter)
    return document


def _without_declaration(text: str) -> str:
    return re.sub(r"^\s*<\?xml.*?\?>", "", text, count=1, flags=re.S)


def _take(source: ET.Element, into: Node, counter: Iterator[int], depth: int = 0) -> None:
    if depth > DEPTH_MAX:
        raise error(6335)

    def note(text: str | None) -> None:
        if text and (into.kind != "document" or text.strip()) and not (len(source) and not text.strip()):
            into.children.append(Node("text", "", text, into, next(counter)))

    note(source.text)
    for child in source:
        made = Node("element", child.tag.rsplit("}", 1)[-1], "", into, next(counter))
        for name, value in child.attrib.items():
            made.attributes.append(Node("attribute", name.rsplit("}", 1)[-1], value, made, next(counter)))
        into.children.append(made)
        _take(child, made, counter, depth + 1)
        note(child.tail)


# -- paths ---------------------------------------------------------------------------------------------------------------------
Evaluator = Callable[[Node, int, int], Any]  # context node, its position, how many there are


class Path:
    """A compiled path: :meth:`select` gives nodes or values; ``single``: at most one can come out, seen from the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = 0
        self.single = False
        if max(text.count("("), text.count("[")) > DEPTH_MAX:
            raise self._wrong()
        self.run = self._or()
        if self.place < len(self.tokens):
            raise self._wrong()

    def select(self, node: Node) -> list[Any]:
        """What the path finds from a node."""
        found = self.run(node, 1, 1)
        return found if isinstance(found, list) else [found]

    def _wrong(self) -> Exception:
        near = self.tokens[self.place] if self.place < len(self.tokens) else "end of input"
        return not_implemented(f"the XQuery {self.text!r} (near {near!r})")

    def _at(self, *signs: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] in signs

    def _accept(self, *signs: str) -> str:
        if not self._at(*signs):
            return ""
        self.place += 1
        return self.tokens[self.place - 1]

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise self._wrong()

    def _or(self) -> Evaluator:
        left = self._and()
        parts = [left]
        while self._accept("or"):
            parts.append(self._and())
        return left if len(parts) == 1 else lambda n, p, s: any(bool(one(n, p, s)) for one in parts)

    def _and(self) -> Evaluator:
        left = self._comparison()
        parts = [left]
        while self._accept("and"):
            parts.append(self._comparison())
        return left if len(parts) == 1 else lambda n, p, s: all(bool(one(n, p, s)) for one in parts)

    def _comparison(self) -> Evaluator:
        left = self._operand()
        sign = self._accept(*_COMPARE, *_WORDS)
        if not sign:
            return left
        right, test = self._operand(), _COMPARE[_WORDS.get(sign, sign)]
        self.single = True
        return lambda n, p, s: any(test(*_alike(a, b)) for a in _atoms(left(n, p, s)) for b in _atoms(right(n, p, s)))

    def _operand(self) -> Evaluator:
        if self.place >= len(self.tokens):
            raise self._wrong()
        token = self.tokens[self.place]
        if token[0] in "\"'" or token[0].isdigit():
            self.place += 1
            self.single = True
            value: Any = token[1:-1] if token[0] in "\"'" else float(token)
            return lambda n, p, s: value
        if token in _FUNCTIONS and self.tokens[self.place + 1 : self.place + 2] == ["("]:
            return self._function()
        return self._path()

    def _function(self) -> Evaluator:
        name = self.tokens[self.place]
        self.place += 2
        arguments = []
        while not self._accept(")"):
            arguments.append(self._or())
            self._accept(",")
        self.single = True
        one = arguments[0] if arguments else (lambda n, p, s: [n])
        other = arguments[1] if len(arguments) > 1 else one
        known: dict[str, Evaluator] = {
            "count": lambda n, p, s: float(len(one(n, p, s))),
            "local-name": lambda n, p, s: next((x.name for x in one(n, p, s)), ""),
            "string": lambda n, p, s: next(iter(_atoms(one(n, p, s))), ""),
            "data": lambda n, p, s: _atoms(one(n, p, s)),
            "contains": lambda n, p, s: next(iter(_atoms(other(n, p, s))), "") in next(iter(_atoms(one(n, p, s))), ""),
            "not": lambda n, p, s: not one(n, p, s),
            "position": lambda n, p, s: float(p),
            "last": lambda n, p, s: float(s),
        }
        return known[name]

    def _path(self) -> Evaluator:
        steps: list[Callable[[Node], list[Any]]] = []
        sign = self._accept("//", "/")
        self.single = True
        if sign:
            steps.append(_root)
            if sign == "//":
                steps.append(lambda n: list(n.inside()))
                self.single = False
            if self.place >= len(self.tokens) or self._at(")", "]"):
                return _walk(steps)
        while True:
            steps += self._step()
            sign = self._accept("//", "/")
            if not sign:
                return _walk(steps)
            if sign == "//":
                steps.append(lambda n: list(n.inside()))
                self.single = False

    def _step(self) -> list[Any]:
        if self._accept("("):
            before = self.single
            inner = self._or()
            self._expect(")")
            counted, one = self._predicates()
            self.single = before and (self.single or one)
            return [_Group(inner, counted)]
        test, many = self._node_test()
        tests, first = self._predicates()
        self.single = self.single and (not many or first)
        return [_filtered(test, tests)]

    def _node_test(self) -> tuple[Callable[[Node], list[Any]], bool]:
        if self._accept("."):
            return (lambda n: [n]), False
        if self._accept(".."):
            return (lambda n: [n.parent] if n.parent is not None else []), False
        if self._accept("@"):
            name = self._name()
            return (lambda n: [x for x in n.attributes if name in ("*", x.name)]), name == "*"
        name = self._name()
        if name in ("text", "node") and self._accept("("):
            self._expect(")")
            return (lambda n: [x for x in n.children if name == "node" or x.kind == "text"]), True
        if self._at("("):
            raise self._wrong()
        return (lambda n: [x for x in n.children if x.kind == "element" and name in ("*", x.name)]), True

    def _name(self) -> str:
        if self._accept("*"):
            return "*"
        token = self.tokens[self.place] if self.place < len(self.tokens) else ""
        if not (token and (token[0].isalpha() or token[0] == "_")):
            raise self._wrong()
        self.place += 1
        return token.rsplit(":", 1)[-1]

    def _predicates(self) -> tuple[list[Evaluator], bool]:
        tests, first = [], False
        while self._accept("["):
            first = first or (self.tokens[self.place : self.place + 1] or [""])[0].isdigit()
            kept = self.single
            tests.append(self._or())
            self.single = kept
            self._expect("]")
        return tests, first


class _Group:
    """``(path)[n]``: the predicates count over everything that the path found."""

    def __init__(self, inner: Evaluator, tests: list[Evaluator]) -> None:
        self.inner, self.tests = inner, tests

    def __call__(self, node: Node) -> list[Any]:
        found = self.inner(node, 1, 1)
        return _sift(found if isinstance(found, list) else [found], self.tests)


def _root(node: Node) -> list[Any]:
    while node.parent is not None:
        node = node.parent
    return [node]


def _filtered(test: Callable[[Node], list[Any]], tests: list[Evaluator]) -> Callable[[Node], list[Any]]:
    return (lambda n: _sift(test(n), tests)) if tests else test


def _sift(found: list[Any], tests: list[Evaluator]) -> list[Any]:
    for test in tests:
        kept = []
        for place, one in enumerate(found, 1):
            value = test(one, place, len(found))
            if value == place if isinstance(value, float) else value:
                kept.append(one)
        found = kept
    return found


def _walk(steps: list[Callable[[Node], list[Any]]]) -> Evaluator:
    def run(node: Node, place: int, size: int) -> Any:
        found: list[Any] = [node]
        for step in steps:
            after: dict[int, Any] = {}
            for one in found:
                if not isinstance(one, Node):
                    return found
                for other in step(one):
                    after[other.order if isinstance(other, Node) else -1 - len(after)] = other
            nodes = all(isinstance(one, Node) for one in after.values())
            found = [after[key] for key in sorted(after)] if nodes else list(after.values())
        return found

    return run


def _atoms(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [one.text() if isinstance(one, Node) else one for one in values]


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Compared as numbers where one side is a number."""
    if isinstance(one, float) != isinstance(other, float):
        try:
            return float(one), float(other)
        except ValueError:
            return str(one), str(other)
    return one, other


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    body = text.rstrip()
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None:
            raise not_implemented(f"the XQuery {text!r} (near {body[place : place + 10]!r})")
        found.append(match.group().strip())
        place = match.end()
    return found


@lru_cache(maxsize=256)
def compiled(text: str) -> Path:
    """The path of a text."""
    return Path(text)
