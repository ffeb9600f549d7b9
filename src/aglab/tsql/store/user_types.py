"""User-defined types: alias types (CREATE TYPE ... FROM) and table types (CREATE TYPE ... AS TABLE).

A batch's types are looked up while it is parsed, in the database that it begins in or that a USE before them names, as SQL
Server binds them when it compiles the batch. Left out: CLR types, and types of another schema than dbo by a bare name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType

if TYPE_CHECKING:
    from aglab.tsql.instance import Instance
    from aglab.tsql.store.database import Database
    from aglab.tsql.store.table import Table

FIRST_USER_TYPE_ID = 257
TABLE_SYSTEM_TYPE_ID = 243


@dataclass
class UserType:
    """One type. An alias has a ``base``; a table type has a ``table`` without rows, from which variables are made."""

    id: int
    schema: str
    name: str
    base: SqlType | None = None
    nullable: bool = True
    columns: list[Any] = field(default_factory=list)  # ColumnSpec
    constraints: list[Any] = field(default_factory=list)  # ConstraintSpec
    table: Table | None = None
    created: Any = None
    is_memory_optimized: bool = False

    @property
    def full_name(self) -> str:
        """schema.name"""
        return f"{self.schema}.{self.name}"

    @property
    def is_table(self) -> bool:
        """Whether it is a table type."""
        return self.base is None


class TypeBook:
    """The user-defined types that a text may name.

    ``used``: one of them was named, so that what was parsed holds as long as the types do.
    """

    def __init__(self, instance: Instance, database: str) -> None:
        self._instance = instance
        self._database: Database | None = instance.database(database)
        self._coming: dict[tuple[str, str], UserType] = {}
        self.used = False

    def use(self, database: str) -> None:
        """A USE in the text."""
        self._database = self._instance.database(database) or self._database

    def add(self, coming: UserType) -> None:
        """A CREATE TYPE in the text: its tables may have columns of the type, its variables not yet."""
        self._coming[coming.schema.lower(), coming.name.lower()] = coming

    def find(self, schema: str, name: str, for_column: bool = False) -> UserType | None:
        """The type, or None."""
        key = ((schema or "dbo").lower(), name.lower())
        found = self._database.types.get(key) if self._database is not None else None
        if found is None and for_column:
            found = self._coming.get(key)
        self.used = self.used or found is not None
        return found
