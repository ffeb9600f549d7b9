"""Availability-group rules, pure: events in, effects out.

>>> from aglab.ag import ClusterType, FailoverMode, Group, GroupSpec, ReplicaSpec, events
>>> spec = GroupSpec(
...     "ag1", ClusterType.NONE, [ReplicaSpec(name, seeding_mode="AUTOMATIC") for name in ("sql1", "sql2")], ["OLTP"])
>>> group = Group.form(spec)
>>> group.apply(events.Commit("sql1", "OLTP", id=1), 1.0)  # not acknowledged: sql2 is SYNCHRONIZED and has to harden it first
[CommitLogged(id=1, node='sql1', database='OLTP', lsn=1049600)]
>>> [type(one).__name__ for one in group.apply(events.CatchUp(), 1.5)]
['CommitAcknowledged']
"""

from aglab.ag import catalog, dmv, effects, events, saving
from aglab.ag.access import (
    backup_preferred,
    check_access,
    contained_here,
    log_reuse_wait,
    read_only_route,
    read_write_route,
    truncation_lsn,
)
from aglab.ag.checker import Checker, Violation
from aglab.ag.group import Group
from aglab.ag.ledger import lsn_decimal, lsn_text
from aglab.ag.messages import MESSAGES, refuse, text_of
from aglab.ag.spec import (
    AvailabilityMode,
    ClusterType,
    DatabaseState,
    FailoverMode,
    GroupSpec,
    Listener,
    OperationalState,
    ReplicaSpec,
    Role,
    SuspendReason,
    SyncState,
    Timing,
)

__all__ = [
    "MESSAGES",
    "AvailabilityMode",
    "Checker",
    "ClusterType",
    "DatabaseState",
    "FailoverMode",
    "Group",
    "GroupSpec",
    "Listener",
    "OperationalState",
    "ReplicaSpec",
    "Role",
    "SuspendReason",
    "SyncState",
    "Timing",
    "Violation",
    "backup_preferred",
    "catalog",
    "check_access",
    "contained_here",
    "dmv",
    "effects",
    "events",
    "log_reuse_wait",
    "lsn_decimal",
    "lsn_text",
    "read_only_route",
    "read_write_route",
    "refuse",
    "saving",
    "text_of",
    "truncation_lsn",
]
