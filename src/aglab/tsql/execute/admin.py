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
from aglab.tsql.execute.statistics import StatisticsMixin
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error
from aglab.tsql.permissions import may

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


class AdminMixin(DatabaseMixin, DbccMixin, StatisticsMixin):
    """Administration."""

    # --- what only the node can do ------------------------------------------------------------------------------------------

    def _adminstatement(self, s: st.AdminStatement) -> Effects[Any]:
        if s.name in NOT_IN_TRANSACTION:
            self._no_transaction(s.name, s.line)
        self.session.command = s.name[:32]
        if s.name.endswith(" STATISTICS"):
            yield from self.statistics_statement(s)
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
