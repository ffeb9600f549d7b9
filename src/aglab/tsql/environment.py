"""What a connection in the environment of a contained availability group sees of its instance.

master and msdb are the group's own (``ag1_master``, ``ag1_msdb`` from outside), logins are those that lie in that master, and the
databases listed are the group's and tempdb. Other databases can be used by name. Everything else (sessions, locks,
configuration, memory) is the instance's. Source: "What is a contained availability group?" (SQL Server documentation), which
gives database id 1 for the contained master; that msdb is 4 in there is taken from instances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.tsql.instance import Instance
from aglab.tsql.store.database import Database

MASTER_ID, MSDB_ID = 1, 4


def only_at_instance(group: str) -> str:
    """Why a statement is refused in a contained group's environment, and where it belongs."""
    return f"this connection is in contained availability group '{group}'; say it on a connection to the instance"


class Environment:
    """A contained group's view of an :class:`~aglab.tsql.instance.Instance`; attributes that are not here are the instance's.

    Parameters
    ----------
    base : Instance
    group : str
        The group's name.
    group_id : UUID
    names : callable
        The names of the group's databases now.
    """

    base: Instance
    group: str
    group_id: Any

    def __init__(self, base: Instance, group: str, group_id: Any, names: Callable[[], list[str]]) -> None:
        self.__dict__.update(base=base, group=group, group_id=group_id, _names=names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.base, name, value)

    def _own(self, part: str) -> Database:
        found = self.base.database(f"{self.group}_{part}")
        assert found is not None, f"the contained {part} of {self.group} is gone"
        return found

    @property
    def logins(self) -> dict[str, dict[str, Any]]:
        """The logins of the contained master."""
        return self._own("master").logins

    @property
    def databases(self) -> dict[str, Database]:
        """What is listed: the group's databases and tempdb, by the names that they have in here."""
        found = {"master": self._own("master"), "tempdb": self.base.databases["tempdb"], "msdb": self._own("msdb")}
        for name in self.__dict__["_names"]():
            one = self.base.database(name)
            if one is not None and not one.part:
                found[name.lower()] = one
        return found

    def database(self, name: str) -> Database | None:
        """A database by name in any case; master and msdb are the group's."""
        lowered = name.lower()
        return self._own(lowered) if lowered in ("master", "msdb") else self.base.database(name)

    def by_id(self, number: int) -> Database | None:
        """A database by the id that it has in here."""
        own = {MASTER_ID: "master", MSDB_ID: "msdb"}.get(number)
        return self._own(own) if own is not None else self.base.by_id(number)

    def shown(self, database: Database) -> tuple[str, int]:
        """Name and id of a database in here."""
        if database.part and database.name.lower() == f"{self.group}_{database.part}".lower():
            return database.part, MASTER_ID if database.part == "master" else MSDB_ID
        return database.name, database.id
