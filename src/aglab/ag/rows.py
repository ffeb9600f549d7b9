"""Rows of the catalogue views and DMVs that a group and a distributed group both fill: the columns, once.

Columns and codes are SQL Server 2022's ("Always On availability groups dynamic management views and catalog views", SQL Server
documentation). What a caller leaves out is NULL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Protocol

from aglab.ag.ledger import Ledger, lsn_decimal
from aglab.ag.spec import (
    FAILOVER_CODE,
    HEALTH_DESC,
    MODE_CODE,
    OPERATIONAL_CODE,
    ROLE_CODE,
    STATE_CODE,
    SUSPEND_CODE,
    SYNC_CODE,
    AvailabilityMode,
    FailoverMode,
    OperationalState,
    Role,
    SuspendReason,
    SyncState,
)
from aglab.ag.state import DatabaseReplica

Row = dict[str, Any]
At = Callable[[float], dt.datetime]
MAX_LSN = lsn_decimal(0).__class__(10**25 - 1)
EPOCH = dt.datetime(2024, 1, 1)
_GROUP = (
    "group_id name resource_id resource_group_id failure_condition_level health_check_timeout automated_backup_preference "
    "automated_backup_preference_desc version basic_features dtc_support db_failover is_distributed cluster_type "
    "cluster_type_desc required_synchronized_secondaries_to_commit sequence_number is_contained"
).split()
_NOT = ("basic_features", "dtc_support", "db_failover", "is_distributed", "is_contained")


class Modes(Protocol):
    """What the options of a replica and of a group in a distributed group have in common."""

    @property
    def availability_mode(self) -> AvailabilityMode:
        """SYNCHRONOUS_COMMIT, ASYNCHRONOUS_COMMIT, CONFIGURATION_ONLY."""

    @property
    def failover_mode(self) -> FailoverMode:
        """AUTOMATIC, MANUAL, EXTERNAL."""

    @property
    def seeding_mode(self) -> str:
        """AUTOMATIC or MANUAL."""


def default_at(seconds: float) -> dt.datetime:
    """A datetime for a time of the group's clock when the caller has no calendar of its own."""
    return EPOCH + dt.timedelta(seconds=seconds)


def health(value: int | None) -> Row:
    """The two columns of synchronization_health."""
    return {"synchronization_health": value, "synchronization_health_desc": None if value is None else HEALTH_DESC[value]}


def group_row(**said: Any) -> Row:
    """sys.availability_groups"""
    return {**dict.fromkeys(_GROUP), "version": 1, **dict.fromkeys(_NOT, False), **said}


def replica_row(group_id: Any, replica_id: Any, name: str, endpoint_url: str, modes: Modes, at: At, **said: Any) -> Row:
    """sys.availability_replicas"""
    return {
        "replica_id": replica_id,
        "group_id": group_id,
        "replica_metadata_id": None,
        "replica_server_name": name,
        "owner_sid": b"\x01",
        "endpoint_url": endpoint_url,
        "availability_mode": MODE_CODE[modes.availability_mode],
        "availability_mode_desc": modes.availability_mode.value,
        "failover_mode": FAILOVER_CODE[modes.failover_mode],
        "failover_mode_desc": modes.failover_mode.value,
        "session_timeout": None,
        "primary_role_allow_connections": 2,
        "primary_role_allow_connections_desc": "ALL",
        "secondary_role_allow_connections": 0,
        "secondary_role_allow_connections_desc": "NO",
        "create_date": at(0.0),
        "modify_date": at(0.0),
        "backup_priority": 50,
        "read_only_routing_url": None,
        "seeding_mode": 0 if modes.seeding_mode == "AUTOMATIC" else 1,
        "seeding_mode_desc": modes.seeding_mode,
        "read_write_routing_url": None,
        **said,
    }


def group_state_row(group_id: Any, primary_replica: str, is_primary: bool, recovery: int, rollup: int) -> Row:
    """sys.dm_hadr_availability_group_states; ``recovery`` 0 ONLINE_IN_PROGRESS, 1 ONLINE"""
    word = ("ONLINE_IN_PROGRESS", "ONLINE")[recovery]
    return {
        "group_id": group_id,
        "primary_replica": primary_replica,
        "primary_recovery_health": recovery if is_primary else None,
        "primary_recovery_health_desc": word if is_primary else None,
        "secondary_recovery_health": None if is_primary else recovery,
        "secondary_recovery_health_desc": None if is_primary else word,
        **health(rollup),
    }


