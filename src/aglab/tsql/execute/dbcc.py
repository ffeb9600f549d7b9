"""DBCC."""

from __future__ import annotations

import datetime
from typing import Any

from aglab.core.sqltypes import INT, REAL, SMALLINT, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done, Message
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.dbcc_storage import DbccStorageMixin
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error, info, not_implemented
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.database import Database

KNOWN_TRACE_FLAGS_MAX = 20000


DBCC_WITHOUT_EFFECT = frozenset({"FREESYSTEMCACHE", "FREESESSIONCACHE", "FLUSHPROCINDB", "SETCPUWEIGHT"})


KNOWN_DBCC = frozenset(
    """CHECKFILEGROUP CLEANTABLE CLONEDATABASE DBREINDEX DBREPAIR HELP INDEXDEFRAG MEMORYSTATUS OUTPUTBUFFER
    PAGE PROCCACHE SHOWCONTIG SHOW_STATISTICS STACKDUMP IND""".split()
)


_CHECKS = frozenset("ALL_ERRORMSGS EXTENDED_LOGICAL_CHECKS TABLOCK ESTIMATEONLY PHYSICAL_ONLY DATA_PURITY MAXDOP".split())
# What may stand after WITH besides NO_INFOMSGS. None of them changes what a command does here but NO_INFOMSGS and TABLERESULTS.
DBCC_WITH = {
    "CHECKDB": _CHECKS,
    "CHECKTABLE": _CHECKS,
    "CHECKCONSTRAINTS": frozenset({"ALL_CONSTRAINTS", "ALL_ERRORMSGS"}),
    "CHECKALLOC": frozenset({"ALL_ERRORMSGS", "TABLOCK", "ESTIMATEONLY"}),
    "UPDATEUSAGE": frozenset({"COUNT_ROWS"}),
    "FREEPROCCACHE": frozenset({"COMPUTE"}),
    "FREESYSTEMCACHE": frozenset({"MARK_IN_USE_FOR_REMOVAL"}),
    "OPENTRAN": frozenset({"TABLERESULTS"}),
    "DBINFO": frozenset({"TABLERESULTS"}),
}


