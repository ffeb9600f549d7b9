"""Rows of the availability-group DMVs and catalogue views, as one node shows them.

Every function takes the group, the node that is asked, and ``at``: seconds -> datetime. Columns and codes are SQL Server
2022's. The primary shows every replica, a secondary itself only. Rates are the engine's business: ``rates`` gives (send,
redo) in KB/s per (node, database) and defaults to 0. Columns that are left out are NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.ag.access import truncation_lsn
from aglab.ag.base import identifier
from aglab.ag.group import Group
from aglab.ag.ledger import lsn_decimal
from aglab.ag.rows import (
    MAX_LSN,
    At,
    Row,
    database_state_row,
    default_at,
    group_state_row,
    replica_state_row,
    secondary_columns,
)
from aglab.ag.spec import SYNC_CODE, ClusterType, DatabaseState, OperationalState, Role
from aglab.ag.state import DatabaseReplica, NodeState

Rates = dict[tuple[str, str], tuple[float, float]]


def shown(group: Group, node: str) -> list[NodeState]:
    """The replicas a node shows in the state views: all on the primary, itself elsewhere."""
    state = group.nodes[node]
    if not state.member or not state.up:
        return []
    if state.role == Role.PRIMARY:
        return [group.nodes[name] for name in group.replicas] if node in group.replicas else [state]
    return [state]


def _recovery_health(state: NodeState) -> int:
    joined = [copy for copy in state.databases.values() if copy.joined]
    return int(all(copy.database_state == DatabaseState.ONLINE for copy in joined) and state.role != Role.RESOLVING)


def _replica_health(group: Group, viewer: NodeState, state: NodeState) -> int:
    return group.synchronization_health(state) if state is viewer or _seen(group, viewer, state) else 0


def _seen(group: Group, viewer: NodeState, state: NodeState) -> bool:
    return state.connected and state.view.primary == viewer.name


def dm_hadr_availability_group_states(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_group_states"""
    state = group.nodes[node]
    if not state.member:
        return
    primary = state.role == Role.PRIMARY
    health = [_replica_health(group, state, one) for one in shown(group, node)]
    if state.role == Role.RESOLVING:
        rollup = 0
    else:
        rollup = 2 if all(one == 2 for one in health) else int(any(one == 2 for one in health))
    known = node if primary else (state.view.primary if state.role == Role.SECONDARY else None)
    yield group_state_row(group.id, known or "", primary, _recovery_health(state), rollup)


