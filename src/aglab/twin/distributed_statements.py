"""CREATE, ALTER and DROP AVAILABILITY GROUP for distributed groups.

Source: the statements' pages and "Configure a distributed availability group" (SQL Server documentation). What a server says to
FAILOVER, ADD REPLICA and the like on a distributed group could not be confirmed: they are the twin's own error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import AvailabilityMode, FailoverMode
from aglab.ag.distributed import PARTICIPANTS, Distributed, Participant
from aglab.tsql import Session, TsqlError
from aglab.tsql.messages import not_implemented
from aglab.twin.clauses import Clauses
from aglab.twin.endpoints import parsed_url
from aglab.twin.security_messages import refusal

if TYPE_CHECKING:
    from aglab.twin.node import Node

_OPTIONS = {
    "LISTENER_URL": Clauses.text,
    "AVAILABILITY_MODE": lambda one: AvailabilityMode(one.choice("SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT")),
    "FAILOVER_MODE": lambda one: FailoverMode(one.choice("MANUAL", "AUTOMATIC", "EXTERNAL")),
    "SEEDING_MODE": lambda one: one.choice("AUTOMATIC", "MANUAL"),
}


def _refuse(number: int, *args: object) -> TsqlError:
    found = ag.refuse(number, *args)
    return TsqlError(found.number, found.severity, found.state, found.text)


def _changes(reader: Clauses, what: str) -> tuple[str, dict[str, Any]]:
    """``'ag1' WITH (...)``"""
    name = reader.text_or_name()
    reader.expect("WITH")
    said = {key.lower(): value for key, value in reader.options(_OPTIONS, what).items()}
    if "listener_url" in said and parsed_url(said["listener_url"]) is None:
        raise refusal(35232, said["listener_url"])
    return name, said


def _participants(reader: Clauses, what: str) -> list[Participant]:
    """``AVAILABILITY GROUP ON`` with the options of both groups."""
    reader.expect("AVAILABILITY", "GROUP", "ON")
    rows = reader.listed(lambda: _changes(reader, what))
    reader.end()
    for name, said in rows:
        missing = [key.upper() for key in ("listener_url", "availability_mode", "failover_mode") if key not in said]
        if missing:
            raise not_implemented(f"{what} ... AVAILABILITY GROUP ON '{name}' without {', '.join(missing)}")
    if len(rows) != PARTICIPANTS:
        raise not_implemented(f"{what} ... AVAILABILITY GROUP ON with {len(rows)} groups; a distributed group has two")
    return [Participant(name, **said) for name, said in rows]


def create(node: Node, reader: Clauses, name: str, session: Session) -> None:
    """CREATE AVAILABILITY GROUP name WITH (DISTRIBUTED) AVAILABILITY GROUP ON ... Errors 19509, 19513, 19507, 35277, 41140."""
    groups = node.cluster.groups
    said = _participants(reader, "CREATE AVAILABILITY GROUP")
    if groups.on(node.name, name) is not None or groups.distributed.named(name) is not None:
        raise _refuse(19509, name)
    _no_contained(node, name, said)
    groups.sync()
    made, effects = Distributed.create(name, said, [one.rules for one in groups], node.name, node.cluster.clock.now_s)
    groups.distributed.carry_out(effects, session)
    if made is not None:
        groups.distributed.all.append(made)
    groups.settled()


def _no_contained(node: Node, name: str, said: list[Participant]) -> None:
    """SQL Server 2022 has no distributed group over a contained one. Error 47129."""
    for one in said:
        if any(group.rules.spec.contained for group in node.cluster.groups.named(one.group)):
            raise _refuse(47129, name)


def alter(node: Node, dag: Distributed, reader: Clauses, session: Session) -> None:
    """ALTER AVAILABILITY GROUP on a distributed group."""
    groups, cluster = node.cluster.groups, node.cluster
    groups.sync()
    now_s = cluster.clock.now_s
    if reader.accept("JOIN"):
        said = _participants(reader, "ALTER AVAILABILITY GROUP")
        _no_contained(node, dag.name, said)
        effects = dag.join(node.name, said, [one.rules for one in groups], now_s)
    elif reader.accept("MODIFY", "AVAILABILITY", "GROUP", "ON"):
        rows = reader.listed(lambda: _changes(reader, "MODIFY AVAILABILITY GROUP"))
        reader.end()
        effects = dag.modify(node.name, dict(rows), now_s)
    elif reader.accept("SET", "(", "ROLE", "=", "SECONDARY", ")"):
        reader.end()
        effects = dag.set_secondary(node.name, now_s)
        _drop_users(node, dag, session)
    elif reader.accept("SET", "(", "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT", "="):
        required = reader.number()
        reader.expect(")")
        reader.end()
        effects = dag.set_required(node.name, required, now_s)
    elif reader.accept("FORCE_FAILOVER_ALLOW_DATA_LOSS"):
        reader.end()
        effects = dag.force(node.name, now_s)
        _drop_users(node, dag, session)
    else:
        word = reader.token.value if reader.token is not None else ""
        raise not_implemented(f"ALTER AVAILABILITY GROUP ... {word} on a distributed availability group")
    groups.distributed.carry_out(effects, session)
    for side in dag.sides.values():
        group = groups.distributed.availability(side)
        if group is not None:
            group.renew_role()
    groups.settled()


def _drop_users(node: Node, dag: Distributed, session: Session) -> None:
    """Clients of databases whose group changed its role lose their connections."""
    for side in dag.sides.values():
        for database in side.group.spec.databases if side.group is not None and side.primary is not None else ():
            node.cluster.drop_users(node.cluster.nodes[side.primary or ""], database, session)


def drop(node: Node, dag: Distributed, session: Session) -> None:
    """DROP AVAILABILITY GROUP of a distributed group, on one side."""
    groups = node.cluster.groups
    groups.distributed.carry_out(dag.drop(node.name, node.cluster.clock.now_s), session)
    if dag.over:
        groups.distributed.all.remove(dag)
    groups.settled()


def join_database(node: Node, dag: Distributed, name: str, restored_lsn: int | None, session: Session) -> None:
    """ALTER DATABASE ... SET HADR AVAILABILITY GROUP = a distributed group, on its forwarder."""
    distributed = node.cluster.groups.distributed
    source = distributed.availability(dag.source)
    known = (source.holds(name) if source is not None else None) or name
    distributed.carry_out(dag.join_database(node.name, known, restored_lsn, node.cluster.clock.now_s), session)
    group = distributed.availability(dag.target)
    if group is not None:
        group.rows.rewound(node.name, known)  # its rows are those of the source
        group.rows.settle()
