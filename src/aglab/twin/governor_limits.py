"""What Resource Governor and process affinity leave to the load and to sessions.

The load's users are in the workload group that the classifier gives to the login that started them. Of that group's pool
CAP_CPU_PERCENT and AFFINITY bound the processors that the machines serve the load with, MAX_IOPS_PER_VOLUME the random reads of
the data volume; MAX_CPU_PERCENT bounds it only while a session of another pool backs up, restores, rebuilds or checks (that is
contention, "Resource Governor resource pool"). GROUP_MAX_REQUESTS lets so many of a group's requests run: a session's request
waits (RESMGR_THROTTLED), the load's users beyond it do not work. ALTER SERVER CONFIGURATION SET PROCESS AFFINITY bounds the
processors of everybody. Left out: MIN_CPU_PERCENT, MIN_IOPS_PER_VOLUME, IMPORTANCE, memory and time limits, whose effect on
others has no mechanism here; writes of the checkpoint and of the log, which no pool governs on a server either. Source: "CREATE
RESOURCE POOL", "CREATE WORKLOAD GROUP", "ALTER SERVER CONFIGURATION" (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Session, Wait
from aglab.tsql.messages import KNOWLEDGE_PAGE, error
from aglab.twin.governor import DEFAULT, Group, Pool, classify

if TYPE_CHECKING:
    from aglab.twin.clauses import Clauses
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

CONTENDERS = frozenset({"BACKUP DATABASE", "BACKUP LOG", "RESTORE DATABASE", "RESTORE LOG", "ALTER INDEX"})


def pool_of(node: Node, group_id: int) -> Pool:
    """The pool in use of a workload group; the default pool where the group is gone."""
    made = node.governor.active
    group = _group(node, group_id)
    pools = {one.id: one for one in made.pools.values()}
    return pools.get(group.pool_id if group is not None else DEFAULT, pools[DEFAULT])


def _group(node: Node, group_id: int) -> Group | None:
    return next((one for one in node.governor.active.groups.values() if one.id == group_id), None)


def schedulers(node: Node) -> list[int]:
    """Schedulers that process affinity leaves online."""
    every = range(node.profile.cpu.threads)
    return [one for one in every if node.affinity is None or one in node.affinity]


# -- the load --------------------------------------------------------------------------------------------------------------
def load_logs_in(cluster: Cluster, login: str | None = None) -> None:
    """The load's users log in on the primary: the classifier names their group."""
    if login is not None:
        cluster.plant.load_login = login
    node = cluster.nodes[cluster.primary]
    session = Session(0, login=cluster.plant.load_login, database=cluster.load_database)
    classify(node, session)
    node.governor.load_moves(session.group_id, node.totals().get("cpu_ms", 0.0))
    apply(node)


def apply(node: Node) -> None:
    """Tell the machines what the load may use now."""
    plant = node.cluster.plant
    if node.name != node.cluster.primary:
        return
    cpu, governor = node.profile.cpu, node.governor
    pool, group = pool_of(node, governor.load_group), _group(node, governor.load_group)
    online = schedulers(node)
    here = [one for one in online if pool.schedulers is None or one in pool.schedulers] or online
    cap = pool.limits["cap_cpu_percent"]
    if any(pool_of(node, one).id != pool.id for one in governor.contending.values()):
        cap = min(cap, pool.limits["max_cpu_percent"])
    plant.govern(
        cores=0.0 if len(here) == cpu.threads else len(here) / cpu.threads_per_core,
        cap=cap / 100,
        read_iops=float(pool.limits["max_iops_per_volume"]),
        users=int(group.settings["group_max_requests"]) if group is not None else 0,
    )


def contend(node: Node, session: Session, effects: Iterator[Any]) -> Iterator[Any]:
    """Carry out what takes processors from the load's pool, and say so to it meanwhile."""
    contending = node.governor.contending
    contending[session.spid] = session.group_id
    apply(node)
    try:
        yield from effects
    finally:
        contending.pop(session.spid, None)
        apply(node)


# -- sessions --------------------------------------------------------------------------------------------------------------
def admit(node: Node, session: Session) -> Iterator[Any]:
    """Wait until the session's group may run one request more (GROUP_MAX_REQUESTS)."""
    governor = node.governor
    group = _group(node, session.group_id) if governor.enabled else None
    running = governor.running.setdefault(session.group_id, set())

    def free() -> bool:
        now = _group(node, session.group_id)
        most = now.settings["group_max_requests"] if now is not None else 0
        return not most or len(running) < most

    if group is not None and not free():
        queued = governor.queued
        queued[session.group_id] = queued.get(session.group_id, 0) + 1
        session.status, session.wait_type = "suspended", "RESMGR_THROTTLED"
        session.wait_started_s = node.now_s()
        waiting = governor.waiting.setdefault(session.group_id, set())
        waiting.add(session.spid)
        try:
            while not free():
                yield Wait("operation", None, "RESMGR_THROTTLED", done=free)
        finally:
            waiting.discard(session.spid)
            session.status, session.wait_type = "running", ""
    running.add(session.spid)


def left(node: Node, session: Session) -> None:
    """A session's request has ended: its place is free."""
    for running in node.governor.running.values():
        running.discard(session.spid)


def effective_dop(node: Node, session: Session, asked: int) -> int:
    """Processors that a rebuild may use: MAXDOP, else the group's or the server's; never more than the group's. 0: all."""
    group = _group(node, session.group_id)
    bound = int(group.settings["max_dop"]) if group is not None else 0
    wanted = asked or bound or int(node.instance.configuration("max degree of parallelism"))
    return min(wanted or bound, bound) if bound else wanted


# -- process affinity ------------------------------------------------------------------------------------------------------
def process_affinity(node: Node, reader: Clauses) -> None:
    """SET PROCESS AFFINITY CPU = AUTO | ranges, NUMANODE = ranges: at once, kept over restarts."""
    kind = reader.choice("CPU", "NUMANODE")
    reader.expect("=")
    cpu = node.profile.cpu
    if kind == "CPU" and reader.accept("AUTO"):
        reader.end()
        node.affinity = None
    else:
        ranges = reader.listed(lambda: (reader.number(), reader.number() if reader.accept("TO") else None))
        reader.end()
        count = cpu.threads if kind == "CPU" else cpu.sockets
        found: set[int] = set()
        for low, high in ranges:
            last = low if high is None else high
            if last < low or last >= count:
                why = f"{low} TO {last} must be an ascending range of 0 to {count - 1}"
                raise error(59005, f"PROCESS AFFINITY {kind}", why, KNOWLEDGE_PAGE)
            found.update(range(low, last + 1))
        if kind == "NUMANODE":
            found = {one for one in range(cpu.threads) if one * cpu.sockets // cpu.threads in found}
        node.affinity = sorted(found)
    node.cluster.dirty = True
    apply(node)
