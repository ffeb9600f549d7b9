"""Rows of the availability-group catalogue and DMVs, over the live group and the engine's gauges.

Columns and codes follow "Always On availability groups dynamic management views" (SQL Server documentation). The primary
shows every replica; a secondary shows itself. On the primary's own row queues and rates are NULL, as documented.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aglab.twin import availability as av
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.availability import Group, Replica
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

Row = dict[str, Any]


def availability_groups(node: Node, group: Group) -> Iterable[Row]:
    """sys.availability_groups"""
    yield {
        "group_id": group.id,
        "name": group.name,
        "resource_id": None if group.cluster_type else str(av.identifier("resource", group.name)),
        "resource_group_id": None if group.cluster_type else str(av.identifier("resource group", group.name)),
        "failure_condition_level": 3,
        "health_check_timeout": 30000,
        "automated_backup_preference": 2,
        "automated_backup_preference_desc": "secondary",
        "version": 1,
        "basic_features": False,
        "dtc_support": False,
        "db_failover": group.db_failover,
        "is_distributed": False,
        "cluster_type": group.cluster_type,
        "cluster_type_desc": {0: "wsfc", 1: "none", 2: "external"}[group.cluster_type],
        "required_synchronized_secondaries_to_commit": group.required_synchronized_secondaries_to_commit,
        "sequence_number": 4294967297,
        "is_contained": False,
    }


def availability_groups_cluster(node: Node, group: Group) -> Iterable[Row]:
    """sys.availability_groups_cluster: the eight columns that the cluster stores"""
    for row in availability_groups(node, group):
        yield dict(list(row.items())[:8])


def availability_replicas(node: Node, group: Group) -> Iterable[Row]:
    """sys.availability_replicas"""
    made = av.time_at(EPOCH, group.since_s)
    for number, replica in enumerate(group.replicas, start=1):
        yield {
            "replica_id": group.replica_id(replica.name),
            "group_id": group.id,
            "replica_metadata_id": 65535 + number if replica.name == node.name else None,
            "replica_server_name": replica.name,
            "owner_sid": b"\x01",
            "endpoint_url": replica.endpoint_url,
            "availability_mode": replica.availability_mode,
            "availability_mode_desc": av.MODE_DESC[replica.availability_mode],
            "failover_mode": replica.failover_mode,
            "failover_mode_desc": av.FAILOVER_DESC[replica.failover_mode],
            "session_timeout": replica.session_timeout,
            "primary_role_allow_connections": replica.primary_connections,
            "primary_role_allow_connections_desc": av.CONNECT_DESC[replica.primary_connections],
            "secondary_role_allow_connections": replica.secondary_connections,
            "secondary_role_allow_connections_desc": av.CONNECT_DESC[replica.secondary_connections],
            "create_date": made,
            "modify_date": made,
            "backup_priority": replica.backup_priority,
            "read_only_routing_url": None,
            "seeding_mode": replica.seeding_mode,
            "seeding_mode_desc": "AUTOMATIC" if replica.seeding_mode == 0 else "MANUAL",
            "read_write_routing_url": None,
        }


def availability_databases_cluster(node: Node, group: Group) -> Iterable[Row]:
    """sys.availability_databases_cluster"""
    yield {
        "group_id": group.id,
        "group_database_id": group.database_id,
        "database_name": group.database,
        "truncation_lsn": av.lsn(0),
    }


def _shown(node: Node, group: Group) -> list[Replica]:
    """A primary shows every replica, a secondary itself."""
    return [one for one in group.replicas if node.name in (group.primary, one.name)]


def group_states(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_availability_group_states"""
    health = group.group_health() if node.name == group.primary else group.synchronization_health(node.name)
    primary_here = node.name == group.primary
    yield {
        "group_id": group.id,
        "primary_replica": group.primary,
        "primary_recovery_health": 1 if primary_here else None,
        "primary_recovery_health_desc": "ONLINE" if primary_here else None,
        "secondary_recovery_health": None if primary_here else 1,
        "secondary_recovery_health_desc": None if primary_here else "ONLINE",
        "synchronization_health": health,
        "synchronization_health_desc": av.HEALTH_DESC[health],
    }


