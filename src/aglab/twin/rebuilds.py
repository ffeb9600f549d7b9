"""Resumable index rebuilds: ALTER INDEX ... REBUILD WITH (ONLINE = ON, RESUMABLE = ON), PAUSE, RESUME, ABORT.

A rebuild reads and writes the pages of its index at the sequential rates of the data volume, in virtual time, and no faster
than its processors work (MAXDOP, within MAX_DOP of the session's workload group); it takes nothing from the load but what
MAX_CPU_PERCENT says. A rebuild that is not resumable takes no time. Sources: ALTER INDEX,
sys.index_resumable_operations, "Database Engine events and errors (10000 to 10999)" (SQL Server documentation); 1219 as printed
on the page of resumable table constraints; number and wording of 3643 are not confirmed. Left out: other nodes do not see an
operation, and one whose index was dropped is shown no more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aglab.engine.job_rows import job_rate
from aglab.scenario.maintenance import IndexRebuild
from aglab.tsql import Command, Session, TsqlError, Wait
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, info, text_of
from aglab.tsql.store.files import parts_of
from aglab.tsql.store.pages import leaf_pages
from aglab.tsql.store.table import Table
from aglab.twin.clock import EPOCH
from aglab.twin.encryption import scan_s
from aglab.twin.governor_limits import effective_dop

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database
    from aglab.twin.node import Node

RUNNING, PAUSED, ABORTED = "RUNNING", "PAUSED", "ABORTED"
PAGE_BYTES = 8192
DISCONNECTED = 1219


@dataclass
class Rebuild:
    """One operation: ``done_s`` of ``total_s`` seconds were worked before the present run, which began at ``run_from_s``."""

    database: str
    table: str
    index: str
    sql_text: str
    max_dop: int
    partition: int | None
    pages: int
    total_s: float
    started_s: float
    state: str = PAUSED
    done_s: float = 0.0
    run_from_s: float | None = None
    paused_s: float | None = None

    def worked_s(self, now_s: float) -> float:
        """Seconds worked until now."""
        return self.done_s + (now_s - self.run_from_s if self.run_from_s is not None else 0.0)

    def percent(self, now_s: float) -> float:
        """percent_complete"""
        return min(100.0, 100.0 * self.worked_s(now_s) / self.total_s) if self.total_s > 0 else 100.0


def alter_index(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER INDEX: REBUILD, REORGANIZE, PAUSE, RESUME, ABORT. Errors 10637, 10638, 10641; 574 in a transaction."""
    options = command.options
    database = node.instance.database(command.target)
    schema, _, name = str(options["TABLE"]).partition(".")
    table = database.find(schema, name) if database is not None else None
    if database is None or not isinstance(table, Table):
        return
    action, index = options["ACTION"], str(options["INDEX"])
    key = (database.name.lower(), table.full_name.lower(), index.lower())
    found = node.rebuilds.get(key)
    if action == "PAUSE":
        if found is None or found.state != RUNNING:
            raise error(10641, index, table.name)
        _pause(node, found)
    elif action == "ABORT":
        if found is None:
            raise error(10638, "ABORT", index, table.name)
        found.state = ABORTED
        del node.rebuilds[key]
    elif action == "RESUME":
        if found is None or found.state != PAUSED:
            raise error(10638, "RESUME", index, table.name)
        if "MAXDOP" in options and found.total_s > 0:
            found.max_dop = _degree(node, session, options)
            rest = 1 - found.done_s / found.total_s
            found.total_s = found.done_s + rest * _duration_s(node, found.pages, found.max_dop)
        yield from _run(node, session, found, database, table, options)
    else:
        yield from _rebuild(node, session, key, database, table, options)
    node.cluster.dirty = True


def _rebuild(
    node: Node, session: Session, key: tuple[str, str, str], database: Database, table: Table, options: dict[str, Any]
) -> Iterator[Any]:
    resumable = _checked(session, options)
    found = node.rebuilds.get(key)
    if found is not None and found.state == PAUSED and resumable:
        yield info(10645, table.name)
    elif any(one[:2] == key[:2] for one in node.rebuilds):
        raise error(10637, table.name, table.id)
    if not resumable:
        if options["ACTION"] == "REBUILD":
            node.page_writes.rebuilt(node, database, table, str(options["INDEX"]), options.get("PARTITION"))
        return
    if found is None:
        found = node.rebuilds[key] = _new(node, database, table, options, _degree(node, session, options))
    yield from _run(node, session, found, database, table, options)


def _checked(session: Session, options: dict[str, Any]) -> bool:
    """Whether a rebuild is resumable; what the options ask for together."""
    resumable = options.get("RESUMABLE", "OFF") == "ON" and options["ACTION"] == "REBUILD"
    if not resumable:
        if "MAX_DURATION" in options:
            raise error(59005, "MAX_DURATION", "it goes with RESUMABLE = ON", KNOWLEDGE_PAGE)
        return False
    online = options.get("ONLINE", "OFF")
    if online != "ON" and not (isinstance(online, dict) and "ON" in online):
        raise error(59005, "RESUMABLE = ON", "it goes with ONLINE = ON", KNOWLEDGE_PAGE)
    if str(options["INDEX"]).upper() == "ALL":
        raise error(59005, "RESUMABLE = ON with ALL", "name one index", KNOWLEDGE_PAGE)
    if session.trancount:
        raise error(574, "ALTER INDEX ... RESUMABLE")
    return True


