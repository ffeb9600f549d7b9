"""The errorlog of a node: dated lines, cycled at every start, at most :data:`LOGS_KEPT` old ones."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.node import Node

LOGS_KEPT = 6
LINES_MAX = 20000

Line = tuple[dt.datetime, str, str]


class ErrorLog:
    """Lines of the current log and of the logs before it."""

    def __init__(self) -> None:
        self.logs: list[list[Line]] = [[]]

    def write(self, node: Node, text: str, source: str = "Server", at_s: float | None = None) -> None:
        """Add a line at the node's time, or at ``at_s`` on the cluster's clock."""
        current = self.logs[0]
        if len(current) >= LINES_MAX:
            del current[: LINES_MAX // 2]
        current.append((node.now() if at_s is None else EPOCH + dt.timedelta(seconds=at_s), source, text))
        if node.on_log_line is not None:
            node.on_log_line(current[-1])

    def cycle(self, node: Node) -> None:
        """Begin a new log, as a start of the instance does."""
        if self.logs[0]:
            self.logs.insert(0, [])
            del self.logs[LOGS_KEPT + 1 :]
        cpu, memory = node.profile.cpu, node.profile.memory
        parameters = "".join(f"\n\t {one}" for one in node.instance.startup_parameters)
        for line in (
            node.instance.version,
            f"SIMULATED, profile {node.profile.name}.",
            "Server process ID is " + str(9 + node.ordinal) + ".",
            "Authentication mode is MIXED.",
            "Logging SQL Server messages in file '/var/opt/mssql/log/errorlog'.",
            f"Registry startup parameters: {parameters}",
            f"SQL Server detected {cpu.sockets} sockets with {cpu.cores_per_socket} cores per socket and "
            f"{cpu.cores_per_socket * cpu.threads_per_core} logical processors per socket, {cpu.threads} total logical "
            f"processors; using {cpu.threads} logical processors based on SQL Server licensing. This is an informational "
            "message; no user action is required.",
            f"Detected {int(memory.installed_mb)} MB of RAM. This is an informational message; no user action is required.",
        ):
            self.write(node, line)
        for name in ("master", "model", "msdb", node.database_name):
            if node.instance.database(name) is None:
                continue
            self.write(node, f"Starting up database '{name}'.", source="spid9s")
        self.write(
            node, "SQL Server is now ready for client connections. This is an informational message; no user action is required."
        )
        group = node.cluster.group
        if group is not None and group.role(node.name) in ("PRIMARY", "SECONDARY"):
            role = f"{group.role(node.name)}_NORMAL"
            self.write(
                node,
                f"The state of the local availability replica in availability group '{group.name}' has changed from "
                f"'RESOLVING_NORMAL' to '{role}'. The state changed because the availability group is coming online.",
                source="spid22s",
            )

    def rows(self, arguments: tuple[Any, ...]) -> list[dict[str, Any]]:
        """Rows of sp_readerrorlog: log number, type (1 server, 2 agent), two texts that must both occur, span, order."""
        number, kind, first, second, begin, end, order = ([*arguments, *[None] * 7])[:7]
        index = int(number or 0)
        if (kind is not None and int(kind) != 1) or index < 0 or index >= len(self.logs):
            return []
        wanted = [str(text).lower() for text in (first, second) if text]
        rows = [
            {"LogDate": moment, "ProcessInfo": source, "Text": text}
            for moment, source, text in self.logs[index]
            if all(one in text.lower() for one in wanted)
            and (begin is None or moment >= begin)
            and (end is None or moment <= end)
        ]
        return rows[::-1] if str(order or "").lower() == "desc" else rows

    def archives(self) -> list[tuple[int, str, int]]:
        """Number, time of the last line and size in bytes of each log."""
        return [
            (number, f"{log[-1][0]:%m/%d/%Y  %H:%M}" if log else "", sum(2 * len(text) + 80 for _, _, text in log))
            for number, log in enumerate(self.logs)
        ]

    def to_list(self) -> list[list[list[str]]]:
        """For the state file."""
        return [[[moment.isoformat(), source, text] for moment, source, text in log[-500:]] for log in self.logs]

    @classmethod
    def from_list(cls, content: list[list[list[str]]]) -> ErrorLog:
        """The inverse of :meth:`to_list`."""
        log = cls()
        log.logs = [[(dt.datetime.fromisoformat(moment), source, text) for moment, source, text in one] for one in content] or [
            []
        ]
        return log