def replica_states(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_availability_replica_states"""
    for replica in _shown(node, group):
        local = replica.name == node.name
        health = group.synchronization_health(replica.name)
        linked = replica.connected or local
        yield {
            "replica_id": group.replica_id(replica.name),
            "group_id": group.id,
            "is_local": local,
            "role": group.role(replica.name),
            "role_desc": av.ROLE_DESC[group.role(replica.name)],
            "operational_state": 2 if local else None,
            "operational_state_desc": "ONLINE" if local else None,
            "connected_state": int(linked),
            "connected_state_desc": "CONNECTED" if linked else "DISCONNECTED",
            "recovery_health": 1 if local else None,
            "recovery_health_desc": "ONLINE" if local else None,
            "synchronization_health": health,
            "synchronization_health_desc": av.HEALTH_DESC[health],
            "last_connect_error_number": None if linked else 35206,
            "last_connect_error_description": None if linked else _timed_out(replica, group),
            "last_connect_error_timestamp": None,
            "write_lease_remaining_ticks": None,
            "current_configuration_commit_start_time_utc": None,
            "is_internal": False,
        }


def _timed_out(replica: Replica, group: Group) -> str:
    return (
        "A connection timeout has occurred on a previously established connection to availability replica "
        f"'{replica.name}' with id [{str(group.replica_id(replica.name)).upper()}]. Either a networking or a firewall issue "
        "exists or the availability replica has transitioned to the resolving role."
    )


def replica_cluster_states(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_availability_replica_cluster_states"""
    for replica in _shown(node, group):
        yield {
            "replica_id": group.replica_id(replica.name),
            "replica_server_name": replica.name,
            "group_id": group.id,
            "join_state": 2,
            "join_state_desc": "JOINED_STANDALONE",
        }


def database_replica_cluster_states(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_database_replica_cluster_states"""
    for replica in _shown(node, group):
        state = group.synchronization_state(replica.name)
        yield {
            "replica_id": group.replica_id(replica.name),
            "group_database_id": group.database_id,
            "database_name": group.database,
            "is_failover_ready": state == 2,
            "is_pending_secondary_suspend": False,
            "is_database_joined": True,
            "recovery_lsn": av.lsn(0),
            "truncation_lsn": av.lsn(0),
        }


def database_replica_states(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_database_replica_states"""
    for replica in _shown(node, group):
        yield _database_replica(node, group, replica)


def _database_replica(node: Node, group: Group, replica: Replica) -> Row:
    gauges = _positions(node.cluster, replica.name)
    now = av.time_at(EPOCH, node.cluster.clock.now_s)
    is_primary = replica.name == group.primary
    state = group.synchronization_state(replica.name)
    health = group.synchronization_health(replica.name)
    database = node.instance.database(group.database)
    end = gauges.get("lsn_hardened", 0.0)
    row: Row = {
        "database_id": database.id if database else None,
        "group_id": group.id,
        "replica_id": group.replica_id(replica.name),
        "group_database_id": group.database_id,
        "is_local": replica.name == node.name,
        "is_primary_replica": is_primary,
        "synchronization_state": state,
        "synchronization_state_desc": av.SYNC_DESC[state],
        "is_commit_participant": state == 2,
        "synchronization_health": health,
        "synchronization_health_desc": av.HEALTH_DESC[health],
        "database_state": 0 if replica.name == node.name else None,
        "database_state_desc": "ONLINE" if replica.name == node.name else None,
        "is_suspended": replica.suspended,
        "suspend_reason": replica.suspend_reason if replica.suspended else None,
        "suspend_reason_desc": "SUSPEND_FROM_USER" if replica.suspended else None,
        "recovery_lsn": av.lsn(0),
        "truncation_lsn": av.lsn(0),
        "last_hardened_lsn": av.lsn(end),
        "last_hardened_time": None if is_primary else now,
        "end_of_log_lsn": av.lsn(end),
        "filestream_send_rate": None if is_primary else 0,
        "low_water_mark_for_ghosts": int(node.cluster.ghost_mark()),
        "last_commit_lsn": av.lsn(gauges.get("lsn_redone", end), 3) if not is_primary else av.lsn(end, 3),
        "last_commit_time": now,
    }
    if not is_primary:
        row |= {
            "last_sent_lsn": av.lsn(gauges.get("lsn_sent", end)),
            "last_sent_time": now,
            "last_received_lsn": av.lsn(gauges.get("lsn_received", end)),
            "last_received_time": now,
            "last_redone_lsn": av.lsn(gauges.get("lsn_redone", end), 3),
            "last_redone_time": now,
            "log_send_queue_size": math.ceil(gauges.get("log_send_queue_kb", 0.0)),
            "log_send_rate": int(gauges.get("log_send_rate_kb_s", 0.0)),
            "redo_queue_size": int(gauges.get("recovery_queue_kb", 0.0)),
            "redo_rate": int(gauges.get("redo_rate_kb_s", 0.0)),
            "secondary_lag_seconds": _lag_s(gauges, replica) if node.name == group.primary else None,
        }
    return row


def _positions(cluster: Cluster, name: str) -> dict[str, float]:
    """Gauges of a replica; log of user sessions lies on top of the load's."""
    gauges = cluster.plant.gauges(name)
    here = cluster.nodes[name].user_log_bytes
    for key in ("lsn_end", "lsn_sent", "lsn_received", "lsn_hardened", "lsn_redone"):
        gauges[key] = gauges.get(key, 0.0) + here
    missing = cluster.nodes[cluster.primary].user_log_bytes - here
    gauges["log_send_queue_kb"] = gauges.get("log_send_queue_kb", 0.0) + max(0.0, missing) / 1024.0
    return gauges


def _lag_s(gauges: dict[str, float], replica: Replica) -> int:
    rate = gauges.get("redo_rate_kb_s", 0.0)
    queue = gauges.get("recovery_queue_kb", 0.0) + gauges.get("log_send_queue_kb", 0.0)
    return int(queue / rate) if rate > 0 else 0


def hadr_cluster(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_cluster: one row without a Windows cluster"""
    yield {
        "cluster_name": "",
        "quorum_type": 4,
        "quorum_type_desc": "UNKNOWN_QUORUM",
        "quorum_state": 0,
        "quorum_state_desc": "UNKNOWN_QUORUM_STATE",
    }


def name_id_map(node: Node, group: Group) -> Iterable[Row]:
    """sys.dm_hadr_name_id_map"""
    yield {"ag_name": group.name, "ag_id": group.id, "ag_resource_id": None, "ag_group_id": None}


VIEWS = {
    "sys.availability_groups": availability_groups,
    "sys.availability_groups_cluster": availability_groups_cluster,
    "sys.availability_replicas": availability_replicas,
    "sys.availability_databases_cluster": availability_databases_cluster,
    "sys.dm_hadr_availability_group_states": group_states,
    "sys.dm_hadr_availability_replica_states": replica_states,
    "sys.dm_hadr_availability_replica_cluster_states": replica_cluster_states,
    "sys.dm_hadr_database_replica_states": database_replica_states,
    "sys.dm_hadr_database_replica_cluster_states": database_replica_cluster_states,
    "sys.dm_hadr_cluster": hadr_cluster,
    "sys.dm_hadr_name_id_map": name_id_map,
}
EMPTY = (
    "sys.availability_group_listeners",
    "sys.availability_group_listener_ip_addresses",
    "sys.availability_read_only_routing_lists",
    "sys.dm_hadr_cluster_members",
    "sys.dm_hadr_cluster_networks",
    "sys.dm_hadr_auto_page_repair",
    "sys.dm_hadr_automatic_seeding",
    "sys.dm_hadr_physical_seeding_stats",
    "sys.dm_hadr_instance_node_map",
)


def rows(node: Node, view: str) -> list[Row] | None:
    """Rows of an availability-group view on a node; None for another view."""
    group = node.cluster.group
    if view in EMPTY:
        return []
    provider = VIEWS.get(view)
    if provider is None:
        return None
    if group is None or group.replica(node.name) is None:
        return []
    return list(provider(node, group))
