"""Names in scope: sources, their columns, outer queries; and what compiling an expression yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.runtime import Variables

if TYPE_CHECKING:
    from aglab.tsql import ast
    from aglab.tsql.host import Host
    from aglab.tsql.instance import Instance
    from aglab.tsql.session import Session
    from aglab.tsql.store.database import Database


def then(fn: Callable[[Any], Any], change: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """``fn`` followed by ``change`` where there is a value to change."""
    if change is None:
        return fn

    def run(frame: Any) -> Any:
        value = fn(frame)
        return None if value is None else change(value)

    return run


Frame = list[Any]  # [0] is the Runtime, the other slots hold the current row of each source
Function = Callable[[Frame], Any]
NO_REFS: frozenset[int] = frozenset()


@dataclass(slots=True)
class Expr:
    """A compiled value or condition. ``type`` None is the NULL constant; ``refs`` are the slots it reads."""

    fn: Function
    type: SqlType | None
    refs: frozenset[int] = NO_REFS
    nullable: bool = True
    name: str = ""
    constant: bool = False
    sensitive: bool = False  # text compared with case
    column: tuple[int, int] | None = None  # (slot, ordinal) when it is a plain column
    identity: bool = False
    fixed: bool = False  # a literal


@dataclass(slots=True)
class OutColumn:
    """A column of a source or a result."""

    name: str
    type: SqlType
    nullable: bool = True
    sensitive: bool = False
    identity: bool = False


@dataclass
class Bound:
    """A source in FROM: its exposed name, columns and slot."""

    alias: str
    parts: tuple[str, ...]  # schema-qualified name where it is a table: (schema, name) or (database, schema, name)
    columns: list[OutColumn]
    slot: int
    rid_slot: int = 0
    table: Any = None
    index: dict[str, int] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)  # ordinals that the query reads: whether an index covers it
    refused: dict[int, TsqlError] = field(default_factory=dict)  # columns that the session may not read

    def __post_init__(self) -> None:
        for ordinal, column in enumerate(self.columns):
            self.index.setdefault(column.name.lower(), ordinal)

    def read(self, ordinal: int) -> None:
        """Note that the query reads a column. Error 230."""
        self.used.add(ordinal)
        if ordinal in self.refused:
            raise self.refused[ordinal]

    def answers(self, qualifier: tuple[str, ...]) -> bool:
        """Whether a qualified name means this source."""
        if len(qualifier) == 1:
            return self.alias.lower() == qualifier[0].lower()
        if self.alias and self.parts and self.alias.lower() != self.parts[-1].lower():
            return False
        wanted = [part.lower() for part in qualifier]
        own = [part.lower() for part in self.parts]
        if len(own) >= len(wanted):
            return all(w == "" or w == o for w, o in zip(reversed(wanted), reversed(own), strict=False))
        return bool(own) and own == wanted[-len(own) :]


@dataclass
class Grouping:
    """What a grouped query's select list may use: keys by fingerprint, aggregates as they are found."""

    slot: int
    keys: dict[str, tuple[int, Expr]]
    aggregates: list[Any] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)  # fingerprint of an aggregate -> its place
    active: bool = False
    width: int = 0  # number of keys: aggregates come after them
    clause: int = 8120  # the error for a column that is not grouped: 8120 select list, 8121 HAVING, 8127 ORDER BY


@dataclass
class Scope:
    """The sources of one query and its outer query's scope."""

    parent: Scope | None = None
    sources: list[Bound] = field(default_factory=list)
    grouping: Grouping | None = None
    outer_refs: set[int] = field(default_factory=set)
    windows: list[Any] | None = None
    window_slot: int = 0
    visible_sources: int | None = None  # lateral binding: only the first n are visible

    def candidates(self) -> list[Bound]:
        """The sources that can be seen now."""
        return self.sources if self.visible_sources is None else self.sources[: self.visible_sources]

    def own_slots(self) -> set[int]:
        """Slots of this query's sources."""
        return {bound.slot for bound in self.sources}

    def find(self, node: ast.ColumnRef) -> tuple[Bound, int, Scope]:
        """The source and ordinal a column reference means. Raises 207, 209, 4104."""
        parts = node.parts
        name = parts[-1].lower()
        qualifier = parts[:-1]
        scope: Scope | None = self
        qualified = False
        while scope is not None:
            found: tuple[Bound, int, Scope] | None = None
            for bound in scope.candidates():
                if qualifier:
                    if not bound.answers(qualifier):
                        continue
                    qualified = True
                ordinal = bound.index.get(name)
                if ordinal is not None:
                    if found is not None:
                        raise error(209, parts[-1], line=node.line)
                    found = (bound, ordinal, scope)
            if found is not None:
                return found
            if qualified:
                raise error(207, parts[-1], line=node.line)
            scope = scope.parent
        if qualifier:
            raise error(4104, ".".join(parts), line=node.line)
        raise error(207, parts[-1], line=node.line)

    def note_outer(self, owner: Scope, slot: int) -> None:
        """Remember that a slot of an outer query is read from here."""
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            scope.outer_refs.add(slot)
            scope = scope.parent


@dataclass
class CompileContext:
    """What compiling a statement needs; counts the slots of its frame."""

    host: Host
    session: Session
    database: Database
    variables: Variables
    slots: int = 1
    volatile: bool = False  # the plan depends on this session (temporary tables): do not share it
    depth: int = 0
    procedure: str = ""
    subquery_depth: int = 0
    modifies: bool = False
    target: Any = None  # the table that an UPDATE or DELETE changes: SELECT on it is not asked for
    chained: bool = False  # inside a module of dbo: its tables are not asked for

    @property
    def instance(self) -> Instance:
        return self.session.environment or self.host.instance

    def slot(self) -> int:
        """A new slot in the frame."""
        number = self.slots
        self.slots += 1
        return number

    def frame(self, runtime: Any) -> Frame:
        """A fresh frame."""
        frame: Frame = [None] * self.slots
        frame[0] = runtime
        return frame
