"""CHECKPOINT, RECONFIGURE, KILL, and everything the node carries out."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.databases import DatabaseMixin
from aglab.tsql.execute.dbcc import DbccMixin
from aglab.tsql.functions.names import find_object
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error
from aglab.tsql.permissions import may, need_database
from aglab.tsql.store.table import Table

NOT_IN_TRANSACTION = frozenset(
    {
        "BACKUP DATABASE",
        "BACKUP LOG",
        "RESTORE DATABASE",
        "RESTORE LOG",
        "CREATE AVAILABILITY GROUP",
        "ALTER AVAILABILITY GROUP",
        "DROP AVAILABILITY GROUP",
        "SHUTDOWN",
    }
)


class AdminMixin(DatabaseMixin, DbccMixin):
    """Administration."""

    # --- what only the node can do ------------------------------------------------------------------------------------------

    def _adminstatement(self, s: st.AdminStatement) -> Effects[Any]:
        if s.name in NOT_IN_TRANSACTION:
            self._no_transaction(s.name, s.line)
        self.session.command = s.name[:32]
        if s.name == "UPDATE STATISTICS":
            yield from self.in_transaction(lambda: self._update_statistics(s))
            yield Done(None, "", self.in_procedure)
            return None
        target = s.target
        if target.startswith("@"):
            target = str(self.runtime.variables.values.get(target.lower()) or "")
        if s.name.startswith(("BACKUP", "RESTORE")) and target and s.name.split()[1] in ("DATABASE", "LOG"):
            database = self.runtime.instance.database(target)
            if database is None and s.name.startswith("BACKUP"):
                raise error(911, target, line=s.line)
            target = database.name if database is not None else target
        options = {}
        for key, value in s.options.items():
            options[key] = (yield from self.evaluate(s, value)) if isinstance(value, ast.Node) else value
        if isinstance(options.get("DEVICES"), list):
            devices = []
            for kind, place in options["DEVICES"]:
                devices.append((kind, (yield from self.evaluate(s, place)) if isinstance(place, ast.Node) else place))
            options["DEVICES"] = devices
        yield from self._node(Command(s.name, target, options, s.text), s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def _update_statistics(self, s: st.AdminStatement) -> Effects[None]:
        """Statistics of indexes are noted as updated now; the twin's plans use none. Errors 2706, 2767."""
        name = s.options["NAME"]
        found = find_object(self.runtime, ".".join(name))
        table = found[1] if found is not None else None
        if found is None or not isinstance(table, Table):
            raise error(2706, name[-1], line=s.line)
        database = found[0]
        need_database(self.runtime.instance, self.session, database, "ALTER")
        wanted = [one.lower() for one in s.options["WANTED"]]
        for one in wanted:
            if all(index.name.lower() != one for index in table.indexes):
                raise error(2767, one, line=s.line)
        for index in table.indexes:
            if not wanted or index.name.lower() in wanted:
                index.statistics_at = self.runtime.now()
                index.options["STATISTICS_NORECOMPUTE"] = "ON" if "NORECOMPUTE" in s.options else "OFF"
        return
        yield

    def _checkpoint(self, s: st.Checkpoint) -> Effects[Any]:
        duration = None
        if s.duration is not None:
            duration = yield from self.evaluate(s, s.duration, INT)
            if duration is not None and duration <= 0:
                raise error(102, str(duration), line=s.line)
        self.session.command = "CHECKPOINT"
        yield from self._node(Command("CHECKPOINT", self.session.database, {"DURATION": duration}), s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def _kill(self, s: st.Kill) -> Effects[Any]:
        spid = yield from self.evaluate(s, s.spid)
        if not isinstance(spid, int):
            raise error(6101 if not isinstance(spid, str) else 102, str(spid), line=s.line)
        if self.session.trancount:
            raise error(6115, line=s.line)
        if spid == self.session.spid:
            raise error(6104, line=s.line)
        if not may(self.runtime.instance, self.session, "ALTER ANY CONNECTION"):
            raise error(6102, line=s.line)
        if spid not in self.runtime.instance.sessions:
            raise error(6106, spid, line=s.line)
        self.runtime.host.kill(spid)
        yield Done(None, "", self.in_procedure)
        return None

    def _reconfigure(self, s: st.Reconfigure) -> Effects[Any]:
        if self.session.trancount:
            raise error(574, "RECONFIGURE", line=s.line)
        if not may(self.runtime.instance, self.session, "ALTER SETTINGS"):
            raise error(5812, line=s.line)
        for item in self.runtime.instance.configurations.values():
            if item.is_dynamic and item.value != item.value_in_use:
                item.value_in_use = item.value
                yield from self.announce(Change("configuration", item.name, item.value))
        yield Done(None, "", self.in_procedure)
        return None

    # --- databases ----------------------------------------------------------------------------------------------------------

    # --- DBCC ---------------------------------------------------------------------------------------------------------------
