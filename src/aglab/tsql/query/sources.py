"""Row sources: scans, seeks, derived rows and joins. Each sets its slots in the frame and yields once per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from aglab.tsql.locks import Resource
from aglab.tsql.query.memory import check_isolation, conflict
from aglab.tsql.query.reads import Window
from aglab.tsql.query.scope import Bound, Frame, Function
from aglab.tsql.runtime import LockNeeded, Runtime
from aglab.tsql.store.database import Database
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.table import Index, Key, Row, Table, comparable

DIRTY_HINTS = frozenset({"NOLOCK", "READUNCOMMITTED"})
HOLD_HINTS = frozenset({"HOLDLOCK", "SERIALIZABLE", "REPEATABLEREAD", "UPDLOCK", "XLOCK", "TABLOCKX"})


class RowSource:
    """Something that FROM can iterate."""

    slots: tuple[int, ...] = ()

    def iterate(self, frame: Frame) -> Iterator[None]:
        """Set the slots to each row in turn."""
        raise NotImplementedError

    def blank(self, frame: Frame) -> None:
        """Set the slots to a row of NULLs (outer joins)."""
        raise NotImplementedError


class Nothing(RowSource):
    """No FROM: one row without columns."""

    def iterate(self, frame: Frame) -> Iterator[None]:
        yield

    def blank(self, frame: Frame) -> None:
        return None


class Seek:
    """How an index narrows a table: values for a key prefix, and perhaps a range on the next column."""

    def __init__(
        self, index_name: str, prefix: list[Function], fold: tuple[bool, ...], low: Function | None, high: Function | None
    ) -> None:
        self.index_name = index_name
        self.prefix = prefix
        self.fold = fold
        self.low = low
        self.high = high

    def key(self, frame: Frame) -> Key | None:
        """The prefix now; None when a value is NULL (nothing matches)."""
        key = []
        for fn, fold in zip(self.prefix, self.fold, strict=False):
            value = fn(frame)
            if value is None:
                return None
            key.append(comparable(value, fold))
        return tuple(key)

    def row_ids(self, index: Index, key: Key, frame: Frame) -> list[int]:
        """The row ids found."""
        if self.low is None and self.high is None:
            return list(index.prefix(key))
        fold = index.fold[len(key)]
        low = self.low(frame) if self.low is not None else None
        high = self.high(frame) if self.high is not None else None
        if (self.low is not None and low is None) or (self.high is not None and high is None):
            return []
        return list(
            index.between(key, None if low is None else comparable(low, fold), None if high is None else comparable(high, fold))
        )


class TableScan(RowSource):
    """A user, temporary or variable table: scan or seek, with the locks that the isolation level asks for."""

    def __init__(
        self, bound: Bound, find: Callable[[Frame], Table], hints: frozenset[str], database_id: int, shared: bool
    ) -> None:
        self.bound = bound
        self.find = find
        self.hints = hints
        self.database_id = database_id
        self.shared = shared  # other sessions can see the table
        self.seek: Seek | None = None
        self.window: Window = {}
        self.condition: Function | None = None
        self.for_update = False
        self.slots = (bound.slot, bound.rid_slot)
        self._blank = (None,) * len(bound.columns)

    def blank(self, frame: Frame) -> None:
        frame[self.bound.slot] = self._blank
        frame[self.bound.rid_slot] = 0

    def plain_rows(self, frame: Frame) -> Iterable[Row] | None:
        """All rows at once where no lock has to be looked at and no seek applies; None otherwise."""
        if self.seek is not None:
            return None
        table = self.find(frame)
        if self.shared and (is_memory(table) or not self._free(frame[0], table)):
            return None
        self._note_scan(frame, table)
        rows = table.scan().values()
        frame[0].visit(len(rows))
        return rows

    def _note_scan(self, frame: Frame, table: Table) -> None:
        reads = frame[0].session.reads_now
        if reads is not None and not is_memory(table):
            reads.scan(table, self._database(frame[0], table), self.bound.used, self.window, frame)

    def _database(self, runtime: Runtime, table: Table) -> Database | None:
        if not self.shared:
            return None
        return next((one for one in runtime.instance.databases.values() if one.id == self.database_id), None)

    def _free(self, runtime: Runtime, table: Table) -> bool:
        if self._tracks(runtime) or runtime.instance.locks.held_tables:
            return False
        return not runtime.instance.locks.locked_rows(self.database_id, table.id, runtime.session.spid, "S")

    def _tracks(self, runtime: Runtime) -> bool:
        return bool(runtime.session.options.isolation in (3, 4) or self.hints & HOLD_HINTS) and not self.hints & DIRTY_HINTS

    def iterate(self, frame: Frame) -> Iterator[None]:
        table = self.find(frame)
        slot, rid_slot = self.slots
        condition = self.condition
        runtime: Runtime = frame[0]
        key, row_ids = self._access(table, frame)
        changes, tracked_mode = self._guard(runtime, table, key) if self.shared else (None, "")
        rows = table.rows if row_ids is not None else table.scan()
        items: Iterable[tuple[int, Row | None]]
        if row_ids is not None:
            items = [(row_id, rows.get(row_id)) for row_id in row_ids]
            runtime.visit(len(items))
        else:
            runtime.visit(len(rows))
            items = list(rows.items())
            self._note_scan(frame, table)
        if changes is not None:
            items = self._corrected(table, items, changes, key)
        tracked = runtime.tracked if tracked_mode else None
        for row_id, row in items:
            if row is None:
                continue
            frame[slot] = row
            frame[rid_slot] = row_id
            if condition is None or condition(frame):
                if tracked is not None:
                    tracked.append((table, row_id, tracked_mode))
                yield

    def _access(self, table: Table, frame: Frame) -> tuple[tuple[Index, Key] | None, Iterable[int] | None]:
        if self.seek is None:
            return None, None
        index = next((item for item in table.indexes if item.name == self.seek.index_name), None)
        if index is None:
            return None, None
        key = self.seek.key(frame)
        if key is None:
            return None, ()
        found = self.seek.row_ids(index, key, frame)
        reads = frame[0].session.reads_now
        if reads is not None and not is_memory(table):
            database = self._database(frame[0], table)
            reads.seek(table, database, index, len(key), len(found), self.bound.used, self.window, frame)
        return (index, key), found

    def _guard(self, runtime: Runtime, table: Table, seek: tuple[Index, Key] | None) -> tuple[dict[int, Row | None] | None, str]:
        """As :meth:`_look`; with NOWAIT a lock that is needed is not waited for."""
        if "NOWAIT" not in self.hints:
            return self._look(runtime, table, seek)
        try:
            return self._look(runtime, table, seek)
        except LockNeeded as need:
            need.nowait = True
            raise

    def _look(self, runtime: Runtime, table: Table, seek: tuple[Index, Key] | None) -> tuple[dict[int, Row | None] | None, str]:
        """Look at others' locks: raise LockNeeded, or return images to read instead of the current rows."""
        options = runtime.session.options
        hints = self.hints
        if is_memory(table):
            return self._memory_guard(runtime, table, seek), ""
        dirty = (options.isolation == 1 or hints & DIRTY_HINTS) and not self.for_update and not hints & HOLD_HINTS
        mode = "X" if hints & {"XLOCK", "TABLOCKX"} else "U" if "UPDLOCK" in hints or self.for_update else "S"
        tracked = mode if self._tracks(runtime) and not self.for_update else ""
        locks = runtime.instance.locks
        if self._table_blocked(runtime, table, mode, bool(dirty)):
            raise LockNeeded(Resource("OBJECT", self.database_id, table.id), "IS" if mode == "S" else "IX", False, table)
        if dirty:
            return None, ""
        if hints & {"TABLOCK", "TABLOCKX"} or (options.isolation == 4 and not self.for_update):
            wanted = "X" if "TABLOCKX" in hints else "S"
            resource = Resource("OBJECT", self.database_id, table.id)
            held = locks.mode_held(runtime.session.spid, resource)
            if held not in (wanted, "X", "SIX") and not ("TABLOCK" in hints and wanted == "S" and options.isolation < 4):
                raise LockNeeded(resource, wanted, True, table)
        if mode == "S" and self._versioned(runtime):
            return runtime.uncommitted(table) or None, ""
        foreign = locks.locked_rows(self.database_id, table.id, runtime.session.spid, "S" if mode == "S" else "U")
        if not foreign:
            return None, tracked
        if "READPAST" in hints:
            return dict.fromkeys(foreign), tracked
        for row_id, owner in foreign.items():
            if seek is None or self._meets(seek, table, row_id, owner, runtime):
                kind = "KEY" if table.clustered else "RID"
                raise LockNeeded(Resource(kind, self.database_id, table.id, row_id), mode, mode != "S", table)
        return None, tracked

    def _memory_guard(self, runtime: Runtime, table: Table, seek: tuple[Index, Key] | None) -> dict[int, Row | None] | None:
        """A memory-optimized table: versions for readers, error 41302 for a writer that meets another's open change."""
        check_isolation(runtime, self.hints, self.database_id)
        if not self.for_update:
            return runtime.uncommitted(table) or None
        for row_id, owner in runtime.instance.locks.locked_rows(self.database_id, table.id, runtime.session.spid, "U").items():
            if seek is None or self._meets(seek, table, row_id, owner, runtime):
                raise conflict(runtime)
        return None

    def _table_blocked(self, runtime: Runtime, table: Table, mode: str, dirty: bool) -> bool:
        resource = Resource("OBJECT", self.database_id, table.id)
        wanted = "Sch-S" if dirty or (mode == "S" and self._versioned(runtime)) else "IS" if mode == "S" else "IX"
        return runtime.instance.locks.would_block(runtime.session.spid, resource, wanted)

    def _versioned(self, runtime: Runtime) -> bool:
        """Whether a reader sees the last committed version instead of waiting."""
        isolation = runtime.session.options.isolation
        if isolation == 5:
            return True
        if isolation != 2 or "READCOMMITTEDLOCK" in self.hints:
            return False
        database = next((d for d in runtime.instance.databases.values() if d.id == self.database_id), None)
        return database is not None and bool(database.options["is_read_committed_snapshot_on"])

    @staticmethod
    def _matches(seek: tuple[Index, Key], row: Row) -> bool:
        index, key = seek
        return index.key(row)[: len(key)] == key

    def _meets(self, seek: tuple[Index, Key], table: Table, row_id: int, owner: int, runtime: Runtime) -> bool:
        """Whether the seek reads a locked row, as it is or as it was committed."""
        row = table.rows.get(row_id)
        if row is not None and self._matches(seek, row):
            return True
        image = runtime.committed(table, row_id, owner)
        if image is None or (row is not None and all(image[o] == row[o] for o in seek[0].columns)):
            return False  # the key never moved
        return self._matches(seek, image)

    def _corrected(
        self, table: Table, items: Iterable[tuple[int, Row | None]], images: dict[int, Row | None], seek: tuple[Index, Key] | None
    ) -> list[tuple[int, Row | None]]:
        kept = [(row_id, row) for row_id, row in items if row_id not in images]
        for row_id, image in images.items():
            if image is not None and (seek is None or self._matches(seek, image)):
                kept.append((row_id, image))
        kept.sort(key=lambda item: item[0])
        return kept


