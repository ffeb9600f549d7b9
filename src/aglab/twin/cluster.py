"""The simulated cluster: clock, world, machines, availability group and nodes, joined.

Everything here runs on the world thread, except construction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError, UsageError, field_error, unknown_name
from aglab.hardware import profile_names
from aglab.tsql import CommitRecord, Session, TsqlError
from aglab.twin import freeze
from aglab.twin.adapter import Adapter
from aglab.twin.addresses import Addresses
from aglab.twin.availability import Availability, form
from aglab.twin.backups.media import Library
from aglab.twin.clock import Clock
from aglab.twin.endpoints import Files, trust_each_other
from aglab.twin.groups import Groups
from aglab.twin.node import Node
from aglab.twin.plant import DEFAULT_PROFILE, Plant
from aglab.twin.quick import Quick
from aglab.twin.world import World

NODE_NAMES = ("sql1", "sql2", "sql3")
DATABASE = "OLTP"
COMMIT_NOT_KEPT = 50012  # the disk under the state directory refused a commit


class Cluster:
    """Three nodes, in one availability group unless ``bare``.

    Parameters
    ----------
    profile : str
        Hardware profile of every node.
    pace : str
        The clock's pace.
    bare : bool
        No availability group: three stand-alone nodes. sql1 has the load's database, the others have no user database; T-SQL
        forms a group (:mod:`aglab.twin.group_statements`).
    seed : int
        Seed of the engine's randomness.
    cluster_type : str
        Of the group: EXTERNAL, or NONE (no cluster manager).
    """

    def __init__(
        self,
        profile: str = DEFAULT_PROFILE,
        pace: str = "fast",
        bare: bool = False,
        seed: int = 1,
        cluster_type: str = "EXTERNAL",
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bare = bare
        self.clock = Clock(wall, pace)
        self.world = World(self.clock, wall)
        self.plant = Plant(checked_profile(profile), 1 if bare else 3, lambda: self.clock.now_us, seed)
        self.files = Files()
        self.addresses = Addresses(self)
        self.nodes: dict[str, Node] = {}
        self.groups = Groups(self)
        self.quick = Quick(self)
        if not bare:
            self.groups.all.append(Availability(self, form(list(NODE_NAMES), DATABASE, 0.0, cluster_type)))
        self.nodes = {name: Node(self, name, ordinal) for ordinal, name in enumerate(NODE_NAMES, start=1)}
        if not bare:
            trust_each_other(self.nodes)
        self.adapter = Adapter(self)
        self.load_errors: list[tuple[float, str]] = []  # what the load's users were told since it began: when, and the message
        self.plant.log_filled = self._log_filled
        self.state_path: Path | None = None
        self.media: Library | None = None  # backup files
        self.dirty = False  # something small that belongs in the state file has changed
        self.dirty_rows = False  # databases came or went, or rows changed without a commit
        self.on_commit: Callable[[list[str], Any], None] = lambda nodes, record: None
        self.on_snapshot: Callable[[str], None] = lambda name: None
        self.on_restore: Callable[[str], None] = lambda name: None
        self.on_snapshots: Callable[[], list[tuple[str, float | None, str | None, int]]] = list
        self.on_shutdown: Callable[[], None] = lambda: None
        for node in self.nodes.values():
            node.start(first=True)

    @property
    def load_database(self) -> str:
        """The database that the engine's load runs on."""
        return str(getattr(self.plant.scenario, "database", DATABASE))

    @property
    def group(self) -> Availability | None:
        """The availability group of the load's database, else the first one."""
        return self.groups.main

    @property
    def primary(self) -> str:
        """Name of the node that carries the load."""
        group = self.groups.of(self.load_database)
        return group.primary if group is not None else self.plant.flow.primary

    def _log_filled(self, at_s: float) -> None:
        node = self.nodes[self.plant.flow.primary]
        node.log_filled(at_s)
        self.load_errors.append((at_s, f"Msg 9002: {node.log_is_full().text}"))

    def node(self, name: Any) -> Node:
        """The node by name.

        Raises
        ------
        UsageError
            There is no such node.
        """
        found = self.nodes.get(str(name).lower())
        if found is None:
            raise unknown_name("node", str(name), NODE_NAMES)
        return found

    def writers(self) -> list[str]:
        """Sessions with uncommitted changes: rows must not be written to disk while there are any."""
        return [
            f"session {client.session.spid} on {node.name}"
            for node in self.nodes.values()
            for client in node.clients.values()
            if client.session.transaction is not None and client.session.transaction.entries
        ]

    def drop_others(self, caller: Session) -> None:
        """Close every client's connection but the caller's."""
        for node in self.nodes.values():
            for client in list(node.clients.values()):
                if client.session is not caller:
                    node.drop(client)

    def ghost_mark(self) -> int:
        """low_water_mark_for_ghosts: grows with the transactions of the primary."""
        return int(self.nodes[self.primary].totals().get("transactions", 0.0))

    def replicates(self, database: str) -> bool:
        """Whether the database belongs to the availability group."""
        return self.groups.of(database) is not None

    def writers_in(self, node: str, database: str) -> bool:
        """Whether a session on the node has uncommitted changes in a database."""
        return any(
            entry.database.lower() == database.lower()
            for client in self.nodes[node].clients.values()
            if client.session.transaction is not None
            for entry in client.session.transaction.entries
        )

    def drop_users(self, node: Node, database: str, caller: Session | None = None) -> None:
        """Close the connections that use a database on a node (its role changes); the caller's after its answer."""
        for client in list(node.clients.values()):
            if client.session.database.lower() != database.lower() and not self.writers_in(node.name, database):
                continue
            if caller is not None and client.session is caller:
                client.hang_up_after = True
            else:
                node.drop(client)

    def journal(self, names: list[str], record: CommitRecord) -> None:
        """Keep a commit on disk before its client hears of it."""
        try:
            self.on_commit(names, record)
        except AglabError as error:
            raise TsqlError(COMMIT_NOT_KEPT, 17, 1, str(error)) from error

    def ship(self, names: list[str], record: CommitRecord) -> None:
        """Apply a committed transaction on the replicas among ``names``; the first is where it was made (or empty)."""
        for name in names[1:]:
            database = self.nodes[name].instance.database(record.database)
            if database is not None:
                database.apply(record)
                self.nodes[name].note_log(record.database, record.log_bytes, transactions=0)

    def copy_database(self, source: Node, target: Node, name: str) -> None:
        """Give ``target`` the tables that ``source`` has: what a replica has after it caught up."""
        database = source.instance.database(name)
        if database is None:
            return
        kept = target.instance.database(name)
        made = freeze.load(freeze.dump(database))
        made.id = kept.id if kept is not None else max(one.id for one in target.instance.databases.values()) + 1
        if kept is not None:
            made.options |= {key: kept.options[key] for key in ("replica_id", "group_database_id") if key in kept.options}
        freeze.replace_databases(target, {**target.instance.databases, name.lower(): made})
        target.user_log_bytes = source.user_log_bytes
        target.note_membership()
        self.dirty_rows = True

    def set_profile(self, profile: str, caller: Session | None = None) -> None:
        """Other machines under every node; the nodes restart."""
        self.plant.set_profile(checked_profile(profile))
        for node in self.nodes.values():
            node.lay_out_files()
            node.restart(caller=caller)
        self.dirty = True


def checked_profile(name: str) -> str:
    """The profile's name, if there is one.

    Raises
    ------
    UsageError
        Unknown; the nearest known name is offered.
    """
    if str(name).endswith(".toml"):
        return str(name)
    if name not in profile_names():
        raise unknown_name("profile", str(name), profile_names())
    return name


def checked_cluster_type(value: str) -> str:
    """The cluster type of a group that a twin forms by itself.

    Raises
    ------
    UsageError
        Not EXTERNAL or NONE; a Windows cluster cannot be formed by T-SQL.
    """
    if value not in ("EXTERNAL", "NONE"):
        raise unknown_name("cluster type", str(value), ("EXTERNAL", "NONE"))
    return value


def checked_port_base(value: int) -> int:
    """The first of three ports, or 0 for ports chosen by the system.

    Raises
    ------
    UsageError
        Outside 1024 to 65533.
    """
    if value != 0 and not 1024 <= value <= 65533:
        raise field_error(
            "port_base", value, "must be 1024 to 65533, or 0", "twin", "leave --port-base out to have free ports chosen"
        )
    return value


__all__ = ["DATABASE", "NODE_NAMES", "Cluster", "UsageError", "checked_cluster_type", "checked_port_base", "checked_profile"]