def _duration_s(node: Node, pages: int, degree: int) -> float:
    """Reading and writing the pages, their log, or their sort on ``degree`` processors (0: all), whichever takes longest."""
    gb = pages * PAGE_BYTES / 1e9
    alone = job_rate(node.profile, IndexRebuild(gb=gb, maxdop=degree)).seconds(gb) if pages else 0.0
    return max(scan_s(node, pages * PAGE_BYTES), alone)


def _degree(node: Node, session: Session, options: dict[str, Any]) -> int:
    asked = options.get("MAXDOP", 0)
    return effective_dop(node, session, asked if isinstance(asked, int) else 0)


def _new(node: Node, database: Database, table: Table, options: dict[str, Any], degree: int) -> Rebuild:
    name, partition = str(options["INDEX"]), options.get("PARTITION")
    pages = sum(
        leaf_pages(table, index, rows)
        for index, number, _, rows in parts_of(database, table)
        if index is not None and index.name.lower() == name.lower() and partition in (None, number)
    )
    return Rebuild(
        database.name,
        table.full_name,
        name,
        str(options.get("TEXT", "")),
        degree,
        partition,
        pages,
        _duration_s(node, pages, degree),
        node.now_s(),
    )


def minutes(value: Any) -> int:
    """MAX_DURATION = n [MINUTES]; 0 for no limit."""
    try:
        return max(0, int(str(value).split()[0]))
    except ValueError:
        raise error(102, str(value)) from None


def work(node: Node, session: Session, one: Rebuild, limit_s: float) -> Generator[Any, Any, None]:
    """Let an operation work until its end, its limit (3643), a PAUSE or an ABORT (1219); a session that ends pauses it."""
    one.state, one.run_from_s = RUNNING, node.now_s()
    until_s = node.now_s() + min(one.total_s - one.done_s, limit_s)
    session.progress = lambda: (one.percent(node.now_s()), 1e3 * max(0.0, one.total_s - one.worked_s(node.now_s())))
    try:
        yield Wait("operation", until_s, done=lambda: one.state != RUNNING or node.now_s() >= until_s - 1e-6)
    except BaseException:
        one.state = PAUSED if one.state == RUNNING else one.state
        one.paused_s = node.now_s()
        raise
    finally:
        session.progress = None
        one.done_s, one.run_from_s = one.worked_s(node.now_s()), None
    if one.state != RUNNING:
        raise error(DISCONNECTED)
    if one.done_s < one.total_s - 1e-6:
        _pause(node, one)
        raise error(3643)


def _run(node: Node, session: Session, one: Rebuild, database: Database, table: Table, options: dict[str, Any]) -> Iterator[Any]:
    duration = minutes(options.get("MAX_DURATION", 0))
    try:
        yield from work(node, session, one, duration * 60.0 if duration else float("inf"))
    except TsqlError as problem:
        client = node.clients.get(session.spid)
        if problem.number == DISCONNECTED and client is not None:
            client.hang_up_after = True  # the error first, then the end of the session
        raise
    finally:
        node.cluster.dirty = True
    node.page_writes.rebuilt(node, database, table, one.index, one.partition)
    node.rebuilds.pop((one.database.lower(), one.table.lower(), one.index.lower()), None)


def _pause(node: Node, one: Rebuild) -> None:
    one.state, one.paused_s = PAUSED, node.now_s()
    node.log_line(text_of(10656, one.index, one.table.partition(".")[2]))


def rows(node: Node, database: str) -> Iterator[dict[str, Any]]:
    """sys.index_resumable_operations of a database"""
    now_s, here = node.now_s(), node.instance.database(database)
    for one in node.rebuilds.values():
        schema, _, name = one.table.partition(".")
        table = here.find(schema, name) if here is not None and one.database.lower() == database.lower() else None
        index = (
            next((i for i in table.indexes if i.name.lower() == one.index.lower()), None) if isinstance(table, Table) else None
        )
        if not isinstance(table, Table) or index is None:
            continue
        yield {
            "object_id": table.id,
            "index_id": index.id,
            "name": index.name,
            "sql_text": one.sql_text,
            "last_max_dop": one.max_dop,
            "partition_number": one.partition,
            "state": int(one.state == PAUSED),
            "state_desc": one.state,
            "start_time": EPOCH + dt.timedelta(seconds=one.started_s),
            "last_pause_time": None if one.paused_s is None else EPOCH + dt.timedelta(seconds=one.paused_s),
            "total_execution_time": int(one.worked_s(now_s) / 60),
            "percent_complete": one.percent(now_s),
            "page_count": round(one.pages * one.percent(now_s) / 100),
        }


def to_list(kept: dict[tuple[str, str, str], Rebuild]) -> list[dict[str, Any]]:
    """For the state file: what runs is paused there."""
    return [asdict(one) | {"state": PAUSED, "run_from_s": None} for one in kept.values()]


def from_list(content: list[dict[str, Any]]) -> dict[tuple[str, str, str], Rebuild]:
    """The inverse."""
    made = [Rebuild(**one) for one in content]
    return {(one.database.lower(), one.table.lower(), one.index.lower()): one for one in made}
