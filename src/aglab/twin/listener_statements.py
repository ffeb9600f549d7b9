"""The listener clauses of CREATE and ALTER AVAILABILITY GROUP on live nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import events
from aglab.tsql import Session, TsqlError
from aglab.twin import group_clauses
from aglab.twin.clauses import Clauses
from aglab.twin.security_messages import refusal

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node


def listener_event(node: Node, group: Availability, reader: Clauses, verb: str, session: Session) -> Any:
    """ADD, MODIFY, REMOVE or RESTART LISTENER: an event of the rules, or None where it has been carried out."""
    known = group.rules.spec.listener
    if verb == "ADD":
        made = group_clauses.listener(reader)
        reader.end()
        set_listener(node, group, made, session)
        return None
    name = reader.text()
    if known is None or known.dns_name.lower() != name.lower():
        raise refusal(15151, verb.lower(), "listener", name)
    if verb == "MODIFY":
        reader.expect("(")
        made = _modified(reader, known)
        reader.expect(")")
        reader.end()
        set_listener(node, group, made, session)
        return None
    reader.end()
    if verb == "RESTART":
        node.cluster.addresses.open(group, known, node)
        return None
    group.tell(events.SetListener(node.name, None), caller=session)
    node.cluster.addresses.close(group)
    group.listener_home = None
    return None


def _modified(reader: Clauses, known: ag.Listener) -> ag.Listener:
    if reader.accept("PORT", "="):
        return replace(known, port=reader.number())
    reader.expect("ADD", "IP")
    reader.expect("(")
    address, mask = reader.text(), ""
    if reader.accept(","):
        mask = reader.text()
    reader.expect(")")
    return replace(known, addresses=(*known.addresses, (address, mask)))


def set_listener(node: Node, group: Availability, made: ag.Listener, session: Session) -> None:
    """The group has this listener, and its addresses are open; neither where they cannot be opened."""
    for ip, _ in made.addresses:
        node.cluster.addresses.check((ip, made.port))
    before = group.rules.spec.listener
    group.tell(events.SetListener(node.name, made), caller=session)
    try:
        group.listener_home = node.name
        node.cluster.addresses.open(group, made, node)
    except TsqlError:
        group.tell(events.SetListener(node.name, None), caller=session)
        if before is not None:
            group.tell(events.SetListener(node.name, before), caller=session)
        else:
            group.listener_home = None
        raise
