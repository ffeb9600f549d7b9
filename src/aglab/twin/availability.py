"""One availability group of a twin: the rules of :mod:`aglab.ag` over live nodes, rows and the engine's log positions.

``aglab up`` forms one: ag1, cluster type EXTERNAL, synchronous commit on every replica, sql1 primary; on bare nodes CREATE
AVAILABILITY GROUP does (:mod:`aglab.twin.group_statements`). The engine runs the load of one database; for the group that holds
it, it says how far log has got, the rules say what follows (roles, synchronization, sessions, commits), and this module carries
that out: errorlog lines, dropped connections, the engine's primary and links, rows (:mod:`aglab.twin.shipping`). While a replica
in step is silent, the load waits as a synchronous commit does, until SESSION_TIMEOUT has passed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import effects as ef
from aglab.ag import events as ev
from aglab.ag.base import identifier
from aglab.ag.ledger import VLF_BYTES
from aglab.ag.ledger import lsn_decimal as lsn
from aglab.tsql import CommitRecord, Session, TsqlError, Wait
from aglab.twin import health_events
from aglab.twin.contained import drop_environment
from aglab.twin.governor_limits import load_logs_in
from aglab.twin.persistent_memory import tell
from aglab.twin.shipping import Shipping

if TYPE_CHECKING:
    from aglab.engine.outputs import LogPosition
    from aglab.twin.cluster import Cluster

IN_STEP_BYTES = 1.0  # what the engine rounds
COMMIT_STEP_S = 0.05  # how often a waiting commit looks again
KILLED = (596, 21, 1, "Cannot continue the execution because the session is in the kill state.")


def spec_of(names: list[str], database: str, cluster_type: str = "EXTERNAL") -> ag.GroupSpec:
    """Group ag1 as ``aglab up`` makes it (EXTERNAL), or without a cluster manager (NONE)."""
    kind = ag.ClusterType(cluster_type)
    mode = ag.FailoverMode.EXTERNAL if kind == ag.ClusterType.EXTERNAL else ag.FailoverMode.MANUAL
    replicas = [
        ag.ReplicaSpec(
            one,
            failover_mode=mode,
            seeding_mode="AUTOMATIC",
            primary_connections="ALL",
            secondary_connections="ALL",
        )
        for one in names
    ]
    return ag.GroupSpec("ag1", kind, replicas, [database], db_failover=kind == ag.ClusterType.EXTERNAL)


def form(names: list[str], database: str, since_s: float, cluster_type: str = "EXTERNAL") -> ag.Group:
    """Group ag1 over the nodes, the first one primary, every copy synchronized."""
    return ag.Group.form(spec_of(names, database, cluster_type), names[0], since_s, nodes=names)


def time_at(epoch: dt.datetime, seconds: float) -> dt.datetime:
    """A datetime (3 ms grain, as type datetime has) of a clock reading."""
    moment = epoch + dt.timedelta(seconds=seconds)
    return moment.replace(microsecond=moment.microsecond // 10000 * 10000)


class Availability:
    """One group on a cluster of nodes (world thread).

    Attributes
    ----------
    rules : aglab.ag.Group
    rows : Shipping
        Which replica has which committed rows.
    serial : int
        Tells groups of one name apart in the state file.
    """

    def __init__(self, cluster: Cluster, rules: ag.Group, serial: int = 1) -> None:
        self.cluster = cluster
        self.serial = serial
        self.rules = rules
        self.rows = Shipping(cluster, self)
        self._outcomes: dict[int, ef.Effect] = {}
        self._commits = max((one.id for ledger in rules.ledgers.values() for one in ledger.commits), default=0)
        self.listener_home: str | None = None  # where the listener was made
        self._end_bytes = cluster.plant.log_end(rules.primary() or "")

    def replace(self, rules: ag.Group) -> None:
        """Another state of the group (a restored one); rows are the caller's business."""
        rows, home = self.rows, self.listener_home
        self.__init__(self.cluster, rules, self.serial)  # type: ignore[misc]
        self.rows, self.listener_home = rows, home
        self.engine_renewed()

    def engine_renewed(self) -> None:
        """The engine's log begins again (other machines, other replicas): count what is made from here."""
        self._end_bytes = self.cluster.plant.log_end(self.cluster.plant.flow.primary)

    # -- reading -------------------------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The group's name."""
        return self.rules.name

    @property
    def primary(self) -> str:
        """The node that serves, or that served last."""
        return self.rules.primary() or self.rules.believed_primary() or self.cluster.plant.flow.primary

    @property
    def load(self) -> str | None:
        """The database that the engine's load runs on, where it belongs to this group."""
        return None if self.rules.beyond.fed() else self.holds(self.cluster.load_database)

    def holds(self, database: str) -> str | None:
        """The group's name of a database that belongs to it, or None."""
        return next((one for one in self.rules.spec.databases if one.lower() == database.lower()), None)

    def local(self, node: str, database: str) -> str | None:
        """The name of a database that has a copy on the node, joined or left behind."""
        return next((one for one in self.rules.nodes[node].databases if one.lower() == database.lower()), None)

    def role(self, node: str) -> str:
        """PRIMARY, SECONDARY, RESOLVING."""
        return self.rules.nodes[node].role.value

    def linked(self, node: str) -> bool:
        """Whether a replica's session with the primary stands."""
        return self.rules.nodes[node].connected

    # -- time ----------------------------------------------------------------------------------------------------
    def now_s(self) -> float:
        """The group's time: the clock's, never going back."""
        return max(self.cluster.clock.now_s, self.rules.now_s)

    def sync(self) -> None:
        """Bring engine, timers and positions to the clock's time."""
        self.cluster.plant.sync()
        self.move()

    def fire(self, due_s: float) -> None:
        """A timer of the group is due; the engine stands at that moment."""
        self.move(due_s)
        self.apply(ev.Tick(), now_s=due_s)

    # -- events --------------------------------------------------------------------------------------------------
    def act(self, *happened: Any, caller: Session | None = None) -> list[ef.Effect]:
        """Events at the clock's time, and what follows at once."""
        self.sync()
        effects: list[ef.Effect] = []
        for event in happened:
            effects += self.apply(event, caller)
        self.move()
        self.cluster.dirty = True
        return effects

    def tell(self, event: Any, caller: Session | None = None) -> None:
        """A statement; the rules' refusal becomes its error."""
        for effect in self.act(event, caller=caller):
            if isinstance(effect, ef.Refused):
                raise TsqlError(effect.number, effect.severity, effect.state, effect.text)

    def notice(self, caller: Session | None = None) -> list[ef.Effect]:
        """The cluster notices now what it would notice after its detection time."""
        self.rules.regroup_at_s = self.now_s()
        return self.act(ev.Tick(), caller=caller)

    def apply(self, event: Any, caller: Session | None = None, now_s: float | None = None) -> list[ef.Effect]:
        """One event, carried out."""
        effects = list(self.rules.apply(event, self.now_s() if now_s is None else max(now_s, self.rules.now_s)))
        for effect in effects:
            self.carry_out(effect, caller)
        self._tell_engine()
        self.rows.settle()
        self.cluster.groups.settled()
        return effects

    def carry_out(self, effect: ef.Effect, caller: Session | None) -> None:
        """What follows from an effect on the nodes."""
        nodes = self.cluster.nodes
        if getattr(effect, "node", None) not in nodes and hasattr(effect, "node"):
            return  # a replica on a machine that the cluster does not have
        if isinstance(effect, ef.LogLine | ef.SessionEvent) and nodes[effect.node].health.running:
            for name, fields in health_events.from_effect(self, effect):
                nodes[effect.node].note_event(name, fields, self.rules.now_s)
        if isinstance(effect, ef.SyncStateChanged):
            health_events.partner_state(self, effect)
        if isinstance(effect, ef.LogLine):
            nodes[effect.node].errorlog.write(nodes[effect.node], effect.text, "spid33s", self.rules.now_s)
        elif isinstance(effect, ef.CommitAcknowledged | ef.CommitFailed):
            self._outcomes[effect.id] = effect
        elif isinstance(effect, ef.RoleChanged):
            self.cluster.dirty = True
            for database in self.rules.spec.databases:
                self.cluster.drop_users(nodes[effect.node], database, caller)
            drop_environment(nodes[effect.node], self, caller)
        elif isinstance(effect, ef.FailedOver):
            self.rows.promoted(effect.new)
        elif isinstance(effect, ef.Rewound):
            self.rows.rewound(effect.node, effect.database)
        elif isinstance(effect, ef.DatabaseJoined):
            nodes[effect.node].note_membership()
        elif isinstance(effect, ef.DatabaseStateChanged):
            nodes[effect.node].note_state(effect.database, effect.new)
        elif isinstance(effect, ef.DatabaseLeft):
            self.cluster.drop_users(nodes[effect.node], effect.database, caller)
            nodes[effect.node].note_membership()

    # -- engine --------------------------------------------------------------------------------------------------
    def move(self, now_s: float | None = None) -> None:
        """Give the rules the engine's positions: each replica is as far behind the end of log as its queues say."""
        plant, rules = self.cluster.plant, self.rules
        moment = self.now_s() if now_s is None else max(now_s, rules.now_s)
        source, load = rules.primary(), self.load
        if source is None or (load is not None and source != plant.flow.primary):
            return
        logs = {name: plant.flow.log_position(name) for name in plant.flow.names} if load is not None else {}
        if load is not None:
            made = int(logs[source].end - self._end_bytes)
            if made > 0:
                self._end_bytes += made
                self.apply(ev.WriteLog(source, load, made), now_s=moment)
        for name, node in rules.nodes.items():
            for database in list(node.databases):
                self._progress(source, name, database, logs.get(name) if database == load else None, moment)

    def _progress(self, source: str, name: str, database: str, log: LogPosition | None, moment: float) -> None:
        copy = self.rules.nodes[name].databases[database]
        origin = self.rules.nodes[source].databases.get(database)
        if origin is None or not copy.joined or not self.rules.nodes[name].up:
            return
        behind = log.send_queue if log and name != source else 0.0
        unredone = log.redo_queue if log else 0.0
        hardened = origin.hardened - (int(behind) if behind > IN_STEP_BYTES else 0)
        redone = hardened - (int(unredone) if unredone > IN_STEP_BYTES else 0)
        moves = copy.moving and (copy.sent < hardened or copy.received < hardened or copy.hardened < hardened)
        late = copy.hardened < copy.received or copy.known_hardened < copy.hardened
        if moves or late or copy.redone < min(redone, copy.hardened) or copy.undo_lsn is not None:
            self.apply(ev.Progress(name, database, hardened, hardened, hardened, redone), now_s=moment)

    def _tell_engine(self) -> None:
        plant, rules, load = self.cluster.plant, self.rules, self.load
        if load is None:
            return
        primary = rules.primary()
        if primary is not None and primary != plant.flow.primary:
            if not plant.carries(primary):
                plant.set_replicas([one for one in self.cluster.nodes if one in (*plant.flow.names, primary)])
            plant.set_primary(primary)
            tell(self.cluster)
            load_logs_in(self.cluster)
            self.engine_renewed()
        silent = False
        for name in plant.flow.names:
            node = rules.nodes[name]
            copy = node.databases.get(load)
            if name == primary:  # whom its commits wait for is said of each secondary
                self._tell_node(name, {"availability_mode": "SYNCHRONOUS_COMMIT"})
                continue
            if copy is None:
                continue
            moving = node.connected and node.silent_since_s is None and copy.moving
            silent |= node.silent_since_s is not None and primary is not None and (name, load) in rules.nodes[primary].view.ready
            wanted = {
                "connected": moving,
                "suspended": copy.suspended is not None or not node.up,
                "availability_mode": "SYNCHRONOUS_COMMIT" if rules.commits_synchronously(node) else "ASYNCHRONOUS_COMMIT",
            }
            self._tell_node(name, wanted)
        copy = rules.nodes[primary].databases.get(load) if primary is not None else None
        plant.hold(silent or copy is None or not copy.available or self.cluster.groups.distributed.waits(self))

    def _tell_node(self, name: str, wanted: dict[str, Any]) -> None:
        plant = self.cluster.plant
        for key, value in wanted.items():
            default = {"connected": True, "suspended": False}.get(key, "SYNCHRONOUS_COMMIT")
            if plant.node_settings.get((name, key), default) != value:
                plant.change(name, **{key: value})

    def renew_role(self) -> None:
        """The group's role in a distributed group has changed: the load moves with it."""
        self._tell_engine()

    # -- commits -------------------------------------------------------------------------------------------------
    def commit(self, node: str, record: CommitRecord) -> Generator[Any, Any, None] | None:
        """Log a transaction, ship it; what still has to be waited for, or None."""
        self.sync()
        database = self.holds(record.database) or record.database
        self._commits += 1
        number = self._commits
        lsn_bytes = 0
        for effect in self.apply(ev.Commit(node, database, number, max(1, int(record.log_bytes)))):
            if isinstance(effect, ef.Refused):
                raise TsqlError(effect.number, effect.severity, effect.state, effect.text)
            if isinstance(effect, ef.CommitLogged) and effect.id == number:
                lsn_bytes = effect.lsn
        self.move()
        self.cluster.groups.distributed.settle()
        self.rows.commit(node, database, record, lsn_bytes)
        if isinstance(self._outcomes.get(number), ef.CommitAcknowledged):
            del self._outcomes[number]
            return self._harden(node, database)
        return self._await(number, node, database, record)

    def _harden(self, node: str, database: str) -> Generator[Any, Any, None]:
        """The time that an acknowledged commit took, by the engine; a client that goes away meanwhile has committed."""
        synchronous = bool(self.rules.synchronized_secondaries(self.rules.nodes[node], database))
        until = self.cluster.clock.now_s + self.cluster.plant.commit_s()
        yield Wait("time", until, wait_type="HADR_SYNC_COMMIT" if synchronous else "WRITELOG")

    def _await(self, number: int, node: str, database: str, record: CommitRecord) -> Generator[Any, Any, None]:
        try:
            while number not in self._outcomes:
                now = self.cluster.clock.now_s
                due = self.rules.next_timer_s()
                until = now + COMMIT_STEP_S if due is None or due <= now else min(due, now + COMMIT_STEP_S)
                yield Wait("time", until, wait_type="HADR_SYNC_COMMIT")
                self.sync()
                self.cluster.groups.distributed.settle()
            effect = self._outcomes.pop(number)
            if isinstance(effect, ef.CommitFailed):
                if effect.number == 0:
                    raise TsqlError(*KILLED)
                raise TsqlError(effect.number, 14, 1, effect.text)
        except BaseException:
            self.rows.withdraw(node, database, record)
            raise

    # -- keeping -------------------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """For the state file."""
        rules = ag.saving.to_dict(self.rules)
        gaps = sorted([*key, fork] for key, fork in self.rows.gaps.items())
        rows = {"stale": sorted(self.rows.stale), "gaps": gaps}
        return {"rules": rules, **rows, "listener_home": self.listener_home, "serial": self.serial}


__all__ = ["VLF_BYTES", "Availability", "form", "identifier", "lsn", "spec_of", "time_at"]
