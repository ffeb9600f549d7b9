"""Definitions that a client must find again after a crash of the process, in the journal beside the commits.

A created, dropped or restored database and the logins and users of a node are written as one record each before the client hears
of them; rows and other definitions are commits of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql.host import CommitRecord, SchemaChange

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node


def keep_database(node: Node, name: str, gone: bool = False) -> None:
    """A database as it is now; ``gone``: that it is dropped, which is told while it is still there."""
    database = None if gone else node.instance.database(name)
    change = SchemaChange("drop" if database is None else "put", "database", name, database)
    node.cluster.journal([node.name], CommitRecord(name, 0, 0, [change], 0))


def keep_principals(node: Node) -> None:
    """The logins of a node and the users of its databases."""
    users = {name: database.principals for name, database in node.instance.databases.items() if database.principals}
    change = SchemaChange("put", "principals", node.name, (node.instance.logins, users))
    node.cluster.journal([node.name], CommitRecord("master", 0, 0, [change], 0))


def keep_agent(node: Node) -> None:
    """The jobs of a node's Agent and their history."""
    node.agent.changes += 1
    change = SchemaChange("put", "agent", node.name, node.agent.to_dict())
    node.cluster.journal([node.name], CommitRecord("master", 0, 0, [change], 0))


def replay(cluster: Cluster, names: list[str], record: CommitRecord) -> bool:
    """Do again what a record of this kind says; False where it is a commit."""
    change = record.changes[0] if record.changes else None
    if not isinstance(change, SchemaChange) or change.kind not in ("agent", "database", "principals"):
        return False
    instance = cluster.nodes[names[0]].instance
    if change.kind == "agent":
        node = cluster.nodes[names[0]]
        node.agent.put(node, change.definition)
        node.agent.replayed = True
        return True
    if change.kind == "database":
        if change.action == "drop":
            instance.databases.pop(change.name.lower(), None)
        else:
            instance.databases[change.name.lower()] = change.definition
        return True
    logins, users = change.definition
    instance.logins.clear()
    instance.logins.update(logins)
    for database in instance.databases.values():
        database.principals = users.get(database.name.lower(), {})
    return True
