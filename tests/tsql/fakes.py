"""A node for tests: a clock that a driver moves, canned view rows, a log of what it was told."""

from __future__ import annotations

import datetime
from typing import Any

from aglab.tsql import Columns, Done, EnvChange, Instance, Interpreter, Message, ReturnStatus, ReturnValue, Rows, Wait

EPOCH = datetime.datetime(2024, 3, 1, 12, 0, 0)


class FakeHost:
    """Answers the interpreter as a node would; ``time_s`` is its clock."""

    def __init__(self, *databases: str) -> None:
        self.instance = Instance("sql1", databases or ("OLTP",))
        self.time_s = 0.0
        self.views: dict[str, Any] = {}
        self.wanted: dict[str, Any] = {}  # view -> what the last query asked of it
        self.commits: list[Any] = []
        self.changes: list[Any] = []
        self.commands: list[Any] = []
        self.batches = 0
        self.adapters: dict[str, Any] = {}
        self.log: list[str] = []
        self.refuse: Any = None
        self.killed: list[int] = []
        self.commit_wait_s = 0.0

    def statement_begins(self):
        """Nothing to keep still."""

    def now_s(self) -> float:
        return self.time_s

    def now(self) -> datetime.datetime:
        return EPOCH + datetime.timedelta(seconds=self.time_s)

    def server_property(self, name: str) -> Any:
        return None

    def view_rows(self, view: str, arguments: tuple[Any, ...], session: Any, wanted: Any = None) -> Any:
        self.wanted[view] = wanted
        rows = self.views.get(view)
        return rows(arguments) if callable(rows) else rows

    def changed(self, change: Any, session: Any) -> Any:
        self.changes.append(change)

    def administer(self, command: Any, session: Any) -> Any:
        self.commands.append(command)
        return iter(()) if command.name in ("CHECKPOINT", "BACKUP DATABASE", "ALTER DATABASE SET ACCESS") else None

    def commit(self, record: Any, session: Any) -> Any:
        self.commits.append(record)
        if not self.commit_wait_s:
            return None
        return iter([Wait("time", self.time_s + self.commit_wait_s, "WRITELOG")])

    def volume_kind(self, path: str) -> str | None:
        return "dax" if path.startswith("/mnt/dax/") else "block"

    def replicates(self, database: str) -> bool:
        return False

    def check_access(self, database: str, session: Any, for_write: bool, rows: bool = True) -> None:
        if self.refuse is not None:
            self.refuse(database, session, for_write)

    def adapter(self, name: str) -> Any:
        return self.adapters.get(name)

    def batch_started(self, session: Any, text: str) -> None:
        self.batches += 1

    def error_log(self, text: str) -> None:
        self.log.append(text)

    def kill(self, spid: int) -> None:
        self.killed.append(spid)


class Result:
    """What a batch gave: result sets, messages, counts."""

    def __init__(self) -> None:
        self.sets: list[list[tuple[Any, ...]]] = []
        self.columns: list[tuple[Any, ...]] = []
        self.messages: list[Message] = []
        self.counts: list[int | None] = []
        self.values: list[Any] = []
        self.status: int | None = None
        self.env: list[EnvChange] = []
        self.waits: list[Wait] = []
        self.pieces: list[int] = []  # rows of each chunk of the results

    def take(self, effect: Any) -> None:
        if isinstance(effect, Columns):
            self.columns.append(effect.columns)
            self.sets.append([])
        elif isinstance(effect, Rows):
            short = all(c.type.name in ("int", "bigint", "smallint", "tinyint", "bit", "float") for c in self.columns[-1])
            assert len(effect.rows) <= 500 or (short and len(effect.rows) * len(self.columns[-1]) <= 5000)
            self.pieces.append(len(effect.rows))
            self.sets[-1].extend(effect.rows)
        elif isinstance(effect, Message):
            self.messages.append(effect)
        elif isinstance(effect, Done):
            self.counts.append(effect.rowcount)
        elif isinstance(effect, ReturnStatus):
            self.status = effect.value
        elif isinstance(effect, ReturnValue):
            self.values.append(effect)
        elif isinstance(effect, EnvChange):
            self.env.append(effect)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return self.sets[-1]

    @property
    def value(self) -> Any:
        return self.sets[-1][0][0]

    @property
    def errors(self) -> list[int]:
        return [m.number for m in self.messages if m.is_error]

    @property
    def types(self) -> list[str]:
        return [str(c.type) for c in self.columns[-1]]


class Client:
    """A session whose waits the fake clock satisfies at once."""

    def __init__(self, host: FakeHost | None = None, database: str = "OLTP") -> None:
        self.host = host or FakeHost(database)
        self.session = self.host.instance.open_session(database=database)
        self.interpreter = Interpreter(self.host, self.session)

    def run(self, text: str) -> Result:
        return self.drive(self.interpreter.run_batch(text))

    def rpc(self, name: Any, *parameters: Any) -> Result:
        return self.drive(self.interpreter.run_rpc(name, parameters))

    def drive(self, generator: Any) -> Result:
        result = Result()
        for effect in generator:
            if isinstance(effect, Wait):
                result.waits.append(effect)
                assert effect.kind == "time", f"would block: {effect}"
                assert effect.until_s is not None
                self.host.time_s = max(self.host.time_s, effect.until_s)
            else:
                result.take(effect)
        return result


class World:
    """Several sessions over one clock: runs each until it waits, wakes in (time, session) order."""

    def __init__(self, host: FakeHost) -> None:
        self.host = host
        self.tasks: list[dict[str, Any]] = []

    def start(self, client: Client, text: str) -> Result:
        result = Result()
        self.tasks.append(
            {"generator": client.interpreter.run_batch(text), "wait": None, "result": result, "spid": client.session.spid}
        )
        return result

    def run(self, limit: int = 10_000) -> None:
        for _ in range(limit):
            if not self.tasks:
                return
            ready = [t for t in self.tasks if t["wait"] is None or self._ready(t["wait"])]
            if not ready:
                times = [t["wait"].until_s for t in self.tasks if t["wait"].until_s is not None]
                assert times, "every session waits for a lock: a deadlock was not found"
                self.host.time_s = max(self.host.time_s, min(times))
                continue
            self._advance(min(ready, key=lambda t: t["spid"]))
        raise AssertionError("the sessions did not end")

    def _ready(self, wait: Wait) -> bool:
        if wait.done is not None and wait.done():
            return True
        return wait.until_s is not None and wait.until_s <= self.host.time_s

    def _advance(self, task: dict[str, Any]) -> None:
        task["wait"] = None
        try:
            effect = task["generator"].send(None)
        except StopIteration:
            self.tasks.remove(task)
            return
        if isinstance(effect, Wait):
            task["wait"] = effect
            task["result"].waits.append(effect)
        else:
            task["result"].take(effect)