class Rows(RowSource):
    """Rows computed elsewhere: a derived table, a view, a function, a system view. Computed once where nothing varies."""

    def __init__(self, slot: int, width: int, rows: Function, cache_slot: int) -> None:
        self.slot = slot
        self.slots = (slot,)
        self.rows = rows
        self.cache_slot = cache_slot
        self.condition: Function | None = None
        self._blank = (None,) * width

    def blank(self, frame: Frame) -> None:
        frame[self.slot] = self._blank

    def plain_rows(self, frame: Frame) -> Iterable[Row]:
        """All rows."""
        if not self.cache_slot:
            found = self.rows(frame)
        else:
            found = frame[self.cache_slot]
            if found is None:
                found = frame[self.cache_slot] = self.rows(frame)
        frame[0].visit(len(found))
        return found

    def iterate(self, frame: Frame) -> Iterator[None]:
        slot, condition = self.slot, self.condition
        for row in self.plain_rows(frame):
            frame[slot] = row
            if condition is None or condition(frame):
                yield


class NestedLoop(RowSource):
    """INNER, LEFT, CROSS joins and APPLY: the right side runs once per row of the left."""

    def __init__(self, left: RowSource, right: RowSource, on: Function | None, outer: bool) -> None:
        self.left, self.right, self.on, self.outer = left, right, on, outer
        self.slots = left.slots + right.slots

    def blank(self, frame: Frame) -> None:
        self.left.blank(frame)
        self.right.blank(frame)

    def iterate(self, frame: Frame) -> Iterator[None]:
        on, right, outer = self.on, self.right, self.outer
        for _ in self.left.iterate(frame):
            matched = False
            for _ in right.iterate(frame):
                if on is None or on(frame):
                    matched = True
                    yield
            if outer and not matched:
                right.blank(frame)
                yield


