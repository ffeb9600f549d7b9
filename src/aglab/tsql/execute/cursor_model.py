"""A server cursor: what it is, where it stands, what its fetch buffer holds. DECLARE CURSOR and the drivers' sp_cursor* share it.

Type: what was asked for, as far as the query allows it. A query that cannot be followed row by row gives a snapshot (STATIC); TOP
or an ORDER BY that no index delivers caps DYNAMIC at KEYSET; a keyset declared in T-SQL over a table without a unique or
clustered index is a snapshot. STATIC and FAST_FORWARD are read-only.
Positions count rows from 1; 0 is before the first row, one more than
their number after the last. A keyset's rows are read again at each fetch, a row that is gone or whose key changed is missing;
a dynamic cursor's members too, when a table changed. Sources: "DECLARE CURSOR", "Cursors", "sp_cursorfetch" (SQL Server
documentation). Left out: asynchronous population, the clean-up after TEMPDB runs full.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import Any

from aglab.tsql import ast
from aglab.tsql.execute.base import Effects
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error
from aglab.tsql.query.keyset import Key, Keyset, locator
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import CompileContext, OutColumn
from aglab.tsql.runtime import Variables
from aglab.tsql.store.table import Row, Table

STATIC, KEYSET, DYNAMIC, FAST_FORWARD = "STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"
READ_ONLY, SCROLL_LOCKS, OPTIMISTIC = "READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"
NEVER_FETCHED = -9


@dataclass
class Fetched:
    """One row of the fetch buffer: as sent (None: missing), its key, the rows of its tables."""

    row: Row | None
    key: Key = ()
    images: tuple[Row | None, ...] = ()


@dataclass(eq=False)
class Cursor:
    """A cursor, open or not. ``start`` is the position of the buffer's first row; ``place`` the current row in the buffer."""

    handle: int
    name: str
    query: ast.Query
    wanted: str = ""  # STATIC, KEYSET, DYNAMIC, FAST_FORWARD, or "" for the default
    scrollable: bool = False
    concurrency: str = ""  # as asked for; "" for the default
    api: bool = False
    is_global: bool = True
    update_columns: frozenset[str] | None = None  # FOR UPDATE OF
    variables: Variables = field(default_factory=Variables)
    created: datetime.datetime | None = None
    text: str = ""
    nesting: int = 0
    kind: str = ""
    is_open: bool = False
    columns: list[OutColumn] = field(default_factory=list)
    keyset: Keyset | None = None
    names: list[tuple[str, ...]] = field(default_factory=list)  # of the tables: database, schema, name
    start: int = 0
    place: int = 1
    buffer: list[Fetched] = field(default_factory=list)
    fetch_status: int = NEVER_FETCHED
    row_count: int = 0
    last_operation: int = 0
    fetches: int = 0
    _plan: Any = None
    _context: CompileContext | None = None
    _members: list[Any] = field(default_factory=list)  # snapshot: rows; keyset, dynamic: keys
    _marks: dict[tuple[int, int], Any] = field(default_factory=dict)  # (table, row id) -> its key values when it became a member
    _stamp: tuple[Any, ...] = ()
    _shapes: tuple[Any, ...] = ()
    _held: list[Resource] = field(default_factory=list)

    @property
    def live(self) -> bool:
        """Whether membership is asked for at each fetch."""
        return self.kind in (DYNAMIC, FAST_FORWARD) and self.keyset is not None

    @property
    def rows(self) -> int:
        """@@CURSOR_ROWS: -1 for a dynamic cursor, whose number of rows may change."""
        return 0 if not self.is_open else -1 if self.live else len(self._members)

    @property
    def status(self) -> int:
        """CURSOR_STATUS: 1 open, 0 open without rows, -1 closed."""
        return -1 if not self.is_open else 1 if self.live or self._members else 0

    @property
    def position(self) -> int:
        """Of the current row; 0 before the first, -1 after the last."""
        if not self.buffer:
            return -1 if self.start > len(self._members) else 0
        return self.start + self.place - 1

    def give(self, columns: list[OutColumn], rows: list[Row]) -> Cursor:
        """Open it over rows that are there already (of a procedure, of a report on cursors): a scrollable snapshot."""
        self.columns, self._members, self.row_count = columns, list(rows), len(rows)
        self.kind, self.concurrency, self.is_open, self.last_operation = STATIC, READ_ONLY, True, 1
        return self

    # --- opening ------------------------------------------------------------------------------------------------------------

    def settle(self, executor: Any) -> None:
        """Compile the query and decide what the cursor can be."""
        inner = self._inner(executor)
        context = inner.context()
        planner = Planner(context)
        planner.keyed = self.query
        self._plan, self._context = planner.query(self.query, None), context
        self.keyset = keyset = planner.keyset if self.query.for_clause is None else None
        self.columns = keyset.columns if keyset is not None else self._plan.columns
        kind = self.wanted or (KEYSET if self.scrollable else DYNAMIC)
        if keyset is None:
            kind = FAST_FORWARD if kind == FAST_FORWARD else STATIC
        elif kind != STATIC:
            tables = keyset.tables(context.frame(inner.runtime))
            self.names = [_name_of(executor, bound, table) for bound, table in zip(keyset.bounds, tables, strict=True)]
            self._shapes = _shapes(tables)
            if kind in (DYNAMIC, FAST_FORWARD) and (keyset.limited or not keyset.ordered_by_index(tables)):
                kind = KEYSET if kind == DYNAMIC else STATIC
            if kind == KEYSET and not self.api and not all(locator(table) for table in tables):
                kind = STATIC
            if kind == STATIC and self.wanted == FAST_FORWARD:
                kind, self.keyset = FAST_FORWARD, None
        if kind == STATIC and self.keyset is not None:
            self.keyset = None
        self.kind = kind
        if kind in (STATIC, FAST_FORWARD) or self.keyset is None:
            self.concurrency = READ_ONLY
        self.concurrency = self.concurrency or OPTIMISTIC

    def open(self, executor: Any) -> Effects[None]:
        """Fill the cursor. Error 16905 when it is open."""
        if self.is_open:
            raise error(16905)
        self.settle(executor)
        self.is_open, self.start, self.place, self.buffer = True, 0, 1, []
        self.fetch_status, self.last_operation = NEVER_FETCHED, 1
        self._stamp = ()
        self._marks = {}
        if self.live:
            self._members = []
            self.row_count = 0
            return
        rows = yield from self._rows(executor)
        if self.keyset is None:
            width = len(self.columns)
            self._members = rows if not rows or len(rows[0]) == width else [row[:width] for row in rows]
        else:
            self._members = [self.keyset.key(row) for row in rows]
            frame = self._frame(executor)
            for number, table in enumerate(self.keyset.tables(frame)):
                index = locator(table)
                for key in self._members:
                    if index is not None and key[number] in table.rows:
                        self._marks[number, key[number]] = index.key(table.rows[key[number]])
        self.row_count = len(rows)

    def close(self, executor: Any) -> None:
        """Give rows and locks up. Error 16917 when it is not open."""
        if not self.is_open:
            raise error(16917)
        self.release(executor)
        self.is_open, self.buffer, self._members, self.start = False, [], [], 0
        self.last_operation = 6

    # --- fetching -----------------------------------------------------------------------------------------------------------

    def fetch(self, executor: Any, direction: str, offset: int = 0, count: int = 1) -> Effects[bool]:
        """Fill the buffer; True where a backward fetch was moved to the first row ("sp_cursorfetch": status 2).

        Directions: NEXT, PRIOR, FIRST, LAST, ABSOLUTE, RELATIVE, REFRESH, PRIOR_NOADJUST. Errors 16911, 16917, 16925, 16943.
        """
        if not self.is_open:
            raise error(16917)
        if direction not in ("NEXT", "REFRESH") and not self.scrollable:
            raise error(16911, "sp_cursorfetch" if self.api else "fetch", direction.partition("_")[0].lower())
        if direction == "ABSOLUTE" and self.live:
            raise error(16925, direction.lower())
        old, following = yield from self._renew(executor)
        self.last_operation = 2
        self.fetches += 1
        total = len(self._members)
        if direction == "REFRESH":
            yield from self._fill(executor, self.start, len(self.buffer), skip=False)
            return False
        moved = False
        size = count
        if direction == "NEXT":
            first = following
        elif direction == "FIRST":
            first = 1 if count else 0
        elif direction == "LAST":
            first = max(total - count + 1, 1) if count else total + 1
        elif direction == "ABSOLUTE":
            first = offset if offset >= 0 else total + 1 + offset
            if offset < -total and -offset <= count:
                first = 1
        elif direction == "RELATIVE":
            first = old + offset
            if first < 1 and old > 1 and -offset <= count:
                first = 1
        else:
            first = old - count
            if first < 1 and old > 1:
                size = old - 1 if direction == "PRIOR_NOADJUST" else count
                moved, first = direction == "PRIOR", 1
        if first < 1 or first > total or not total:
            self.start = 0 if first < 1 else total + 1
            self.buffer, self.fetch_status, self.row_count = [], -1, 0
            self._let_go(executor, None)
            return moved
        yield from self._fill(executor, first, size, skip=self.live and direction in ("NEXT", "PRIOR"))
        return moved

    def _fill(self, executor: Any, first: int, count: int, skip: bool) -> Effects[None]:
        inner = self._inner(executor)
        wanted: list[Fetched] = []
        place = first
        while len(wanted) < count and place <= len(self._members):
            member = self._members[place - 1]
            if self.keyset is None:
                wanted.append(Fetched(member))
            else:
                found = yield from self._read(inner, member)
                if found.row is not None or not skip:
                    wanted.append(found)
                elif not wanted:
                    first += 1
            place += 1
        self._let_go(executor, wanted)
        self.buffer, self.start, self.place = wanted, first, 1
        self.row_count = len(wanted)
        self.fetch_status = -1 if not wanted else -2 if wanted[0].row is None else 0
        if not inner.session.trancount and inner.session.transaction is None:
            _release_all(inner)

    def _read(self, inner: Any, key: Key) -> Effects[Fetched]:
        keyset, context = self.keyset, self._context
        assert keyset is not None and context is not None
        if self.concurrency == SCROLL_LOCKS:
            frame = context.frame(inner.runtime)
            for scan, table, row_id in zip(keyset.scans, keyset.tables(frame), key, strict=True):
                if scan.shared and row_id:
                    yield from inner.lock_row(table, row_id, "U")
        row, images = yield from inner.guarded(lambda: keyset.read(context.frame(inner.runtime), key))
        if row is not None and self.kind == KEYSET:
            tables = keyset.tables(context.frame(inner.runtime))
            for number, (table, image) in enumerate(zip(tables, images, strict=True)):
                mark, index = self._marks.get((number, key[number])), locator(table)
                if image is not None and mark is not None and index is not None and index.key(image) != mark:
                    return Fetched(None, key)
        return Fetched(row, key, images)

    def _renew(self, executor: Any) -> Effects[tuple[int, int]]:
        """Ask a dynamic cursor's members again if a table changed: (position of the buffer, position of what follows it)."""
        old, size, total = self.start, len(self.buffer), len(self._members)
        following = old + size if size else old if old > total else old + 1
        if self.keyset is None:
            return old, following
        tables = self.keyset.tables(self._frame(executor))
        if _shapes(tables) != self._shapes or not all(map(_there, [executor] * len(tables), self.names, tables)):
            raise error(16943)
        stamp = tuple(table.changes for table in tables)
        if not self.live or stamp == self._stamp:
            return old, following
        before, first = self._members, not self._stamp
        rows = yield from self._rows(executor)
        self._members = [self.keyset.key(row) for row in rows]
        self._stamp = stamp
        if first or old == 0:
            return old, following
        if old > total:
            return len(self._members) + 1, _after(before, self._members, total) + 1
        here = _after(before, self._members, old)
        last = _after(before, self._members, old + max(size, 1) - 1)
        same = here >= 1 and self._members[here - 1] == before[old - 1]
        return (here if same else here + 1), last + 1

    def _rows(self, executor: Any) -> Effects[list[Row]]:
        inner, plan, context = self._inner(executor), self._plan, self._context
        assert context is not None
        rows: list[Row] = yield from inner.guarded(lambda: plan.rows(context.frame(inner.runtime)))
        if not inner.session.trancount and inner.session.transaction is None:
            _release_all(inner)
        return rows

    # --- for positioned changes ---------------------------------------------------------------------------------------------

    def changed(self, executor: Any, table: Table, row_id: int) -> None:
        """A positioned UPDATE or DELETE through this cursor: its buffer shows the new row, its keyset knows the new key.

        The row's scroll lock has become the change's and ends with it.
        """
        assert self.keyset is not None and self._context is not None
        for resource in [one for one in self._held if (one.object_id, one.key) == (table.id, row_id)]:
            self._held.remove(resource)
            executor.runtime.instance.locks.pinned.discard((executor.session.spid, resource))
        index = locator(table)
        for number, bound in enumerate(self.keyset.bounds):
            if bound.table is not table and self.names[number][-1].lower() != table.name.lower():
                continue
            for one in self.buffer:
                if one.key[number] == row_id:
                    image = table.rows.get(row_id)
                    one.images = tuple(image if n == number else old for n, old in enumerate(one.images))
            if index is not None and row_id in table.rows and (number, row_id) in self._marks:
                self._marks[number, row_id] = index.key(table.rows[row_id])
            if self._stamp and not self.scrollable and self._stamp[number] == table.changes - 1:  # nothing else changed it
                self._stamp = tuple(table.changes if n == number else old for n, old in enumerate(self._stamp))

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _inner(self, executor: Any) -> Any:
        """An executor whose variables are those of the declaration."""
        runtime = replace(executor.runtime, variables=self.variables, moment=None)
        return executor.interpreter.executor(runtime)

    def _frame(self, executor: Any) -> Any:
        assert self._context is not None
        return self._context.frame(self._inner(executor).runtime)

    def release(self, executor: Any) -> None:
        """Give up scroll locks."""
        self._let_go(executor, None)

    def _let_go(self, executor: Any, wanted: list[Fetched] | None) -> None:
        """Scroll locks last until the next fetch, also past the end of a transaction; a row changed in one stays its own."""
        if self.concurrency != SCROLL_LOCKS or self.keyset is None:
            return
        locks, spid = executor.runtime.instance.locks, executor.session.spid
        kept: list[Resource] = []
        tables = self.keyset.tables(self._frame(executor)) if wanted else []
        for one in wanted or ():
            for scan, table, row_id in zip(self.keyset.scans, tables, one.key, strict=True):
                if scan.shared and row_id:
                    kept.append(Resource("KEY" if table.clustered else "RID", scan.database_id, table.id, row_id))
        for resource in self._held:
            if resource not in kept:
                locks.pinned.discard((spid, resource))
                if not executor.session.trancount and locks.mode_held(spid, resource) == "U":
                    locks.release(spid, resource)
        locks.pinned.update((spid, resource) for resource in kept)
        self._held = kept


def _release_all(inner: Any) -> None:
    inner.runtime.instance.locks.release_all(inner.session.spid)


def _after(before: list[Key], now: list[Key], position: int) -> int:
    """Where the member at ``position`` of the old list, or else its nearest predecessor that is left, stands now; 0 for none."""
    places = {key: place for place, key in enumerate(now, 1)}
    for key in reversed(before[:position]):
        if key in places:
            return places[key]
    return 0


def _shapes(tables: list[Table]) -> tuple[Any, ...]:
    return tuple((id(table), tuple((c.name, c.type) for c in table.columns)) for table in tables)


def _there(executor: Any, name: tuple[str, ...], table: Table) -> bool:
    """Whether the table still goes by its name."""
    if len(name) < 3 or name[0].lower() == "tempdb":
        return True
    database = executor.runtime.instance.database(name[0])
    return database is not None and database.find(name[1], name[2]) is table


def _name_of(executor: Any, bound: Any, table: Table) -> tuple[str, ...]:
    parts = tuple(part for part in bound.parts if part)
    if len(parts) > 2:
        return parts
    if table.name.startswith(("#", "@")):
        return (table.name,)
    return (executor.runtime.database.name, table.schema, table.name)
