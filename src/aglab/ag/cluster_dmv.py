"""Rows of the DMVs about the cluster under the groups, and of the map of names to the cluster's resources."""

from __future__ import annotations

from collections.abc import Iterator

from aglab.ag.base import identifier
from aglab.ag.group import Group
from aglab.ag.rows import At, Row, default_at
from aglab.ag.spec import ClusterType


def dm_hadr_cluster(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_cluster: one row, empty without a Windows cluster"""
    row: Row = {
        "cluster_name": "",
        "quorum_type": None,
        "quorum_type_desc": None,
        "quorum_state": None,
        "quorum_state_desc": None,
    }
    if group.cluster_type == ClusterType.WSFC:
        state = group.nodes[node]
        forced = bool(group.forced_quorum & group.part_of(node))
        quorum = 2 if forced else (1 if state.has_quorum else 0)
        row = {
            "cluster_name": "aglab",
            "quorum_type": 1 if group.witness else 0,
            "quorum_type_desc": "NODE_AND_FILE_SHARE_MAJORITY" if group.witness else "NODE_MAJORITY",
            "quorum_state": quorum,
            "quorum_state_desc": ("UNKNOWN_QUORUM_STATE", "NORMAL_QUORUM", "FORCED_QUORUM")[quorum],
        }
    yield row


def dm_hadr_cluster_members(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_cluster_members (Windows cluster only)"""
    if group.cluster_type != ClusterType.WSFC or not group.nodes[node].has_quorum:
        return
    part = group.part_of(node)
    for name in group.nodes:
        yield {
            "member_name": name,
            "member_type": 0,
            "member_type_desc": "CLUSTER_NODE",
            "member_state": int(name in part),
            "member_state_desc": "UP" if name in part else "DOWN",
            "number_of_quorum_votes": 1,
        }
    if group.witness:
        yield {
            "member_name": "witness",
            "member_type": 2,
            "member_type_desc": "FILE_SHARE_WITNESS",
            "member_state": 1,
            "member_state_desc": "UP",
            "number_of_quorum_votes": 1,
        }


def dm_hadr_name_id_map(group: Group, node: str, at: At = default_at) -> Iterator[Row]:
    """sys.dm_hadr_name_id_map"""
    if group.nodes[node].member:
        resource = str(identifier("resource", group.name)) if group.cluster_type == ClusterType.WSFC else None
        yield {"ag_name": group.name, "ag_id": group.id, "ag_resource_id": resource, "ag_group_id": resource}