def dm_hadr_availability_replica_states(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_replica_states"""
    viewer = group.nodes[node]
    for state in shown(group, node):
        local = state is viewer
        linked = viewer.role == Role.PRIMARY if local else _seen(group, viewer, state)
        if local and viewer.role != Role.PRIMARY:
            linked = viewer.connected
        operational = OperationalState.FAILED_NO_QUORUM if local and not state.has_quorum else state.operational
        role = state.role if local or linked else (Role.RESOLVING if not state.up else Role.SECONDARY)
        error = None if linked or local else state.last_error
        yield replica_state_row(
            group.id,
            group.replica_id(state.name),
            role,
            linked,
            (operational, _recovery_health(state)) if local else None,
            _replica_health(group, viewer, state),
            last_connect_error_number=error[0] if error else None,
            last_connect_error_description=error[1] if error else None,
            last_connect_error_timestamp=at(error[2]) if error else None,
            current_configuration_commit_start_time_utc=at(state.role_since_s) if local else None,
        )


def dm_hadr_availability_replica_cluster_states(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_replica_cluster_states"""
    if not group.nodes[node].member:
        return
    for name in group.replicas:
        joined = group.nodes[name].member
        yield {
            "replica_id": group.replica_id(name),
            "replica_server_name": name,
            "group_id": group.id,
            "join_state": 1 if joined else 0,
            "join_state_desc": "JOINED_STANDALONE" if joined else "NOT_JOINED",
        }


def dm_hadr_availability_replica_cluster_nodes(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_availability_replica_cluster_nodes: rows on a Windows cluster only."""
    if group.cluster_type == ClusterType.WSFC and group.nodes[node].member:
        for name in group.replicas:
            yield {"group_name": group.name, "replica_server_name": name, "node_name": name}


def dm_hadr_database_replica_cluster_states(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_database_replica_cluster_states: from the configuration record that the node knows."""
    viewer = group.nodes[node]
    if not viewer.member:
        return
    known = viewer.has_quorum
    names = [name for name in group.replicas if group.holds_data(name)]
    if group.cluster_type != ClusterType.WSFC and viewer.role != Role.PRIMARY:
        names = [name for name in names if name == node]
    for name in names:
        for database in group.spec.databases:
            copy = group.nodes[name].databases.get(database)
            is_primary = name == viewer.view.primary
            key = (name, database)
            yield {
                "replica_id": group.replica_id(name),
                "group_database_id": group.database_id(database),
                "database_name": database,
                "is_failover_ready": is_primary or key in viewer.view.ready,
                "is_pending_secondary_suspend": key in viewer.view.pending_suspend if known else None,
                "is_database_joined": copy is not None and copy.joined if known else None,
                "recovery_lsn": _recovery_lsn(group, viewer, copy, is_primary),
                "truncation_lsn": lsn_decimal(truncation_lsn(group, name, database)) if copy is not None else None,
            }


def _recovery_lsn(group: Group, viewer: NodeState, copy: DatabaseReplica | None, is_primary: bool) -> Any:
    if copy is None or viewer.role != Role.PRIMARY:
        return None
    return lsn_decimal(copy.recovery_lsn) if is_primary or copy.recovery_lsn else MAX_LSN


def dm_hadr_database_replica_states(
    group: Group,
    node: str,
    at: At = default_at,
    database_ids: dict[str, int] | None = None,
    rates: Rates | None = None,
    ghosts: int = 0,
) -> Iterator[Row]:
    """sys.dm_hadr_database_replica_states. ``database_ids``: database_id on the node by name."""
    viewer = group.nodes[node]
    for state in shown(group, node):
        for database in group.spec.databases:
            copy = state.databases.get(database)
            local = state is viewer
            if copy is None or (not copy.joined and local and state.role != Role.PRIMARY):
                continue
            yield _database_row(group, viewer, state, database, copy, at, database_ids or {}, (rates or {}), ghosts)


def _database_row(
    group: Group,
    viewer: NodeState,
    state: NodeState,
    database: str,
    copy: DatabaseReplica,
    at: At,
    database_ids: dict[str, int],
    rates: Rates,
    ghosts: int,
) -> Row:
    local = state is viewer
    is_primary = state.role == Role.PRIMARY and local
    source = viewer.databases.get(database) if viewer.role == Role.PRIMARY else None
    sync = copy.sync_state if local or _seen(group, viewer, state) else next(iter(SYNC_CODE))
    health = group.database_health(state, database) if local or _seen(group, viewer, state) else 0
    suspended = copy.suspended if local or _seen(group, viewer, state) else None
    participant = (state.name, database) in viewer.view.ready if not is_primary else bool(_participants(group, viewer, database))
    known = copy.known_hardened if source is not None and not local else copy.hardened
    row = database_state_row(
        {
            "database_id": database_ids.get(database),
            "group_id": group.id,
            "replica_id": group.replica_id(state.name),
            "group_database_id": group.database_id(database),
        },
        copy,
        group.ledgers[database],
        local=local,
        is_primary=is_primary,
        sync=sync,
        state=health,
        participant=participant,
        suspended=suspended,
        known_lsn=known,
        commit_lsn=known if is_primary or not local else copy.redone,
        truncation_lsn=truncation_lsn(group, state.name, database),
        at=at,
    ) | {"filestream_send_rate": None if is_primary else 0, "low_water_mark_for_ghosts": ghosts}
    if is_primary:
        return row
    end = source.hardened if source is not None else copy.received
    unsent_kb = max(0, end - copy.sent) // 1024 if source is not None else None
    return (
        row
        | secondary_columns(
            (copy.sent, copy.received, copy.redone),
            (unsent_kb, max(0, copy.hardened - copy.redone) // 1024),
            rates.get((state.name, database), (0.0, 0.0)),
            lag_s(group, copy, source) if source is not None else None,
        )
        | {
            "last_sent_time": at(copy.sent_s),
            "last_received_time": at(copy.received_s),
            "last_redone_time": at(copy.redone_s),
        }
    )


def _participants(group: Group, viewer: NodeState, database: str) -> list[str]:
    return group.synchronized_secondaries(viewer, database) if viewer.role == Role.PRIMARY else []


def lag_s(group: Group, copy: DatabaseReplica, source: DatabaseReplica) -> int:
    """secondary_lag_seconds: 0 while the copy holds all of the primary's log, else the time since it last did."""
    return 0 if copy.known_hardened >= source.hardened else int(group.now_s - copy.caught_up_s)


def dm_hadr_automatic_seeding(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_automatic_seeding (on the primary, and for the local copies on a secondary)"""
    for state in shown(group, node):
        for database, copy in state.databases.items():
            if copy.seeding is None:
                continue
            yield {
                "start_time": at(copy.seeding_started_s),
                "completion_time": at(copy.seeding_ended_s) if copy.seeding != "SEEDING" else None,
                "ag_id": group.id,
                "ag_db_id": group.database_id(database),
                "ag_remote_replica_id": group.replica_id(state.name),
                "operation_id": identifier("seeding", group.name, state.name, database),
                "is_source": node in group.primaries(),
                "current_state": copy.seeding,
                "performed_seeding": copy.seeding == "COMPLETED",
                "failure_state": 15 if copy.seeding == "FAILED" else 0,
                "failure_state_desc": copy.seeding_failure,
                "error_code": 0,
                "number_of_attempts": copy.seeding_attempts,
            }
