"""Random work, DDL, faults and failovers against running nodes over TDS, judged by :mod:`tds_checker`."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from typing import Any

import mssql_python
from tds_checker import TdsChecker

NODES = ("sql1", "sql2", "sql3")
MANAGER = "EXEC sp_set_session_context N'external_cluster', N'yes'; "
TOTAL = 400
STATES = """SELECT r.replica_server_name AS n, d.is_local AS local, d.is_primary_replica AS [primary],
    d.synchronization_state_desc AS state, d.is_suspended AS suspended, c.is_failover_ready AS ready,
    d.last_sent_lsn AS sent, d.last_received_lsn AS received, d.last_hardened_lsn AS hardened, d.last_redone_lsn AS redone,
    d.last_commit_lsn AS committed
FROM sys.dm_hadr_database_replica_states AS d JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
LEFT JOIN sys.dm_hadr_database_replica_cluster_states AS c
    ON c.replica_id = d.replica_id AND c.group_database_id = d.group_database_id;"""
ROLE = "SELECT role_desc AS r FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
ROWS = "SELECT k FROM dbo.work; SELECT SUM(balance) AS s FROM dbo.account; SELECT name FROM sys.tables WHERE name LIKE 'd%'"
IN_DOUBT = re.compile(
    r"(?i)link failure|kill state|connection|0x2746"
)  # the session ended; other errors say that nothing was done


class Link:
    """Connections to the nodes, made when they are needed; a broken one is forgotten."""

    def __init__(self, twin: Any) -> None:
        self.ports = {one.name: one.port for one in twin.nodes}
        self.password = twin.password()
        self.open: dict[tuple[str, str], Any] = {}
        mssql_python.pooling(enabled=False)

    def run(self, node: str, text: str, database: str = "master") -> list[list[dict[str, Any]]]:
        """Every result set of a batch; the driver's error where it fails (the connection is then made anew)."""
        key = (node, database)
        try:
            if key not in self.open:
                where = f"Server=127.0.0.1,{self.ports[node]};UID=sa;PWD={self.password};Database={database};"
                self.open[key] = mssql_python.connect(where + "TrustServerCertificate=yes;Encrypt=yes", autocommit=True)
            return _sets(self.open[key], text)
        except Exception:
            self.forget(key)
            raise

    def first(self, text: str) -> None:
        """A statement on the first node that takes it (an earlier schedule may have ended with nodes down)."""
        for node in NODES:
            try:
                self.run(node, text)
                return
            except mssql_python.Error:
                if node == NODES[-1]:
                    raise

    def forget(self, key: tuple[str, str] | None = None) -> None:
        """Close one connection, or all."""
        for one in [key] if key is not None else list(self.open):
            with contextlib.suppress(Exception):
                self.open.pop(one).close()


