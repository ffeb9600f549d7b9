"""CREATE, ALTER and DROP AVAILABILITY GROUP and ALTER DATABASE ... SET HADR on live nodes, as events of the rules.

Prerequisites are checked here, where the instance's databases and backups are known: full recovery model (1465), a full backup
(1475), HADR enabled (35221), the statement in master (35208). CREATE does not ask for an endpoint: that it does on a server could
not be confirmed; without one no secondary connects, and JOIN fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import events
from aglab.ag.effects import Refused
from aglab.tsql import Command, Session, TsqlError
from aglab.tsql.messages import error, not_implemented
from aglab.twin import contained, distributed_statements, group_clauses
from aglab.twin.backups.record import last_of
from aglab.twin.clauses import Clauses
from aglab.twin.health_events import told
from aglab.twin.listener_statements import listener_event, set_listener
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

FULL = 1  # sys.databases.recovery_model
RESTORING = 1  # sys.databases.state
SYSTEM = ("master", "tempdb", "model", "msdb")


def _allowed(node: Node, session: Session) -> None:
    if session.database.lower() != "master":
        raise refusal(35208)
    if not node.hadr_enabled:
        raise refusal(35221)


def _raise(effects: list[Any]) -> None:
    for effect in effects:
        if isinstance(effect, Refused):
            raise TsqlError(effect.number, effect.severity, effect.state, effect.text)


# -- CREATE ----------------------------------------------------------------------------------------------------------------
def create_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE AVAILABILITY GROUP"""
    _allowed(node, session)
    reader = clauses_of(command)
    name = reader.name()
    options = group_clauses.group_options(reader) if reader.accept("WITH") else {}
    if options.pop("distributed", False):
        distributed_statements.create(node, reader, name, session)
        node.cluster.dirty = True
        return
    reader.expect("FOR")
    databases = reader.listed(reader.name) if reader.accept("DATABASE") else []
    reader.expect("REPLICA", "ON")
    replicas = reader.listed(lambda: group_clauses.replica(reader, "CREATE AVAILABILITY GROUP"))
    listener = group_clauses.listener(reader) if reader.accept("LISTENER") else None
    reader.end()
    cluster_type = options.pop("cluster_type", ag.ClusterType.WSFC)
    for one in databases:
        if sum(one.lower() == other.lower() for other in databases) > 1:
            raise refusal(35234, one)
    groups = node.cluster.groups
    if groups.on(node.name, name) is not None:
        raise refusal(41106, name)
    reuse, system = options.pop("reuse", False), bool(options.get("contained"))
    contained.check_names(node, name, system, reuse)
    names = [_joinable(node, name, one) for one in databases]
    spec = ag.GroupSpec(name, cluster_type, replicas, names, **options)
    groups.sync()
    before = set(node.instance.databases)
    if system:
        contained.make_system_databases(node, name)
    rules, effects = ag.Group.create(spec, node.name, node.cluster.clock.now_s, nodes=list(node.cluster.nodes))
    if rules is None:
        contained.unmake(node, name, before)
        _raise(effects)
    assert rules is not None
    made = groups.add(rules)
    for effect in effects:
        made.carry_out(effect, session)
    if listener is not None:
        try:
            set_listener(node, made, listener, session)
        except TsqlError:
            made.tell(events.Drop(node.name), caller=session)
            groups.sweep()
            raise
    groups.settled()
    node.note_membership()
    node.cluster.dirty = True
    yield from ()


def _joinable(node: Node, group: str, name: str) -> str:
    """The name of a database that may enter a group, as its instance writes it. Errors 35249, 35238, 35244, 1465, 1475."""
    if name.lower() in SYSTEM:
        raise refusal(35249, name)
    database = node.instance.database(name)
    if database is None:
        raise refusal(35238, name, group)
    other = node.cluster.groups.of(database.name)
    if other is not None and other.name.lower() != group.lower() and node.name in other.rules.nodes:
        raise refusal(35244, database.name, group)
    if database.options["recovery_model"] != FULL:
        raise refusal(1465, database.name)
    since_s = float(database.options.get("log_chain_since_s", -1.0))
    if not any(one.database == database.name and one.kind == "D" and one.finished_s > since_s for one in node.backups):
        raise refusal(1475, database.name)
    return str(database.name)