class DbccMixin(DbccStorageMixin):
    """DBCC."""

    def _dbcc(self, s: st.Dbcc) -> Effects[Any]:
        self.session.command = "DBCC"
        method = getattr(self, f"_dbcc_{s.command.lower()}", None)
        known = method is not None or s.command in DBCC_WITHOUT_EFFECT
        if known and s.options - {"NO_INFOMSGS"} - DBCC_WITH.get(s.command, frozenset()):
            raise error(2526, line=s.line)
        if method is not None:
            yield from method(s)
        elif s.command in DBCC_WITHOUT_EFFECT:
            pass
        elif s.command in KNOWN_DBCC:
            raise not_implemented(f"DBCC {s.command}", s.line)
        else:
            raise error(2526, line=s.line)
        if "NO_INFOMSGS" not in s.options:
            yield info(2528, line=s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def _dbcc_freeproccache(self, s: st.Dbcc) -> Effects[None]:
        self.runtime.instance.statements.clear()
        return
        yield

    def _dbcc_dropcleanbuffers(self, s: st.Dbcc) -> Effects[None]:
        self.runtime.instance.pool.drop()
        return
        yield

    def _flags(self, s: st.Dbcc) -> tuple[list[int], bool]:
        values: list[int] = []
        for arg in s.args:
            if isinstance(arg, ast.Variable):
                arg = self.runtime.variables.values.get(arg.name.lower())
            if not isinstance(arg, int):
                raise error(2560, len(values) + 1, line=s.line)
            values.append(arg)
        everywhere = -1 in values
        flags = [v for v in values if v != -1]
        if any(flag < 0 or flag > KNOWN_TRACE_FLAGS_MAX for flag in flags):
            raise error(2560, 1, line=s.line)
        return flags, everywhere

    def _dbcc_traceon(self, s: st.Dbcc) -> Effects[None]:
        flags, everywhere = self._flags(s)
        if not flags:
            raise error(2583, line=s.line)
        for flag in flags:
            (self.runtime.instance.trace_flags if everywhere else self.session.trace_flags).add(flag)
            yield from self.announce(Change("trace_flag", str(flag), True, "", {"global": everywhere}))

    def _dbcc_traceoff(self, s: st.Dbcc) -> Effects[None]:
        flags, everywhere = self._flags(s)
        if not flags:
            raise error(2583, line=s.line)
        for flag in flags:
            (self.runtime.instance.trace_flags if everywhere else self.session.trace_flags).discard(flag)
            yield from self.announce(Change("trace_flag", str(flag), False, "", {"global": everywhere}))

    def _dbcc_tracestatus(self, s: st.Dbcc) -> Effects[None]:
        flags, _ = self._flags(s)
        instance, session = self.runtime.instance, self.session
        shown = sorted(set(flags)) or sorted(instance.trace_flags | session.trace_flags)
        columns = [
            OutColumn("TraceFlag", SMALLINT, False),
            OutColumn("Status", SMALLINT),
            OutColumn("Global", SMALLINT),
            OutColumn("Session", SMALLINT),
        ]
        rows = [
            (
                flag,
                int(flag in instance.trace_flags or flag in session.trace_flags),
                int(flag in instance.trace_flags),
                int(flag in session.trace_flags),
            )
            for flag in shown
        ]
        if rows:
            yield from self.send(columns, rows)

    def _dbcc_sqlperf(self, s: st.Dbcc) -> Effects[None]:
        what = str(s.args[0]).upper() if s.args else ""
        if what == "LOGSPACE":
            rows = []
            for item in sorted(self.runtime.instance.databases.values(), key=lambda d: d.id):
                size_mb = sum(f.size for f in item.files if f.type == 1) * 8 / 1024
                used = self._log_used_percent(item)
                rows.append((item.name, size_mb, used, 0))
            columns = [
                OutColumn("Database Name", nvarchar(128), False),
                OutColumn("Log Size (MB)", REAL, False),
                OutColumn("Log Space Used (%)", REAL, False),
                OutColumn("Status", INT, False),
            ]
            yield from self.send(columns, rows)
        elif what in ("SYS.DM_OS_WAIT_STATS", "WAITSTATS") and len(s.args) > 1:
            yield from self._node(Command("DBCC SQLPERF CLEAR", what), s.line)
        else:
            raise error(2526, line=s.line)

    def _log_used_percent(self, database: Database) -> float:
        rows = self.runtime.host.view_rows("sys.dm_db_log_space_usage", (), self.session)
        for row in rows or ():
            if isinstance(row, dict) and row.get("database_id") == database.id:
                return float(row.get("used_log_space_in_percent") or 0.0)
        return 5.0

    def _dbcc_useroptions(self, s: st.Dbcc) -> Effects[None]:
        o = self.session.options
        from aglab.tsql.session import ISOLATION_LEVELS

        rows = [
            ("textsize", str(o.textsize)),
            ("language", o.language),
            ("dateformat", o.dateformat),
            ("datefirst", str(o.datefirst)),
            ("lock_timeout", str(o.lock_timeout_ms)),
        ]
        for name in (
            "quoted_identifier",
            "arithabort",
            "ansi_null_dflt_on",
            "ansi_warnings",
            "ansi_padding",
            "ansi_nulls",
            "concat_null_yields_null",
            "xact_abort",
            "nocount",
            "implicit_transactions",
        ):
            if getattr(o, name):
                rows.append((name, "SET"))
        rows.append(("isolation level", ISOLATION_LEVELS[o.isolation]))
        yield from self.send([OutColumn("Set Option", nvarchar(128)), OutColumn("Value", nvarchar(128))], rows)  # type: ignore[arg-type]

    def _dbcc_opentran(self, s: st.Dbcc) -> Effects[None]:
        """The oldest transaction that has changed a database; its columns with TABLERESULTS are not documented."""
        database = self._dbcc_database(s)
        changed = [
            x
            for x in self.runtime.instance.sessions.values()
            if x.transaction is not None and any(one.database == database.name for one in x.transaction.entries)
        ]
        if not changed:
            yield info(7969, line=s.line)
            return
        oldest = min(changed, key=lambda x: x.transaction.began_s if x.transaction else 0)
        assert oldest.transaction is not None
        host = self.runtime.host
        began = host.now() - datetime.timedelta(seconds=host.now_s() - oldest.transaction.began_s)
        facts = (
            ("OLDACT_SPID", "SPID (server process ID)", str(oldest.spid)),
            ("OLDACT_UID", "UID (user ID)", "-1"),
            ("OLDACT_NAME", "Name", oldest.transaction.name or "user_transaction"),
            ("OLDACT_STARTTIME", "Start time", f"{began:%b %d %Y %I:%M:%S}:{began.microsecond // 1000:03}{began:%p}"),
        )
        if "TABLERESULTS" in s.options:
            columns = [OutColumn("REC_NAME", nvarchar(128)), OutColumn("VALUE", nvarchar(128))]
            yield from self.send(columns, [(name, value) for name, _, value in facts])
            return
        lines = "\n".join(f"    {label:<14}: {value}" for _, label, value in facts)
        text = f"Transaction information for database '{database.name}'.\n\nOldest active transaction:\n{lines}"
        yield Message(0, 0, 1, text, s.line)

    def _dbcc_inputbuffer(self, s: st.Dbcc) -> Effects[None]:
        session = self.runtime.instance.sessions.get(s.args[0]) if s.args else None
        if session is None:
            raise error(7955, s.args[0] if s.args else "", line=s.line)
        columns = [OutColumn("EventType", nvarchar(14)), OutColumn("Parameters", INT), OutColumn("EventInfo", nvarchar(4000))]
        yield from self.send(columns, [("Language Event", 0, session.current_text[:4000])])

    def _dbcc_checkident(self, s: st.Dbcc) -> Effects[None]:
        from aglab.tsql.functions.names import find_object
        from aglab.tsql.store.table import Table

        found = find_object(self.runtime, str(s.args[0]) if s.args else None)
        if found is None or not isinstance(found[1], Table):
            raise error(2501, s.args[0] if s.args else "", line=s.line)
        table = found[1]
        if table.identity_next is None:
            raise error(7997, table.name, line=s.line)
        current = "NULL" if table.identity_last is None else table.identity_last
        if len(s.args) > 2 and str(s.args[1]).upper() == "RESEED":
            step = next(c.identity for c in table.columns if c.identity)
            table.identity_next = s.args[2] + (step[1] if step and (table.identity_last is not None or table.rows) else 0)
            table.identity_last = s.args[2]
            yield Message(7998, 0, 1, f"Checking identity information: current identity value '{current}'.", s.line)
        else:
            yield Message(
                7998,
                0,
                1,
                f"Checking identity information: current identity value '{current}', current column value '{current}'.",
                s.line,
            )