def _sets(connection: Any, text: str) -> list[list[dict[str, Any]]]:
    cursor = connection.cursor()
    cursor.execute(text)
    sets = []
    while True:
        if cursor.description:
            names = [column[0] for column in cursor.description]
            sets.append([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
        if not cursor.nextset():
            return sets


class TdsSchedule:
    """One random schedule over a group that is restored from snapshot ``kind`` (EXTERNAL, NONE, WSFC)."""

    def __init__(self, link: Link, seed: int, steps: int = 40) -> None:
        self.link, self.seed, self.steps = link, seed, steps
        self.rng = random.Random(seed)
        self.kind = self.rng.choice(("EXTERNAL", "NONE", "WSFC"))
        self.history: list[str] = []
        self.counts: dict[str, int] = {}
        self.down: set[str] = set()
        self.cuts: set[str] = set()
        self.keys = 0
        self.state = ""  # synchronization state of the node that was asked last what it has hardened
        self.ended = False  # nothing can be said about the rows any more
        self.closed = ""  # why a question was not answered last
        self.checker = TdsChecker(list(NODES), "sql1", two_allowed=self.kind == "NONE")

    # -- talking -------------------------------------------------------------------------------------------------
    def say(self, node: str, text: str, database: str = "master") -> list[list[dict[str, Any]]] | None:
        """A statement whose refusal is part of the game; None where it was refused or the node is not there."""
        self.history.append(f"{node} {text[:110]}")
        if node in self.down:
            return None
        if "EXEC twin" in text:
            return self.ask(node, text, database)
        try:
            return self.link.run(node, text, database)
        except Exception as error:
            self.history[-1] += f"  -> {str(error)[-140:]}"
            return None

    def ask(self, node: str, text: str, database: str = "master") -> list[list[dict[str, Any]]] | None:
        """A question; None where the node or database is closed. A connection that a role change ended is made anew."""
        if node in self.down:
            return None
        for attempt in range(2):
            known = (node, database) in self.link.open
            try:
                return self.link.run(node, text, database)
            except Exception as error:
                self.closed = f"{node} {str(error)[-200:]}"
                if attempt or not known:
                    break
        return None

    def up(self, but: str = "") -> str:
        """A node that runs."""
        running = [one for one in NODES if one not in self.down]
        return self.rng.choice([one for one in running if one != but] or running)

    # -- the schedule --------------------------------------------------------------------------------------------
    def run(self) -> TdsSchedule:
        """The steps, then the repair of everything."""
        self.link.forget()
        self.link.first(f"EXEC twin.restore @name = '{self.kind}'")
        self.link.forget()
        actions: list[tuple[int, Callable[[], None]]] = [
            (26, self.insert),
            (8, self.transfer),
            (5, self.rolled_back),
            (3, self.define),
            (10, self.wait),
            (5, self.suspend),
            (7, self.resume),
            (5, self.cut),
            (7, self.heal),
            (5, self.crash),
            (7, self.start),
            (2, self.restart),
            (7, self.fail_over),
            (3, self.force),
            (3, self.hand_over),
            (4, self.step_down),
            (3, self.change_mode),
            (2, self.back_up),
            (1, self.load),
            (5, self.look),
        ]
        weights = [weight for weight, _ in actions]
        for _ in range(self.steps):
            action = self.rng.choices([one for _, one in actions], weights)[0]
            self.counts[action.__name__] = self.counts.get(action.__name__, 0) + 1
            action()
            if self.ended:
                return self
        self.repair()
        return self

    # -- work ----------------------------------------------------------------------------------------------------
    def _key(self) -> str:
        self.keys += 1
        return f"w{self.keys}"

    def _work(self, statement: str, key: str) -> None:
        primary = self.checker.primary
        self.history.append(f"{primary} {statement[:110]}")
        if primary in self.down:
            return
        try:
            sets = self.link.run(primary, statement + STATES, "OLTP")
        except Exception as error:
            self.history[-1] += f"  -> {str(error)[-140:]}"
            (self.checker.in_doubt if IN_DOUBT.search(str(error)) else self.checker.refuse)(key)
            self.settle()
            return
        self.checker.acknowledge(primary, key, sets[-1])

    def insert(self) -> None:
        """One row, committed by itself."""
        key = self._key()
        self._work(f"INSERT INTO dbo.work VALUES ('{key}');", key)

    def transfer(self) -> None:
        """Three statements in a transaction."""
        key = self._key()
        one, other = self.rng.sample(range(1, 5), 2)
        amount = self.rng.randint(1, 50)
        self._work(
            f"BEGIN TRAN; UPDATE dbo.account SET balance = balance - {amount} WHERE id = {one};"
            f"UPDATE dbo.account SET balance = balance + {amount} WHERE id = {other};"
            f"INSERT INTO dbo.work VALUES ('{key}'); COMMIT;",
            key,
        )

    def rolled_back(self) -> None:
        """A transaction that is given up."""
        key = self._key()
        text = f"BEGIN TRAN; UPDATE dbo.account SET balance = 0; INSERT INTO dbo.work VALUES ('{key}'); ROLLBACK;"
        if self.say(self.checker.primary, text, "OLTP") is not None:
            self.checker.refuse(key)

    def define(self) -> None:
        """A table."""
        key = "d" + self._key()
        self._work(f"CREATE TABLE dbo.{key} (i int);", key)

    def load(self) -> None:
        """The engine's load for some seconds."""
        self.say(self.checker.primary, f"EXEC twin.run_workload @seconds = {self.rng.choice((1, 3))}, @users = 5")
        self.settle()

    # -- disturbances --------------------------------------------------------------------------------------------
    def wait(self) -> None:
        """Time passes."""
        self.say(self.up(), f"EXEC twin.advance @seconds = {self.rng.choice((0.2, 1, 5, 12, 30))}")
        self.settle()

    def suspend(self) -> None:
        """On a secondary, or everywhere."""
        self.say(self.up(), "ALTER DATABASE [OLTP] SET HADR SUSPEND")
        self.settle()

    def resume(self) -> None:
        """Where it may or may not have been suspended."""
        for node in NODES if self.rng.random() < 0.5 else (self.up(),):
            self.say(node, "ALTER DATABASE [OLTP] SET HADR RESUME")
        self.settle()

    def cut(self) -> None:
        """A node's links, seldom those of the primary."""
        node = self.up()
        if node != self.checker.primary or self.rng.random() < 0.3:
            self.cuts.add(node)
            self.say(self.up(), f"EXEC twin.cut @node = '{node}'")
            self.settle()

    def heal(self) -> None:
        """Every link of a node that was cut."""
        if self.cuts:
            node = self.rng.choice(sorted(self.cuts))
            self.cuts.discard(node)
            self.say(self.up(), f"EXEC twin.heal @node = '{node}'")
            for other in sorted(self.cuts):  # healing one end joins a pair whose other end is still cut off
                self.say(self.up(), f"EXEC twin.cut @node = '{other}'")
            self.settle()

    def crash(self) -> None:
        """A node ends, at once or in order; two of three at most."""
        node = self.up()
        if len(self.down) < 2:
            self.say(self.up(but=node), f"EXEC twin.{self.rng.choice(('crash', 'stop'))} @node = '{node}'")
            self.down.add(node)
            self.settle()

    def start(self) -> None:
        """A node that was down."""
        if self.down:
            node = self.rng.choice(sorted(self.down))
            self.say(self.up(), f"EXEC twin.start @node = '{node}'")
            self.down.discard(node)
            self.settle()

    def restart(self) -> None:
        """Down and up again."""
        node = self.up()
        if len(self.down) < 2:
            self.say(self.up(but=node), f"EXEC twin.restart_node @node = '{node}'")
            self.settle()

    def change_mode(self) -> None:
        """Synchronous or asynchronous commit."""
        mode = self.rng.choice(("SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT"))
        replica = self.rng.choice(NODES)
        clauses = [f"AVAILABILITY_MODE = {mode}"]
        if self.kind == "WSFC" and mode == "ASYNCHRONOUS_COMMIT":
            clauses.insert(0, "FAILOVER_MODE = MANUAL")
        for one in clauses:
            self.say(self.checker.primary, f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{replica}' WITH ({one})")
        self.settle()

    def back_up(self) -> None:
        """The log."""
        self.say(self.checker.primary, "BACKUP LOG [OLTP] TO DISK = N'NUL'")

    # -- failovers -----------------------------------------------------------------------------------------------
    def _fail_over(self, statement: str, lossless: bool) -> None:
        target = self.up(but=self.checker.primary)
        hardened = self._hardened(target)
        undoing = self.state in ("REVERTING", "INITIALIZING")
        if self.say(target, (MANAGER if self.kind == "EXTERNAL" else "") + statement) is None:
            self.settle()
            return
        if not self._took_over(target, hardened, lossless, statement) and undoing and not lossless:
            self.ended = True  # documented: forced in the middle of its undo, a copy has to be restored from backups
        else:
            self.settle()

    def fail_over(self) -> None:
        """Planned."""
        self._fail_over("ALTER AVAILABILITY GROUP ag1 FAILOVER", lossless=True)

    def force(self) -> None:
        """Forced."""
        self._fail_over("ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", lossless=False)

    def hand_over(self) -> None:
        """The documented planned failover with CLUSTER_TYPE = NONE: the primary steps down, then the target is forced."""
        primary = self.checker.primary
        if self.kind != "NONE" or primary in self.down:
            return
        target = self.up(but=primary)
        rows = (self.ask(primary, STATES) or [[]])[-1]
        steady = any(row["n"] == target and row["ready"] and not row["suspended"] for row in rows)
        alone = sorted(n for n, role in self._roles().items() if role == "PRIMARY") == [primary]
        if not steady or not alone or self.say(primary, "ALTER AVAILABILITY GROUP ag1 OFFLINE") is None:
            return
        self.say(primary, "ALTER AVAILABILITY GROUP ag1 SET (ROLE = SECONDARY)")
        hardened = self._hardened(target)
        if self.say(target, "ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS") is not None:
            self._took_over(target, hardened, True, "hand over")
        self.settle()

    def step_down(self) -> None:
        """An old primary becomes a secondary."""
        for node in NODES:
            if node != self.checker.primary and node not in self.down:
                self._demote(node)
        self.settle()

    def _demote(self, node: str) -> None:
        if self.kind == "WSFC":
            return
        role = (self.ask(node, ROLE) or [[]])[-1]
        if role and role[0]["r"] != "SECONDARY":
            self.say(node, "ALTER AVAILABILITY GROUP ag1 OFFLINE")
            self.say(node, "ALTER AVAILABILITY GROUP ag1 SET (ROLE = SECONDARY)")

    def _hardened(self, node: str) -> int:
        rows = (self.ask(node, STATES) or [[]])[-1]
        own = next((row for row in rows if row["local"]), None)
        self.state = own["state"] if own is not None else ""
        return int(own["hardened"]) if own is not None else 0

    def _took_over(self, node: str, hardened: int, lossless: bool, detail: str) -> bool:
        found = self._read(node)
        for _ in range(60):  # recovery takes time
            if found is not None:
                break
            self.ask(self.up(), "EXEC twin.advance @seconds = 1")
            found = self._read(node)
        if found is not None:
            self.checker.became_primary(node, hardened, lossless, found[0], f"{detail} to {node}")
        else:
            self.checker.primary = node
        return found is not None

    # -- looking -------------------------------------------------------------------------------------------------
    def _roles(self) -> dict[str, str]:
        found = {node: self.ask(node, ROLE) for node in NODES}
        return {node: sets[-1][0]["r"] for node, sets in found.items() if sets and sets[-1]}

    def settle(self) -> None:
        """See what is so now: states on every node, and whether another node has taken over by itself."""
        seen = {node: sets for node in NODES if (sets := self.ask(node, ROLE + "; " + STATES)) is not None}
        serving = [node for node, (role, _) in seen.items() if role and role[0]["r"] == "PRIMARY"]
        if len(serving) > 1:
            serving = [node for node in serving if self._writes(node)]
        self.checker.roles(serving, bool(self.down or self.cuts))
        if serving and self.checker.primary not in serving:
            self._took_over(serving[0], 0, self.kind != "NONE", "by itself")  # NONE: the documented risk
        for node in sorted(seen, key=lambda one: one != self.checker.primary):  # what the primary sees says who was rewound
            self.checker.saw(node, seen[node][1])

    def _writes(self, node: str) -> bool:
        return self.ask(node, "SELECT 1 AS one", "OLTP") is not None

    def _read(self, node: str) -> tuple[set[str], int] | None:
        sets = self.ask(node, ROWS, "OLTP")
        if sets is None:
            return None
        return {row["k"] for row in sets[0]} | {row["name"] for row in sets[2]}, int(sets[1][0]["s"])

    def look(self) -> None:
        """Read every node that can be read."""
        for node in NODES:
            found = self._read(node)
            if found is not None:
                self.checker.rows_on(node, found[0], (found[1], TOTAL), whole=node == self.checker.primary)

    def repair(self) -> None:
        """Everything runs, is linked, follows the newest primary and is resumed: all copies end up the same."""
        self.history.append("-- repair")
        for node in sorted(self.down):
            self.say(self.up(), f"EXEC twin.start @node = '{node}'")
            self.down.discard(node)
        for node in sorted(self.cuts):
            self.say(self.up(), f"EXEC twin.heal @node = '{node}'")
        self.cuts.clear()
        self.say("sql1", "EXEC twin.advance @seconds = 30")
        self.settle()
        if "PRIMARY" not in self._roles().values():
            self._fail_over("ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", lossless=False)
            if self.ended:
                return
        for node in NODES:
            if node != self.checker.primary:
                self._demote(node)
        for node in NODES:
            self.say(node, "ALTER DATABASE [OLTP] SET HADR RESUME")
        self.say("sql1", "EXEC twin.advance @seconds = 90")
        self.settle()
        for node in NODES:
            found = self._read(node)
            self.checker.require("converge", found is not None, f"cannot be read: {self.closed}; {self._roles()}")
            assert found is not None
            self.checker.rows_on(node, found[0], (found[1], TOTAL), whole=True)
