"""Rows of the availability-group views about a distributed group, as the primary replica of one of its groups shows them.

Replicas are the two availability groups, by name; secondary replicas of a group show nothing. The global primary shows the
database states of both groups, the forwarder its own ("Distributed availability groups", SQL Server documentation). Nothing of it
is in a Windows cluster, so the resource columns are NULL.
"""

from __future__ import annotations

from collections.abc import Iterator

from aglab.ag.base import identifier
from aglab.ag.distributed import Distributed
from aglab.ag.dmv import MAX_LSN, At, Row, _health, default_at
from aglab.ag.forwarding import SESSION_TIMEOUT_S, Side
from aglab.ag.ledger import lsn_decimal
from aglab.ag.spec import (
    FAILOVER_CODE,
    MODE_CODE,
    ROLE_CODE,
    STATE_CODE,
    SUSPEND_CODE,
    SYNC_CODE,
    Role,
    SyncState,
)
from aglab.ag.state import DatabaseReplica


def here(dag: Distributed, node: str) -> Side | None:
    """The side whose primary replica runs on a node."""
    return next((side for side in dag.sides.values() if side.joined and side.primary == node), None)


def availability_groups(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_groups"""
    side = here(dag, node)
    if side is None or side.group is None:
        return
    yield {
        "group_id": dag.id,
        "name": dag.name,
        "resource_id": None,
        "resource_group_id": None,
        "failure_condition_level": None,
        "health_check_timeout": None,
        "automated_backup_preference": None,
        "automated_backup_preference_desc": None,
        "version": 1,
        "basic_features": False,
        "dtc_support": False,
        "db_failover": False,
        "is_distributed": True,
        "cluster_type": None,
        "cluster_type_desc": None,
        "required_synchronized_secondaries_to_commit": side.required,
        "sequence_number": side.group.nodes[node].view.sequence_number,
        "is_contained": False,
    }


def availability_replicas(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_replicas: one row for each of the two groups"""
    side = here(dag, node)
    for one in side.participants.values() if side is not None else ():
        yield {
            "replica_id": dag.replica_id(one.group),
            "group_id": dag.id,
            "replica_metadata_id": None,
            "replica_server_name": one.group,
            "owner_sid": b"\x01",
            "endpoint_url": one.listener_url,
            "availability_mode": MODE_CODE[one.availability_mode],
            "availability_mode_desc": one.availability_mode.value,
            "failover_mode": FAILOVER_CODE[one.failover_mode],
            "failover_mode_desc": one.failover_mode.value,
            "session_timeout": int(SESSION_TIMEOUT_S),
            "primary_role_allow_connections": 2,
            "primary_role_allow_connections_desc": "ALL",
            "secondary_role_allow_connections": 0,
            "secondary_role_allow_connections_desc": "NO",
            "create_date": at(0.0),
            "modify_date": at(0.0),
            "backup_priority": 50,
            "read_only_routing_url": None,
            "seeding_mode": 0 if one.seeding_mode == "AUTOMATIC" else 1,
            "seeding_mode_desc": one.seeding_mode,
            "read_write_routing_url": None,
        }


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
    primary = side.role == Role.PRIMARY
    source = dag.source
    known = source.name if source is not None and source.role == Role.PRIMARY else ""
    yield {
        "group_id": dag.id,
        "primary_replica": known,
        "primary_recovery_health": 1 if primary else None,
        "primary_recovery_health_desc": "ONLINE" if primary else None,
        "secondary_recovery_health": None if primary else 1,
        "secondary_recovery_health_desc": None if primary else "ONLINE",
        **_health(min(_replica_health(dag, one) for one in _shown(dag, node))),
    }


def dm_hadr_availability_replica_states(dag: Distributed, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_replica_states"""
    own = here(dag, node)
    for side in _shown(dag, node):
        local = side is own
        role = side.role if side.joined else Role.SECONDARY
        linked = dag.connected or (local and side.role == Role.PRIMARY)
        yield {
            "replica_id": dag.replica_id(side.name),
            "group_id": dag.id,
            "is_local": local,
            "role": ROLE_CODE[role],
            "role_desc": role.value,
            "operational_state": 2 if local else None,
            "operational_state_desc": "ONLINE" if local else None,
            "connected_state": int(linked),
            "connected_state_desc": "CONNECTED" if linked else "DISCONNECTED",
            "recovery_health": 1 if local else None,
            "recovery_health_desc": "ONLINE" if local else None,
            **_health(_replica_health(dag, side)),
            "last_connect_error_number": None,
            "last_connect_error_description": None,
            "last_connect_error_timestamp": None,
            "current_configuration_commit_start_time_utc": None,
            "is_internal": False,
        }


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
    state = _sync(dag, side, database)
    primary = side.role == Role.PRIMARY
    last = side.group.ledgers[database].last_commit(copy.fork, copy.hardened)
    row: Row = {
        "database_id": database_ids.get(database),
        "group_id": dag.id,
        "replica_id": dag.replica_id(side.name),
        "group_database_id": identifier("distributed group", dag.name, "database", database),
        "is_local": local,
        "is_primary_replica": primary,
        "synchronization_state": SYNC_CODE[state],
        "synchronization_state_desc": state.value,
        "is_commit_participant": database in dag.synchronized,
        **_health(_database_health(dag, side, database)),
        "database_state": STATE_CODE[copy.database_state] if local else None,
        "database_state_desc": copy.database_state.value if local else None,
        "is_suspended": copy.suspended is not None,
        "suspend_reason": SUSPEND_CODE[copy.suspended] if copy.suspended is not None else None,
        "suspend_reason_desc": copy.suspended.value if copy.suspended is not None else None,
        "recovery_lsn": lsn_decimal(copy.recovery_lsn) if primary else MAX_LSN,
        "truncation_lsn": lsn_decimal(min(copy.redone, copy.hardened)),
        "last_hardened_lsn": lsn_decimal(copy.hardened),
        "last_hardened_time": None if primary else at(copy.hardened_s),
        "end_of_log_lsn": lsn_decimal(copy.hardened),
        "last_commit_lsn": lsn_decimal(last.lsn, 3) if last is not None else None,
        "last_commit_time": at(last.at_s) if last is not None else None,
        "low_water_mark_for_ghosts": 0,
    }
    if not primary:
        behind = max(0, original.hardened - copy.hardened) if original is not None and side is not source else 0
        row |= {
            "last_sent_lsn": lsn_decimal(copy.hardened),
            "last_received_lsn": lsn_decimal(copy.hardened),
            "last_redone_lsn": lsn_decimal(copy.redone, 3),
            "log_send_queue_size": behind // 1024,
            "log_send_rate": 0,
            "redo_queue_size": 0,
            "redo_rate": 0,
            "secondary_lag_seconds": 0 if behind == 0 else int(dag.now_s - copy.hardened_s),
        }
    return row
