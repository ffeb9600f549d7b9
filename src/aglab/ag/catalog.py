"""Rows of the availability-group catalogue views (sys.availability_*), as one node shows them."""

from __future__ import annotations

from collections.abc import Iterator

from aglab.ag.access import truncation_lsn
from aglab.ag.base import identifier
from aglab.ag.group import Group
from aglab.ag.ledger import lsn_decimal
from aglab.ag.rows import At, Row, default_at, group_row, replica_row
from aglab.ag.spec import (
    BACKUP_PREFERENCES,
    CLUSTER_CODE,
    PRIMARY_CONNECTIONS,
    SECONDARY_CONNECTIONS,
    ClusterType,
)


def availability_groups(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_groups"""
    state = group.nodes[node]
    if not state.member:
        return
    spec = group.spec
    wsfc = group.cluster_type == ClusterType.WSFC
    preference = spec.automated_backup_preference.upper()
    yield group_row(
        group_id=group.id,
        name=group.name,
        resource_id=str(identifier("resource", group.name)) if wsfc else None,
        resource_group_id=str(identifier("resource group", group.name)) if wsfc else None,
        failure_condition_level=spec.failure_condition_level,
        health_check_timeout=spec.health_check_timeout_ms,
        automated_backup_preference=BACKUP_PREFERENCES.index(preference),
        automated_backup_preference_desc=preference.lower(),
        basic_features=spec.basic,
        dtc_support=spec.dtc_support,
        db_failover=spec.db_failover,
        cluster_type=CLUSTER_CODE[group.cluster_type],
        cluster_type_desc=group.cluster_type.value.lower(),
        required_synchronized_secondaries_to_commit=spec.required_synchronized_secondaries_to_commit,
        sequence_number=state.view.sequence_number,
        is_contained=spec.contained,
    )


def availability_replicas(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_replicas"""
    if not group.nodes[node].member:
        return
    for number, (name, spec) in enumerate(group.replicas.items(), start=1):
        yield replica_row(
            group.id,
            group.replica_id(name),
            name,
            spec.endpoint_url,
            spec,
            at,
            replica_metadata_id=65535 + number if name == node else None,
            session_timeout=spec.session_timeout_s,
            primary_role_allow_connections=PRIMARY_CONNECTIONS[spec.primary_connections],
            primary_role_allow_connections_desc=spec.primary_connections,
            secondary_role_allow_connections=SECONDARY_CONNECTIONS[spec.secondary_connections],
            secondary_role_allow_connections_desc=spec.secondary_connections,
            backup_priority=spec.backup_priority,
            read_only_routing_url=spec.read_only_routing_url,
            read_write_routing_url=spec.read_write_routing_url,
        )


def availability_databases_cluster(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_databases_cluster"""
    state = group.nodes[node]
    if not state.member:
        return
    for database in group.spec.databases:
        lsn = lsn_decimal(truncation_lsn(group, node, database)) if database in state.databases else None
        yield {
            "group_id": group.id,
            "group_database_id": group.database_id(database),
            "database_name": database,
            "truncation_lsn": lsn,
        }


def availability_read_only_routing_lists(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_read_only_routing_lists: replicas of one balanced set share a priority"""
    if not group.nodes[node].member:
        return
    for name, spec in group.replicas.items():
        for priority, part in enumerate(spec.read_only_routing_list, start=1):
            for target in (part,) if isinstance(part, str) else part:
                yield {
                    "replica_id": group.replica_id(name),
                    "routing_priority": priority,
                    "read_only_replica_id": group.replica_id(target),
                }


def availability_group_listeners(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_group_listeners"""
    listener = group.spec.listener
    if listener is not None and group.nodes[node].member:
        addresses = " or ".join(f"'IP Address: {address}'" for address, _ in listener.addresses)
        yield {
            "group_id": group.id,
            "listener_id": str(identifier("listener", group.name, listener.dns_name)),
            "dns_name": listener.dns_name,
            "port": listener.port,
            "is_conformant": True,
            "ip_configuration_string_from_cluster": f"({addresses})" if addresses else None,
            "is_distributed_network_name": False,
        }


def availability_group_listener_ip_addresses(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.availability_group_listener_ip_addresses"""
    listener = group.spec.listener
    if listener is None or not group.nodes[node].member:
        return
    online = group.nodes[node].serves and group.cluster_type != ClusterType.EXTERNAL
    for address, mask in listener.addresses:
        yield {
            "listener_id": str(identifier("listener", group.name, listener.dns_name)),
            "ip_address": address,
            "ip_subnet_mask": mask,
            "is_dhcp": listener.dhcp,
            "network_subnet_ip": None,
            "network_subnet_prefix_length": None,
            "network_subnet_ipv4_mask": mask,
            "state": 1 if online else 0,
            "state_desc": "ONLINE" if online else "OFFLINE",
        }
