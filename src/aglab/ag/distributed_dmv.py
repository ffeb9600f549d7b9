"""Rows of the availability-group views about a distributed group, as the primary replica of one of its groups shows them.

Replicas are the two availability groups, by name; secondary replicas of a group show nothing. The global primary shows the
database states of both groups, the forwarder its own ("Distributed availability groups", SQL Server documentation). Nothing of it
is in a Windows cluster, so the resource columns are NULL.
"""

from __future__ import annotations

from collections.abc import Iterator

from aglab.ag.base import identifier
from aglab.ag.distributed import Distributed
from aglab.ag.forwarding import SESSION_TIMEOUT_S
from aglab.ag.rows import (
    At,
    Row,
    database_state_row,
    default_at,
    group_row,
    group_state_row,
    replica_row,
    replica_state_row,
    secondary_columns,
)
from aglab.ag.sides import Side
from aglab.ag.spec import OperationalState, Role, SyncState
from aglab.ag.state import DatabaseReplica


def here(dag: Distributed, node: str) -> Side | None:
    """The side whose primary replica runs on a node."""
    return next((side for side in dag.sides.values() if side.joined and side.primary == node), None)


def availability_groups(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_groups"""
    side = here(dag, node)
    if side is None or side.group is None:
        return
    yield group_row(
        group_id=dag.id,
        name=dag.name,
        is_distributed=True,
        required_synchronized_secondaries_to_commit=side.required,
        sequence_number=side.group.nodes[node].view.sequence_number,
    )


def availability_replicas(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_replicas: one row for each of the two groups"""
    side = here(dag, node)
    for one in side.participants.values() if side is not None else ():
        timeout = int(SESSION_TIMEOUT_S)
        yield replica_row(dag.id, dag.replica_id(one.group), one.group, one.listener_url, one, at, session_timeout=timeout)


def _shown(dag: Distributed, node: str) -> list[Side]:
    side = here(dag, node)
    if side is None:
        return []
    return list(dag.sides.values()) if side is dag.source else [side]


def _sync(dag: Distributed, side: Side, database: str) -> SyncState:
    """Of one group's database in the distributed group."""
    target, copy = dag.target, side.copy(database)
    if copy is None or not copy.joined:
        return SyncState.NOT_SYNCHRONIZING
    if side is dag.source and side.role == Role.PRIMARY:
        return SyncState.SYNCHRONIZED if dag.synchronous() else SyncState.SYNCHRONIZING
    moves = dag.connected and target is not None and copy.suspended is None
    if not moves:
        return SyncState.NOT_SYNCHRONIZING
    marked = database in dag.synchronized
    return SyncState.SYNCHRONIZED if marked else SyncState.SYNCHRONIZING


def _database_health(dag: Distributed, side: Side, database: str) -> int:
    state = _sync(dag, side, database)
    if state == SyncState.SYNCHRONIZED:
        return 2
    if state == SyncState.SYNCHRONIZING:
        return 1 if dag.synchronous() else 2
    return 0


def _replica_health(dag: Distributed, side: Side) -> int:
    source = dag.source
    names = source.group.spec.databases if source is not None and source.group is not None else []
    linked = side is source or dag.connected
    return min((_database_health(dag, side, one) for one in names), default=2 if linked else 0) if linked else 0


def dm_hadr_availability_group_states(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_group_states: the primary replica is a group here"""
    side = here(dag, node)
    if side is None:
        return
    source = dag.source
    known = source.name if source is not None and source.role == Role.PRIMARY else ""
    rollup = min(_replica_health(dag, one) for one in _shown(dag, node))
    yield group_state_row(dag.id, known, side.role == Role.PRIMARY, 1, rollup)


def dm_hadr_availability_replica_states(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_replica_states"""
    own = here(dag, node)
    for side in _shown(dag, node):
        local = side is own
        role = side.role if side.joined else Role.SECONDARY
        linked = dag.connected or (local and side.role == Role.PRIMARY)
        here_too = (OperationalState.ONLINE, 1) if local else None
        yield replica_state_row(dag.id, dag.replica_id(side.name), role, linked, here_too, _replica_health(dag, side))


def database_id(dag: Distributed, database: str) -> object:
    """group_database_id of a database in the distributed group."""
    return identifier("distributed group", dag.name, "database", database)


def dm_hadr_database_replica_states(
    dag: Distributed, node: str, at: At = default_at, database_ids: dict[str, int] | None = None
) -> Iterator[Row]:
    """sys.dm_hadr_database_replica_states"""
    for side in _shown(dag, node):
        for database in side.group.spec.databases if side.group is not None and side.joined else ():
            copy = side.copy(database)
            if copy is not None and copy.joined and side.group is not None:
                yield _database_row(dag, side, side is here(dag, node), database, copy, at, database_ids or {})


def _database_row(
    dag: Distributed, side: Side, local: bool, database: str, copy: DatabaseReplica, at: At, database_ids: dict[str, int]
) -> Row:
    assert side.group is not None
    source = dag.source
    original = source.held(database) if source is not None else None
    primary = side.role == Role.PRIMARY
    row = database_state_row(
        {
            "database_id": database_ids.get(database),
            "group_id": dag.id,
            "replica_id": dag.replica_id(side.name),
            "group_database_id": database_id(dag, database),
        },
        copy,
        side.group.ledgers[database],
        local=local,
        is_primary=primary,
        sync=_sync(dag, side, database),
        state=_database_health(dag, side, database),
        participant=database in dag.synchronized,
        suspended=copy.suspended,
        known_lsn=copy.hardened,
        commit_lsn=copy.hardened,
        truncation_lsn=min(copy.redone, copy.hardened),
        at=at,
    )
    if primary:
        return row
    behind = max(0, original.hardened - copy.hardened) if original is not None and side is not source else 0
    lag_s = 0 if behind == 0 else int(dag.now_s - copy.hardened_s)
    return row | secondary_columns((copy.hardened, copy.hardened, copy.redone), (behind // 1024, 0), (0.0, 0.0), lag_s)


def local_replica(dag: Distributed, dag_id: str, replica_id: str) -> Iterator[Row]:
    """sys.fn_hadr_distributed_ag_replica(lag_id, replica_id): the availability group that a replica of a distributed group is"""
    for side in dag.sides.values():
        if same(dag.id, dag_id) and same(dag.replica_id(side.name), replica_id) and side.group is not None:
            yield {"group_id": side.group.id}


def local_database(dag: Distributed, dag_id: str, wanted: str, node: str) -> Iterator[Row]:
    """sys.fn_hadr_distributed_ag_database_replica(lag_id, database_id): a database in the local availability group"""
    side = here(dag, node)
    for name in side.group.spec.databases if side is not None and side.group is not None and same(dag.id, dag_id) else ():
        if same(database_id(dag, name), wanted):
            yield {"group_database_id": side.group.database_id(name)}  # type: ignore[union-attr]


def same(one: object, other: object) -> bool:
    """Whether two identifiers are equal, in whatever case they are written."""
    return str(one).lower() == str(other).lower()