def replica_state_row(
    group_id: Any, replica_id: Any, role: Role, linked: bool, local: tuple[OperationalState, int] | None, state: int, **said: Any
) -> Row:
    """sys.dm_hadr_availability_replica_states; ``local``: operational state and recovery health where the replica is here"""
    return {
        "replica_id": replica_id,
        "group_id": group_id,
        "is_local": local is not None,
        "role": ROLE_CODE.get(role, 0),
        "role_desc": role.value if role != Role.NONE else Role.RESOLVING.value,
        "operational_state": OPERATIONAL_CODE[local[0]] if local is not None else None,
        "operational_state_desc": local[0].value if local is not None else None,
        "connected_state": int(linked),
        "connected_state_desc": "CONNECTED" if linked else "DISCONNECTED",
        "recovery_health": local[1] if local is not None else None,
        "recovery_health_desc": ("ONLINE_IN_PROGRESS", "ONLINE")[local[1]] if local is not None else None,
        **health(state),
        "last_connect_error_number": None,
        "last_connect_error_description": None,
        "last_connect_error_timestamp": None,
        "current_configuration_commit_start_time_utc": None,
        "is_internal": False,
        **said,
    }


def database_state_row(
    ids: Row,
    copy: DatabaseReplica,
    ledger: Ledger,
    *,
    local: bool,
    is_primary: bool,
    sync: SyncState,
    state: int,
    participant: bool,
    suspended: SuspendReason | None,
    known_lsn: int,
    commit_lsn: int,
    truncation_lsn: int,
    at: At,
) -> Row:
    """sys.dm_hadr_database_replica_states, the columns that primary and secondary copies have (positions in bytes of log).

    ``known_lsn``: how far the copy is known to be hardened; ``commit_lsn``: where its last commit is looked for.
    """
    last = ledger.last_commit(copy.fork, commit_lsn)
    return {
        **ids,
        "is_local": local,
        "is_primary_replica": is_primary,
        "synchronization_state": SYNC_CODE[sync],
        "synchronization_state_desc": sync.value,
        "is_commit_participant": participant,
        **health(state),
        "database_state": STATE_CODE[copy.database_state] if local else None,
        "database_state_desc": copy.database_state.value if local else None,
        "is_suspended": suspended is not None,
        "suspend_reason": SUSPEND_CODE[suspended] if suspended is not None else None,
        "suspend_reason_desc": suspended.value if suspended is not None else None,
        "recovery_lsn": lsn_decimal(copy.recovery_lsn) if is_primary else MAX_LSN,
        "truncation_lsn": lsn_decimal(truncation_lsn),
        "last_hardened_lsn": lsn_decimal(known_lsn),
        "last_hardened_time": None if is_primary else at(copy.hardened_s),
        "end_of_log_lsn": lsn_decimal(known_lsn),
        "last_commit_lsn": lsn_decimal(last.lsn, 3) if last is not None else None,
        "last_commit_time": at(last.at_s) if last is not None else None,
        "low_water_mark_for_ghosts": 0,
    }


def secondary_columns(
    positions: tuple[int, int, int], queues_kb: tuple[int | None, int], rates_kb_s: tuple[float, float], lag_s: int | None
) -> Row:
    """What a copy that is no primary has beside them: sent, received and redone, queues to send and to redo, rates of both."""
    sent, received, redone = positions
    return {
        "last_sent_lsn": lsn_decimal(sent),
        "last_received_lsn": lsn_decimal(received),
        "last_redone_lsn": lsn_decimal(redone, 3),
        "log_send_queue_size": queues_kb[0],
        "log_send_rate": int(rates_kb_s[0]),
        "redo_queue_size": queues_kb[1],
        "redo_rate": int(rates_kb_s[1]),
        "secondary_lag_seconds": lag_s,
    }