class HashJoin(RowSource):
    """INNER, LEFT and FULL joins on equality: the right side is read once into a dictionary."""

    def __init__(
        self, left: RowSource, right: RowSource, keys: list[tuple[Function, Function]], on: Function | None, kind: str
    ) -> None:
        self.left, self.right, self.keys, self.on, self.kind = left, right, keys, on, kind
        self.slots = left.slots + right.slots

    def blank(self, frame: Frame) -> None:
        self.left.blank(frame)
        self.right.blank(frame)

    def _build(self, frame: Frame) -> tuple[dict[Key, list[tuple[Any, ...]]], list[tuple[Any, ...]]]:
        table: dict[Key, list[tuple[Any, ...]]] = {}
        everything: list[tuple[Any, ...]] = []
        slots = self.right.slots
        key_fns = [right for _, right in self.keys]
        full = self.kind == "FULL"
        for _ in self.right.iterate(frame):
            image = tuple(frame[slot] for slot in slots)
            if full:
                everything.append(image)
            key = tuple(fn(frame) for fn in key_fns)
            if None not in key:
                table.setdefault(key, []).append(image)
        return table, everything

    def iterate(self, frame: Frame) -> Iterator[None]:
        table, everything = self._build(frame)
        runtime: Runtime = frame[0]
        slots, on = self.right.slots, self.on
        key_fns = [left for left, _ in self.keys]
        outer = self.kind in ("LEFT", "FULL")
        seen: set[int] = set()
        full = self.kind == "FULL"
        for _ in self.left.iterate(frame):
            key = tuple(fn(frame) for fn in key_fns)
            matched = False
            images = table.get(key, ()) if None not in key else ()
            runtime.visit(len(images))
            for image in images:
                for slot, value in zip(slots, image, strict=True):
                    frame[slot] = value
                if on is None or on(frame):
                    matched = True
                    if full:
                        seen.add(id(image))
                    yield
            if outer and not matched:
                self.right.blank(frame)
                yield
        if full:
            self.left.blank(frame)
            for image in everything:
                if id(image) not in seen:
                    for slot, value in zip(slots, image, strict=True):
                        frame[slot] = value
                    yield


class Filter(RowSource):
    """Keeps rows that satisfy a condition."""

    def __init__(self, source: RowSource, condition: Function) -> None:
        self.source, self.condition = source, condition
        self.slots = source.slots

    def blank(self, frame: Frame) -> None:
        self.source.blank(frame)

    def iterate(self, frame: Frame) -> Iterator[None]:
        condition = self.condition
        for _ in self.source.iterate(frame):
            if condition(frame):
                yield
