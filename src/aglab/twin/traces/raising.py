"""Where events are raised: around batches and calls, and at the end of every statement.

Nothing here runs unless a session that is started collects one of the events.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from aglab.tsql.effects import Message

if TYPE_CHECKING:
    from aglab.tsql import Session
    from aglab.twin.node import Node

BATCH = frozenset(("sql_batch_starting", "sql_batch_completed", "rpc_completed", "error_reported"))
STATEMENTS = frozenset(("sql_statement_completed", "sp_statement_completed", "query_post_execution_showplan"))


class Cost:
    """What a session has used since a moment."""

    def __init__(self, node: Node, session: Session) -> None:
        self.node, self.session = node, session
        self.at_us = node.cluster.clock.now_us
        self.before = (session.reads, session.logical_reads, session.writes)

    def values(self) -> dict[str, int]:
        """Fields of a completed event: microseconds, pages, rows."""
        session = self.session
        now = (session.reads, session.logical_reads, session.writes)
        physical, logical, writes = (after - before for after, before in zip(now, self.before, strict=True))
        return {
            "duration": self.node.cluster.clock.now_us - self.at_us,
            "cpu_time": 0,
            "physical_reads": physical,
            "logical_reads": logical,
            "writes": writes,
            "row_count": max(session.row_count, 0),
        }


def traced(node: Node, session: Session, effects: Any, text: str, procedure: str = "") -> Generator[Any, Any, None]:
    """A request's effects, with the events of its start, its errors and its end."""
    cost, failed = Cost(node, session), False
    watched = node.traces.watched
    if not procedure and "sql_batch_starting" in watched:
        session.current_text = text
        node.traces.note(node, session, "sql_batch_starting", batch_text=text)
    advance: Callable[[], Any] = partial(effects.send, None)
    while True:
        try:
            effect = advance()
        except StopIteration:
            break
        if isinstance(effect, Message) and effect.is_error:
            failed = True
            if "error_reported" in watched:
                said = {"error_number": effect.number, "severity": effect.severity, "state": effect.state}
                node.traces.note(node, session, "error_reported", **said, message=effect.text)
        try:
            advance = partial(effects.send, (yield effect))
        except GeneratorExit:
            effects.close()
            raise
        except Exception as problem:  # noqa: BLE001  an attention, a lock's error: the batch itself answers it
            advance = partial(effects.throw, problem)
    result = "Error" if failed else "OK"
    if procedure and "rpc_completed" in node.traces.watched:
        node.traces.note(node, session, "rpc_completed", **cost.values(), result=result, object_name=procedure, statement=text)
    elif not procedure and "sql_batch_completed" in node.traces.watched:
        node.traces.note(node, session, "sql_batch_completed", **cost.values(), result=result, batch_text=text)


def statement(node: Node, runtime: Any, tree: Any, cost: Cost) -> None:
    """The end of a statement: of a batch, or of a procedure; and its plan, where it is a query or changes rows."""
    traces, session = node.traces, runtime.session
    text = runtime.text[tree.start - runtime.text_start : tree.end - runtime.text_start]
    place = {"object_id": runtime.procedure_id or 0, "object_name": runtime.procedure}
    if runtime.procedure:
        if "sp_statement_completed" in traces.watched:
            traces.note(node, session, "sp_statement_completed", **place, **cost.values(), statement=text)
    elif "sql_statement_completed" in traces.watched:
        traces.note(node, session, "sql_statement_completed", **cost.values(), statement=text)
    if "query_post_execution_showplan" in traces.watched:
        database = runtime.database
        entry = node.instance.statements.entries.get((database.id, runtime.text, tree.start - runtime.text_start))
        if entry is not None and type(tree).__name__ in ("QueryStatement", "Insert", "Update", "Delete", "Merge"):
            spent = cost.values()
            traces.note(
                node,
                session,
                "query_post_execution_showplan",
                **place,
                duration=spent["duration"],
                cpu_time=0,
                showplan_xml=entry.showplan(),
            )
