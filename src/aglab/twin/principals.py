"""Logins and users on their way to the replicas: those of a group's databases are committed there as rows are.

A statement about users, roles or permissions in a database of an availability group, or about logins in the environment of a
contained group, changes this replica at once and is then a transaction of that database:
it waits for the synchronous secondaries, and all get it when they redo the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, CommitRecord, Session
from aglab.tsql.host import SchemaChange
from aglab.twin.contained import seen

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database
    from aglab.twin.node import Node

Handler = Callable[["Node", Command, Session], Iterator[Any]]
LOG_BYTES = 1024  # of one statement: a few rows of system tables with their indexes
_ON_LOGINS = ("CREATE LOGIN", "ALTER LOGIN", "DROP LOGIN", "ALTER SERVER ROLE")


def shipped(handler: Handler) -> Handler:
    """A statement about principals, committed in every group that it concerns; undone where that fails."""

    def run(node: Node, command: Command, session: Session) -> Iterator[Any]:
        books = list(_books(node, session))
        if session.environment is not None and command.name.upper() in _ON_LOGINS:
            master = session.environment.database("master")
            node.check_access(master.name, session, True)
        before = [deepcopy(book) for _, _, book in books]
        try:
            yield from handler(node, command, session)
            for (database, kind, book), old in zip(books, before, strict=True):
                if book != old and node.cluster.groups.of(database.name) is not None:
                    change = SchemaChange("put", kind, database.name, deepcopy(book))
                    number = node.instance.next_transaction_id()
                    waits = node.commit(CommitRecord(database.name, number, session.spid, [change], LOG_BYTES), session)
                    if waits is not None:
                        yield from waits
        except BaseException:
            for (_, _, book), old in zip(books, before, strict=True):
                book.clear()
                book.update(old)
            raise

    return run


def _books(node: Node, session: Session) -> Iterator[tuple[Database, str, dict[str, Any]]]:
    """What a statement may change: the users of the session's database, the logins of a contained master."""
    here = seen(node, session).database(session.database)
    if here is not None:
        yield here, "users", here.principals
    if session.environment is not None:
        master = session.environment.database("master")
        yield master, "logins", master.logins
