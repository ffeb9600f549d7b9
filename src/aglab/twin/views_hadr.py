"""Rows of the availability-group catalogue and DMVs: the rules' rows, with the engine's rates and the cluster's calendar.

Columns and codes are those of :mod:`aglab.ag.dmv` and :mod:`aglab.ag.catalog`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aglab.ag import Group, catalog, cluster_dmv, distributed_dmv, dmv
from aglab.ag.distributed import Distributed
from aglab.ag.rows import At
from aglab.twin import availability as av
from aglab.twin import redo_threads
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

Row = dict[str, Any]


def at(seconds: float) -> dt.datetime:
    """The calendar of the cluster's clock."""
    return av.time_at(EPOCH, seconds)


def _plain(provider: Callable[[Group, str, At], Iterable[Row]]) -> Callable[[Node, Availability], Iterable[Row]]:
    def rows_of(node: Node, group: Availability) -> Iterable[Row]:
        return provider(group.rules, node.name, at)

    return rows_of


def availability_groups_cluster(node: Node, group: Availability) -> Iterable[Row]:
    """sys.availability_groups_cluster: the eight columns that the cluster stores"""
    for row in catalog.availability_groups(group.rules, node.name, at):
        yield dict(list(row.items())[:8])


def database_replica_states(node: Node, group: Availability) -> Iterable[Row]:
    """sys.dm_hadr_database_replica_states"""
    plant = node.cluster.plant
    ids = {one.name: one.id for one in node.instance.databases.values()}
    rates = {}
    for name in plant.flow.names if group.load is not None else ():
        gauges = plant.flow.gauges(name)
        rates[name, group.load or ""] = (gauges["log_send_rate_kb_s"], gauges["redo_rate_kb_s"])
    return dmv.dm_hadr_database_replica_states(group.rules, node.name, at, ids, rates, int(node.cluster.ghost_mark()))


def hadr_cluster(node: Node, group: Availability) -> Iterable[Row]:
    """sys.dm_hadr_cluster: one row without a Windows cluster"""
    for row in cluster_dmv.dm_hadr_cluster(group.rules, node.name, at):
        if row["quorum_type"] is None:
            row |= {"quorum_type": 4, "quorum_type_desc": "UNKNOWN_QUORUM"}
            row |= {"quorum_state": 0, "quorum_state_desc": "UNKNOWN_QUORUM_STATE"}
        yield row


VIEWS: dict[str, Callable[[Node, Availability], Iterable[Row]]] = {
    "sys.availability_groups": _plain(catalog.availability_groups),
    "sys.availability_groups_cluster": availability_groups_cluster,
    "sys.availability_replicas": _plain(catalog.availability_replicas),
    "sys.availability_databases_cluster": _plain(catalog.availability_databases_cluster),
    "sys.availability_group_listeners": _plain(catalog.availability_group_listeners),
    "sys.availability_group_listener_ip_addresses": _plain(catalog.availability_group_listener_ip_addresses),
    "sys.availability_read_only_routing_lists": _plain(catalog.availability_read_only_routing_lists),
    "sys.dm_hadr_availability_group_states": _plain(dmv.dm_hadr_availability_group_states),
    "sys.dm_hadr_availability_replica_states": _plain(dmv.dm_hadr_availability_replica_states),
    "sys.dm_hadr_availability_replica_cluster_states": _plain(dmv.dm_hadr_availability_replica_cluster_states),
    "sys.dm_hadr_database_replica_states": database_replica_states,
    "sys.dm_hadr_database_replica_cluster_states": _plain(dmv.dm_hadr_database_replica_cluster_states),
    "sys.dm_hadr_cluster": hadr_cluster,
    "sys.dm_hadr_cluster_members": _plain(cluster_dmv.dm_hadr_cluster_members),
    "sys.dm_hadr_ag_threads": redo_threads.ag_threads,
    "sys.dm_hadr_db_threads": redo_threads.db_threads,
    "sys.dm_hadr_name_id_map": _plain(cluster_dmv.dm_hadr_name_id_map),
    "sys.dm_hadr_automatic_seeding": _plain(dmv.dm_hadr_automatic_seeding),
    "sys.dm_hadr_availability_replica_cluster_nodes": _plain(dmv.dm_hadr_availability_replica_cluster_nodes),
}
DISTRIBUTED: dict[str, Callable[[Distributed, str, At], Iterable[Row]]] = {
    "sys.availability_groups": distributed_dmv.availability_groups,
    "sys.availability_replicas": distributed_dmv.availability_replicas,
    "sys.dm_hadr_availability_group_states": distributed_dmv.dm_hadr_availability_group_states,
    "sys.dm_hadr_availability_replica_states": distributed_dmv.dm_hadr_availability_replica_states,
}
ONE_ROW = ("sys.dm_hadr_cluster", "sys.dm_hadr_cluster_members")  # of the cluster, whatever groups it has
EMPTY = (
    "sys.dm_hadr_cluster_networks",
    "sys.dm_hadr_auto_page_repair",
    "sys.dm_hadr_instance_node_map",
)


def rows(node: Node, view: str) -> list[Row] | None:
    """Rows of an availability-group view on a node; None for another view."""
    groups = node.cluster.groups
    if view in EMPTY:
        return []
    if view == "sys.dm_hadr_physical_seeding_stats":
        groups.sync()
        return list(groups.seeding.rows(node))
    provider = VIEWS.get(view)
    if provider is None:
        return None
    groups.sync()
    if view in ONE_ROW:
        return [row for group in groups.here(node.name)[:1] for row in provider(node, group)]
    found = [row for group in groups.here(node.name) for row in provider(node, group)]
    return found + [row for dag in groups.distributed for row in _distributed(node, view, dag)]


def _distributed(node: Node, view: str, dag: Distributed) -> Iterable[Row]:
    """Rows about a distributed group."""
    if view == "sys.dm_hadr_database_replica_states":
        ids = {one.name: one.id for one in node.instance.databases.values()}
        return distributed_dmv.dm_hadr_database_replica_states(dag, node.name, at, ids)
    provider = DISTRIBUTED.get(view)
    return provider(dag, node.name, at) if provider is not None else ()
