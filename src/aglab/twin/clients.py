"""A client's session in the world: the T-SQL session, its interpreter, its connection and its place in the schedule."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import TYPE_CHECKING, Any

from aglab.tsql import Interpreter, Session
from aglab.tsql.effects import Wait

if TYPE_CHECKING:
    from aglab.twin.listener import Connection
    from aglab.twin.node import Node
    from aglab.twin.task import Task

_SERIALS_A_NODE = 1_000_000_000_000
WAIT_US_LONG, LOCK_US_LONG = 15_000_000, 30_000_000
LONG_WAITS = (
    "LATCH_",
    "PAGELATCH_",
    "PAGEIOLATCH_",
    "RESOURCE_SEMAPHORE",
    "SOS_WORKER",
    "WRITELOG",
    "IO_COMPLETION",
    "CMEMTHREAD",
)


class Client:
    """One logged-in connection (a :class:`~aglab.twin.task.Party`)."""

    def __init__(self, node: Node, connection: Connection, session: Session, now_wall_s: float) -> None:
        self.node = node
        self.sink: Any = connection
        self.session = session
        self.interpreter = Interpreter(node, session)
        self.order = node.ordinal * _SERIALS_A_NODE + session.serial  # session ids are reused as soon as clients hang up
        self.task: Task | None = None
        self.enrolled = False
        self.idle_since_wall_s = now_wall_s
        self.gone = False
        self.hang_up_after = False  # the node restarts under its own caller: answer first
        self.connect_time: dt.datetime = node.now()
        self.connection_id = uuid.uuid5(node.server_id, f"{session.spid}:{connection.serial}")

    def wait_started(self, wait: Wait) -> None:
        """See :class:`aglab.twin.task.Party`."""
        session = self.session
        session.status = "suspended"
        session.wait_type = wait.wait_type
        session.wait_resource = wait.resource
        session.wait_started_s = self.node.now_s()
        if wait.kind == "lock":
            session.blocked_by = self.node.instance.locks.blocker(session.spid)

    def wait_ended(self, wait: Wait, waited_us: int) -> None:
        """See :class:`aglab.twin.task.Party`."""
        session = self.session
        session.status = "running"
        session.wait_type = session.wait_resource = ""
        session.blocked_by = 0
        if wait.wait_type:
            self.node.waits.add(wait.wait_type, waited_us)
            if waited_us >= WAIT_US_LONG:
                self._tell(wait.wait_type, waited_us)
        self.node.cluster.groups.catch_up()

    def _tell(self, wait_type: str, waited_us: int) -> None:
        """wait_info of system_health, by its predicate: latches and the like over 15 s, locks over 30 s."""
        lock = wait_type.startswith("LCK_") and waited_us >= LOCK_US_LONG
        if not (lock or wait_type.startswith(LONG_WAITS)):
            return
        fields: dict[str, object] = {
            "wait_type": wait_type,
            "opcode": (1, "End"),
            "duration": waited_us // 1000,
            "signal_duration": 0,
            "session_id": self.session.spid,
        }
        self.node.system_health.note("wait_info", fields, self.node.now_s())

    def request_ended(self) -> None:
        """A request is over."""
        self.session.status = "sleeping"
        self.session.last_request_end = self.node.now()


class WaitBook:
    """Waits of user sessions by type: count, total and longest (ms); the engine's own are added where they are shown."""

    def __init__(self) -> None:
        self.rows: dict[str, list[float]] = {}

    def add(self, wait_type: str, waited_us: int) -> None:
        """Count one wait."""
        row = self.rows.setdefault(wait_type, [0.0, 0.0, 0.0])
        row[0] += 1
        row[1] += waited_us / 1000.0
        row[2] = max(row[2], waited_us / 1000.0)

    def clear(self) -> None:
        """DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR), or a restart."""
        self.rows.clear()
