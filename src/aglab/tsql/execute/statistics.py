"""CREATE, UPDATE and DROP STATISTICS: kept and shown in sys.stats; the twin's plans use none.

Statistics on columns are in the table's options under "STATISTICS"; those of an index go with the index. Errors: 1088 no
table, 1911 no column, 1927 the name is taken, 2706 and 2767 for UPDATE, 1053 and 3701 for DROP. Sources: "CREATE STATISTICS",
"UPDATE STATISTICS", "DROP STATISTICS (Transact-SQL)".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.functions.names import find_object
from aglab.tsql.host import SchemaChange
from aglab.tsql.messages import error
from aglab.tsql.permissions import need_database
from aglab.tsql.store.database import Database, TableDefinition
from aglab.tsql.store.table import Table

KEY = "STATISTICS"


class StatisticsMixin(BaseExecutor):
    """Statements on statistics."""

    if TYPE_CHECKING:

        def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]: ...
        def _log_schema(self, database: Database, change: SchemaChange, undo: Any) -> None: ...

    def statistics_statement(self, s: st.AdminStatement) -> Effects[None]:
        """CREATE or UPDATE STATISTICS."""
        work = self._create_statistics if s.name == "CREATE STATISTICS" else self._update_statistics
        yield from self.in_transaction(lambda: work(s))
        yield Done(None, "", self.in_procedure)

    def _keep_statistics(self, table: Table, database: Database | None, kept: list[dict[str, Any]]) -> None:
        """Exchange a table's list; a new one each time, for copies of the table share the old."""
        before = table.options.get(KEY, [])
        table.options[KEY] = kept
        if database is not None and database.name != "tempdb":

            def undo() -> None:
                table.options[KEY] = before

            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)

    def _create_statistics(self, s: st.AdminStatement) -> Effects[None]:
        table, database = self._table_to_alter(s.options["TABLE"], s.line, 1088)
        ordinals = []
        for name in s.options["COLUMNS"]:
            ordinal = table.ordinal(name)
            if ordinal is None:
                raise error(1911, name, line=s.line)
            ordinals.append(ordinal)
        kept = table.options.get(KEY, [])
        if s.target.lower() in {one.lower() for one in (*(i.name for i in table.indexes), *(k["name"] for k in kept))}:
            raise error(1927, table.name, s.target, line=s.line)
        numbers = [index.id for index in table.indexes] + [one["id"] for one in kept]
        made = {
            "name": s.target,
            "id": max(numbers, default=1) + 1,
            "columns": ordinals,
            "filter": s.options["FILTER"],
            "no_recompute": bool(s.options.get("NORECOMPUTE")),
            "at": self.runtime.now(),
        }
        self._keep_statistics(table, database, [*kept, made])
        return
        yield

    def _update_statistics(self, s: st.AdminStatement) -> Effects[None]:
        """Noted as updated now."""
        name = s.options["NAME"]
        found = find_object(self.runtime, ".".join(name))
        table = found[1] if found is not None else None
        if found is None or not isinstance(table, Table):
            raise error(2706, name[-1], line=s.line)
        need_database(self.runtime.instance, self.session, found[0], "ALTER")
        wanted = [one.lower() for one in s.options["WANTED"]]
        kept = table.options.get(KEY, [])
        known = {one.lower() for one in (*(index.name for index in table.indexes), *(one["name"] for one in kept))}
        for one in wanted:
            if one not in known:
                raise error(2767, one, line=s.line)
        off = bool(s.options.get("NORECOMPUTE"))
        for index in table.indexes:
            if not wanted or index.name.lower() in wanted:
                index.statistics_at = self.runtime.now()
                index.options["STATISTICS_NORECOMPUTE"] = "ON" if off else "OFF"
        if any(not wanted or one["name"].lower() in wanted for one in kept):
            now = self.runtime.now()
            fresh = [
                {**one, "at": now, "no_recompute": off} if not wanted or one["name"].lower() in wanted else one for one in kept
            ]
            self._keep_statistics(table, found[0], fresh)
        return
        yield

    def drop_statistics(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        """DROP STATISTICS table.name"""
        if len(name) < 2:
            raise error(1053, line=s.line)
        table, database = self._table_to_alter(name[:-1], s.line, 3701)
        kept = table.options.get(KEY, [])
        left = [one for one in kept if one["name"].lower() != name[-1].lower()]
        if len(left) == len(kept):
            raise error(3701, "drop", "statistics", ".".join(name), line=s.line)
        self._keep_statistics(table, database, left)
        return
        yield
