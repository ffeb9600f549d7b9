"""Who may connect to a database where, routing, the preferred backup replica, and what holds the log.

Source: "Active secondaries: readable secondary replicas", "Read-only routing", "Secondary to primary replica read/write
connection redirection", sys.fn_hadr_backup_is_preferred_replica, and log_reuse_wait_desc of sys.databases (SQL Server
documentation).
"""

from __future__ import annotations

from aglab.ag.effects import Refused
from aglab.ag.group import Group
from aglab.ag.messages import refuse
from aglab.ag.spec import DatabaseState, Role
from aglab.ag.state import NodeState

_CLOSED = {
    DatabaseState.RECOVERING: 922,
    DatabaseState.SUSPECT: 926,
    DatabaseState.RESTORING: 927,
    DatabaseState.OFFLINE: 942,
    DatabaseState.RECOVERY_PENDING: 945,
}


def check_access(
    group: Group, node: str, database: str, read_only_intent: bool = False, for_write: bool = False
) -> Refused | None:
    """The error that using an availability database on a node gives, or None.

    For a database that is not in the group on that node: None, the group has no say. ``for_write``: the statement changes
    data.
    """
    state = group.nodes[node]
    copy = state.databases.get(database)
    if copy is None or not state.member:
        return None
    if state.role == Role.RESOLVING:
        return refuse(983, database)
    if not copy.joined:
        return refuse(_CLOSED.get(copy.database_state, 983), database)
    if copy.database_state in _CLOSED:
        return refuse(_CLOSED[copy.database_state], database)
    spec = group.spec_of(node)
    if state.role == Role.PRIMARY and not group.beyond.fed():
        if not copy.available:
            return refuse(988, database)
        if read_only_intent and spec is not None and spec.primary_connections == "READ_WRITE":
            return refuse(979, database)
        return None
    if copy.revert_done_s is not None or copy.undo_lsn is not None:
        return refuse(922, database)
    allowed = spec.secondary_connections if spec is not None else "NO"
    if allowed == "NO" or copy.suspended is not None:
        return refuse(976, database)
    if allowed == "READ_ONLY" and not read_only_intent:
        return refuse(978, database)
    return refuse(3906, database) if for_write else None


def read_only_route(group: Group, node: str, database: str) -> str | None:
    """Where a read-intent login at the listener is sent: the READ_ONLY_ROUTING_URL of a replica, or None (stay here).

    Sets in the list are tried in order; inside a set the replicas take turns.
    """
    spec, state = group.spec_of(node), group.nodes[node]
    if spec is None or not state.serves:
        return None
    for part in spec.read_only_routing_list:
        names = (part,) if isinstance(part, str) else part
        open_ones = [name for name in names if _readable(group, state, name, database)]
        if not open_ones:
            continue
        key = f"{node}/{'+'.join(names)}"
        turn = group.routing_turn.get(key, 0)
        group.routing_turn[key] = turn + 1
        return _url(group, open_ones[turn % len(open_ones)])
    return None


def _url(group: Group, name: str) -> str | None:
    spec = group.spec_of(name)
    return spec.read_only_routing_url if spec is not None else None


def _readable(group: Group, primary: NodeState, name: str, database: str) -> bool:
    other = group.nodes.get(name)
    spec = group.replicas.get(name)
    if other is None or spec is None or not spec.read_only_routing_url or other is primary:
        return False
    return other.connected and check_access(group, name, database, read_only_intent=True) is None


def read_write_route(group: Group, node: str) -> str | None:
    """READ_WRITE_ROUTING_URL of the primary for a read-write login at a secondary, where both allow it (2019 and later)."""
    state, spec = group.nodes[node], group.spec_of(node)
    primary = group.primary_of(state)
    if (
        state.role != Role.SECONDARY
        or not state.connected
        or primary is None
        or spec is None
        or spec.secondary_connections != "ALL"
    ):
        return None
    target = group.spec_of(primary.name)
    return target.read_write_routing_url if target is not None else None


def backup_preferred(group: Group, node: str, database: str) -> bool:
    """sys.fn_hadr_backup_is_preferred_replica: whether backups should run here.

    Candidates are connected replicas with a priority above 0; the highest priority wins, then the name.
    """
    state = group.nodes[node]
    if database not in group.spec.databases or not state.member:
        return True
    preference = group.spec.automated_backup_preference.upper()
    if preference == "NONE":
        return True
    primary = state.name if state.role == Role.PRIMARY else (group.believed_primary() or "")
    if preference == "PRIMARY":
        return node == primary
    secondaries = [
        spec
        for name, spec in group.replicas.items()
        if name != primary and spec.holds_data and spec.backup_priority > 0 and (group.nodes[name].connected or name == node)
    ]
    if secondaries:
        return min(secondaries, key=lambda one: (-one.backup_priority, one.name)).name == node
    return preference == "SECONDARY" and node == primary


def truncation_lsn(group: Group, node: str, database: str) -> int:
    """Up to where the log of a copy can be truncated: log that every replica has redone and that a log backup holds."""
    state = group.nodes[node]
    copy = state.databases[database]
    if state.role != Role.PRIMARY:
        return min(copy.redone, copy.hardened)
    return min(copy.backed_up, _slowest_redo(group, state, database))


def _slowest_redo(group: Group, primary: NodeState, database: str) -> int:
    copy = primary.databases[database]
    redone = [copy.hardened]
    ledger = group.ledgers[database]
    for name in group.replicas:
        other = group.nodes[name].databases.get(database)
        if other is not None and other.joined and name != primary.name:
            redone.append(min(other.redone, ledger.common_lsn(other.fork, other.hardened, copy.fork, copy.hardened)))
    for other in group.beyond.copies(database):
        redone.append(min(other.redone, ledger.common_lsn(other.fork, other.hardened, copy.fork, copy.hardened)))
    return min(redone)


def log_reuse_wait(group: Group, node: str, database: str) -> str:
    """log_reuse_wait_desc of an availability database: AVAILABILITY_REPLICA, LOG_BACKUP or NOTHING."""
    state = group.nodes[node]
    copy = state.databases[database]
    if state.role != Role.PRIMARY:
        return "NOTHING"
    if _slowest_redo(group, state, database) < copy.backed_up:
        return "AVAILABILITY_REPLICA"
    return "LOG_BACKUP" if copy.backed_up < copy.hardened else "NOTHING"


def contained_here(group: Group, node: str) -> bool:
    """Whether connections on a node can be in the environment of a contained group: its system databases have joined there.

    Source: "What is a contained availability group?" (SQL Server documentation): the listener, or a database of the group as the
    initial catalogue, leads there; logins are those of the contained master.
    """
    state = group.nodes[node]
    copies = [state.databases.get(name) for name in group.spec.system]
    open_role = state.role in (Role.PRIMARY, Role.SECONDARY)
    return bool(copies) and state.up and state.member and open_role and all(one is not None and one.joined for one in copies)