# -- ALTER -----------------------------------------------------------------------------------------------------------------
def alter_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER AVAILABILITY GROUP"""
    _allowed(node, session)
    reader = clauses_of(command)
    name = reader.name()
    groups = node.cluster.groups
    dag = groups.distributed.named(name)
    if reader.at("JOIN", "AVAILABILITY", "GROUP") or (dag is not None and groups.on(node.name, name) is None):
        if dag is None:
            _raise([ag.refuse(19510, name)])
        assert dag is not None
        distributed_statements.alter(node, dag, reader, session)
    elif reader.at("JOIN"):
        _join(node, reader, name, session)
    else:
        group = groups.on(node.name, name)
        if group is None:
            raise refusal(15151, "alter", "availability group", name)
        event = _event(node, group, reader, session)
        if event is not None:
            group.tell(event, caller=session)
        groups.trust_changed()
        groups.settled()
    node.cluster.dirty = True
    yield from ()


def _join(node: Node, reader: Clauses, name: str, session: Session) -> None:
    reader.expect("JOIN")
    cluster_type = ""
    if reader.accept("WITH"):
        reader.expect("(")
        reader.expect("CLUSTER_TYPE", "=")
        cluster_type = reader.choice("WSFC", "EXTERNAL", "NONE")
        reader.expect(")")
    reader.end()
    groups = node.cluster.groups
    if groups.on(node.name, name) is not None:
        raise refusal(41106, name)
    found = [one for one in groups.named(name) if node.name in one.rules.replicas] or groups.named(name)
    if not found:
        _raise([ag.refuse(47106, name)] if cluster_type in ("EXTERNAL", "NONE") else [ag.refuse(41100, name)])
    groups.trust_changed()
    found[-1].tell(events.Join(node.name, cluster_type), caller=session)
    groups.settled()
    node.note_membership()


def _event(node: Node, group: Availability, reader: Clauses, session: Session) -> Any:
    here = node.name
    external = str(session.session_context.get("external_cluster") or "").lower() in ("yes", "1", "true")
    plain = {
        "FAILOVER": lambda: events.Failover(here, external),
        "FORCE_FAILOVER_ALLOW_DATA_LOSS": lambda: events.ForceFailover(here, external),
        "OFFLINE": lambda: events.Offline(here),
    }
    for word, make in plain.items():
        if reader.accept(word):
            reader.end()
            return make()
    if reader.accept("SET"):
        return _set(here, reader)
    if reader.at("GRANT") or reader.at("DENY"):
        granted = reader.choice("GRANT", "DENY") == "GRANT"
        reader.expect("CREATE", "ANY", "DATABASE")
        reader.end()
        return events.GrantCreateDatabase(here, granted)
    verb = reader.choice("ADD", "MODIFY", "REMOVE", "RESTART") if not reader.at(";") else ""
    if reader.accept("LISTENER") and verb in ("ADD", "MODIFY", "REMOVE", "RESTART"):
        return listener_event(node, group, reader, verb, session)
    if reader.accept("DATABASE") and verb in ("ADD", "REMOVE"):
        names = reader.listed(reader.name)
        reader.end()
        for one in names:
            group.tell(_database(node, group, verb, one), caller=session)
        return None
    if verb == "MODIFY" and reader.at("AVAILABILITY", "GROUP", "ON"):
        _raise([ag.refuse(19512, group.name)])
    if reader.accept("REPLICA", "ON"):
        return _replica(here, group, reader, verb)
    raise not_implemented(f"ALTER AVAILABILITY GROUP ... {verb}")


def _set(here: str, reader: Clauses) -> Any:
    if reader.at("(", "ROLE"):
        reader.expect("(", "ROLE", "=", "SECONDARY", ")")
        reader.end()
        return events.SetRoleSecondary(here)
    changes = group_clauses.set_options(reader)
    reader.end()
    return events.SetOption(here, changes)


def _database(node: Node, group: Availability, verb: str, name: str) -> Any:
    if verb == "REMOVE":
        return events.RemoveDatabase(node.name, group.holds(name) or name)
    known = group.holds(name)
    database = node.instance.database(name)
    if group.rules.beyond.fed():
        raise not_implemented(
            "ALTER AVAILABILITY GROUP ... ADD DATABASE on the secondary group of a distributed availability group"
        )
    if database is not None and contained.excluded(node, group, database):
        _raise([ag.refuse(47136, database.name, group.name)])
    if known is None and group.role(node.name) == "PRIMARY":
        known = _joinable(node, group.name, name)
    size_bytes = sum(file.size for file in database.files) * 8192 if database is not None else 0
    return events.AddDatabase(node.name, known or name, size_bytes)


def _replica(here: str, group: Availability, reader: Clauses, verb: str) -> Any:
    if verb == "ADD":
        made = group_clauses.replica(reader, "ADD REPLICA")
        reader.end()
        return events.AddReplica(here, made)
    name = reader.text_or_name().lower()
    if verb == "REMOVE":
        reader.end()
        return events.RemoveReplica(here, name)
    reader.expect("WITH")
    changes = group_clauses.replica_changes(reader, name, "MODIFY REPLICA")
    reader.end()
    return events.ModifyReplica(here, name, changes)


# -- DROP ------------------------------------------------------------------------------------------------------------------
def drop_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP AVAILABILITY GROUP"""
    _allowed(node, session)
    reader = clauses_of(command)
    name = reader.name()
    reader.end()
    groups = node.cluster.groups
    group, dag = groups.on(node.name, name), groups.distributed.named(name)
    if group is None and dag is not None and dag in groups.distributed.known(node.name):
        distributed_statements.drop(node, dag, session)
        node.cluster.dirty = True
        return
    if group is None:
        raise refusal(15151, "drop", "availability group", name)
    group.tell(events.Drop(node.name), caller=session)
    groups.sweep()
    groups.settled()
    for one in node.cluster.nodes.values():
        one.note_membership()
    node.cluster.dirty = True
    yield from ()


# -- ALTER DATABASE ... SET HADR -------------------------------------------------------------------------------------------
def set_hadr(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER DATABASE ... SET HADR SUSPEND | RESUME | OFF | AVAILABILITY GROUP = name."""
    if not node.hadr_enabled:
        raise refusal(35221)
    said = {str(key).upper(): value for key, value in command.options.items()}
    if "HADR AVAILABILITY GROUP" in said:
        _join_database(node, command.target, str(said["HADR AVAILABILITY GROUP"]), session)
    else:
        group = next((one for one in node.cluster.groups.here(node.name) if one.holds(command.target)), None)
        if group is None:
            _raise([ag.refuse(35242, command.target)])
        assert group is not None
        database = group.holds(command.target) or command.target
        kinds = {"OFF": events.UnjoinDatabase, "SUSPEND": events.Suspend, "RESUME": events.Resume}
        group.tell(kinds[str(said["HADR"]).upper()](node.name, database), caller=session)
    node.cluster.groups.settled()
    node.cluster.dirty = True
    yield from ()


def _join_database(node: Node, name: str, group_name: str, session: Session) -> None:
    group = node.cluster.groups.on(node.name, group_name)
    dag = node.cluster.groups.distributed.named(group_name)
    if group is None and dag is not None and dag in node.cluster.groups.distributed.known(node.name):
        restoring = node.restoring.get(name.lower())
        if node.instance.database(name) is None or restoring is None:
            _raise([ag.refuse(1408, name)])
        distributed_statements.join_database(node, dag, name, None, session)
        node.note_membership()
        return
    if group is None:
        raise refusal(15151, "alter", "availability group", group_name)
    database = node.instance.database(name)
    if database is None:
        raise error(5011, name)
    known = group.holds(name) or name
    copy = group.rules.nodes[node.name].databases.get(known)
    joined = copy is not None and copy.joined
    if not joined and database.options["state"] != RESTORING and group.role(node.name) != "PRIMARY":
        _raise([ag.refuse(1408, name)])
    restored = node.restoring.get(name.lower())
    if restored is not None:
        _follows_the_chain(node, group, database.name, float(restored["lsn"]))
    group.tell(events.JoinDatabase(node.name, known), caller=session)
    group.rows.rewound(node.name, known)  # its rows are those of the primary, as far as it has redone
    group.rows.settle()
    node.note_membership()


def _follows_the_chain(node: Node, group: Availability, name: str, restored_lsn: float) -> None:
    """Every log backup that was taken has to be restored before a copy joins. Error 1478."""
    primary = node.cluster.nodes[group.primary]
    newest = last_of(primary, name, "L")
    if newest is not None and newest.last_lsn > restored_lsn:
        raise refusal(1478, name)


COMMANDS = {
    "CREATE AVAILABILITY GROUP": told(create_group),
    "ALTER AVAILABILITY GROUP": told(alter_group),
    "DROP AVAILABILITY GROUP": told(drop_group),
    "ALTER DATABASE SET HADR": told(set_hadr),
}
