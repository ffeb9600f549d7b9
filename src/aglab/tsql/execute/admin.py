"""Databases and their options, DBCC, CHECKPOINT, RECONFIGURE, KILL, and everything the node carries out."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, REAL, SMALLINT, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done, Message
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.execute.options import DATABASE_OPTIONS, IGNORED_DATABASE_OPTIONS
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error, info, not_implemented
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.database import Database, DataFile

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
KNOWN_TRACE_FLAGS_MAX = 20000


class AdminMixin(BaseExecutor):
    """Administration."""

    def announce(self, change: Change) -> Effects[None]:
        """Tell the node that a setting took effect."""
        effects = self.runtime.host.changed(change, self.session)
        if effects is not None:
            yield from effects

    def _no_transaction(self, what: str, line: int) -> None:
        if self.session.trancount:
            raise error(226 if what.startswith(("CREATE", "ALTER", "DROP")) else 3021, what, line=line)

    def _node(self, command: Command, line: int) -> Effects[None]:
        effects = self.runtime.host.administer(command, self.session)
        if effects is None:
            raise not_implemented(command.name, line)
        yield from effects

    # --- what only the node can do ------------------------------------------------------------------------------------------

    def _adminstatement(self, s: st.AdminStatement) -> Effects[Any]:
        if s.name in NOT_IN_TRANSACTION:
            self._no_transaction(s.name, s.line)
        self.session.command = s.name[:32]
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
        if spid not in self.runtime.instance.sessions:
            raise error(6106, spid, line=s.line)
        self.runtime.host.kill(spid)
        yield Done(None, "", self.in_procedure)
        return None

    def _reconfigure(self, s: st.Reconfigure) -> Effects[Any]:
        if self.session.trancount:
            raise error(574, "RECONFIGURE", line=s.line)
        for item in self.runtime.instance.configurations.values():
            if item.is_dynamic and item.value != item.value_in_use:
                item.value_in_use = item.value
                yield from self.announce(Change("configuration", item.name, item.value))
        yield Done(None, "", self.in_procedure)
        return None

    # --- databases ----------------------------------------------------------------------------------------------------------

    def _createdatabase(self, s: st.CreateDatabase) -> Effects[Any]:
        self._no_transaction("CREATE DATABASE", s.line)
        instance = self.runtime.instance
        if instance.database(s.name) is not None:
            raise error(1801, s.name, line=s.line)
        for key in s.options:
            if key != "CONTAINMENT" or s.options[key] != "NONE":
                raise not_implemented(f"CREATE DATABASE ... {key}", s.line)
        database = instance.add_database(s.name)
        database.created = self.runtime.now()
        if s.collation:
            database.collation = s.collation
        if s.files:
            database.files = [f for f in database.files if f.type == 1]
            for spec in s.files:
                self._add_file(database, spec, 0)
        if s.log_files:
            database.files = [f for f in database.files if f.type == 0]
            for spec in s.log_files:
                self._add_file(database, spec, 1)
        database.files.sort(key=lambda f: f.file_id)
        detail = {"files": s.files, "log_files": s.log_files}
        yield from self.announce(Change("create_database", database.name, None, database.name, detail))
        yield Done(None, "", self.in_procedure)
        return None

    def _add_file(self, database: Database, spec: dict[str, Any], kind: int) -> DataFile:
        name = spec.get("NAME")
        if not name or "FILENAME" not in spec:
            raise error(102, ")")
        if any(f.name.lower() == name.lower() for f in database.files):
            raise error(1828, name)
        used = {f.file_id for f in database.files}
        number = next(n for n in ([1, *range(3, 32768)] if kind == 0 else [2, *range(3, 32768)]) if n not in used)
        group = 0
        if kind == 0:
            wanted = spec.get("FILEGROUP", "PRIMARY")
            group = next((g for g, facts in database.filegroups.items() if facts["name"].lower() == wanted.lower()), 0)
            if not group:
                group = max(database.filegroups) + 1
                database.filegroups[group] = {"name": wanted, "contains": spec.get("CONTAINS", "")}
        file = DataFile(number, kind, name, spec["FILENAME"], filegroup_id=group)
        _apply_file_spec(file, spec)
        database.files.append(file)
        return file

    def drop_database(self, s: st.Drop, name: str) -> Effects[None]:
        """DROP DATABASE. Errors 3701, 3702, 3708."""
        self._no_transaction("DROP DATABASE", s.line)
        instance = self.runtime.instance
        database = instance.database(name)
        if database is None:
            if s.if_exists:
                return
            raise error(3701, "drop", "database", name, line=s.line)
        if database.id <= 4:
            raise error(3708, "database", name, line=s.line)
        if any(session.database.lower() == name.lower() for session in instance.sessions.values()):
            raise error(3702, database.name, line=s.line)
        yield from self.announce(Change("drop_database", database.name, None, database.name))
        instance.drop_database(name)

    def _alterdatabase(self, s: st.AlterDatabase) -> Effects[Any]:
        name = self.session.database if s.name == "CURRENT" else s.name
        database = self.runtime.instance.database(name)
        if database is None:
            problem = error(5011, name, line=s.line)
            problem.followed_by = error(5069, line=s.line)  # type: ignore[attr-defined]
            raise problem
        self._no_transaction("ALTER DATABASE", s.line)
        self.session.command = "ALTER DATABASE"
        if s.action == "SET":
            for option, value in s.options:
                yield from self._set_database_option(s, database, option, value)
        elif s.action == "SCOPED CONFIGURATION":
            yield from self._scoped(s, database)
        elif s.action == "COLLATE":
            database.collation = s.detail["COLLATION"]
        elif s.action == "MODIFY NAME":
            yield from self._rename(s, database)
        else:
            yield from self._files(s, database)
        yield Done(None, "", self.in_procedure)
        return None

    def _set_database_option(self, s: st.AlterDatabase, database: Database, option: str, value: Any) -> Effects[None]:
        if option.startswith("HADR"):
            yield from self._node(Command("ALTER DATABASE SET HADR", database.name, {option: value}), s.line)
            return
        if option in IGNORED_DATABASE_OPTIONS:
            database.options[f"option {option}"] = value
            return
        rule = DATABASE_OPTIONS.get(option)
        if rule is None:
            raise (
                error(155, option, "ALTER DATABASE", line=s.line, state=1)
                if " " not in option
                else not_implemented(f"ALTER DATABASE SET {option}", s.line)
            )
        column, meaning = rule
        stored = meaning(value)
        if stored is None:
            raise error(102, str(value), line=s.line)
        if option in ("OFFLINE", "RECOVERY", "READ_ONLY") and database.id <= 2 and (option != "RECOVERY" or database.id == 2):
            problem = error(5058, option, database.name, line=s.line)
            problem.followed_by = error(5069, line=s.line)  # type: ignore[attr-defined]
            raise problem
        self.runtime.host.check_access(database.name, self.session, True)
        database.options[column] = stored
        yield from self.announce(
            Change("database", option, stored if option not in ("READ_WRITE", "ONLINE") else True, database.name, dict(s.detail))
        )

    def _scoped(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        from aglab.tsql.catalog.security import SCOPED_CONFIGURATIONS

        name, value = s.options[0]
        if name == "CLEAR PROCEDURE_CACHE":
            return
        if name not in SCOPED_CONFIGURATIONS:
            raise error(102, name, line=s.line)
        default = SCOPED_CONFIGURATIONS[name][1]
        if value == "PRIMARY" and s.detail.get("SECONDARY"):
            value = database.scoped_configurations.get(name, default)
        elif isinstance(value, str) and isinstance(default, int):
            if value not in ("ON", "OFF"):
                raise error(102, value, line=s.line)
            value = int(value == "ON")
        database.scoped_configurations[name + (" FOR SECONDARY" if s.detail.get("SECONDARY") else "")] = value
        yield from self.announce(Change("scoped_configuration", name, value, database.name, dict(s.detail)))

    def _rename(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        instance, new = self.runtime.instance, s.detail["NAME"]
        if instance.database(new) is not None:
            raise error(1801, new, line=s.line)
        old = database.name
        del instance.databases[old.lower()]
        database.name = new
        instance.databases[new.lower()] = database
        for session in instance.sessions.values():
            if session.database.lower() == old.lower():
                session.database = new
        yield Message(0, 0, 1, f"The database name '{new}' has been set.", s.line)
        yield from self.announce(Change("database", "NAME", new, old))

    def _files(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        detail = s.detail
        if s.action in ("ADD FILE", "ADD LOG FILE"):
            for spec in detail["FILES"]:
                if detail.get("FILEGROUP"):
                    spec = {**spec, "FILEGROUP": detail["FILEGROUP"]}
                    if not any(g["name"].lower() == detail["FILEGROUP"].lower() for g in database.filegroups.values()):
                        raise error(1921, "filegroup", detail["FILEGROUP"], line=s.line)
                self._add_file(database, spec, 1 if "LOG" in s.action else 0)
        elif s.action == "MODIFY FILE":
            for spec in detail["FILES"]:
                file = next((f for f in database.files if f.name.lower() == str(spec.get("NAME", "")).lower()), None)
                if file is None:
                    raise error(5041, spec.get("NAME", ""), line=s.line)
                if "SIZE" in spec and spec["SIZE"] // 8 <= file.size:
                    raise error(5039, line=s.line)
                _apply_file_spec(file, spec)
        elif s.action == "REMOVE FILE":
            file = next((f for f in database.files if f.name.lower() == detail["NAME"].lower()), None)
            if file is None:
                raise error(5009, detail["NAME"], line=s.line)
            if file.file_id in (1, 2):
                raise error(5020, line=s.line)
            database.files.remove(file)
            yield Message(5042, 0, 1, f"The file '{file.name}' has been removed.", s.line)
        else:
            yield from self._filegroup(s, database)
        yield from self.announce(Change("file", s.action, None, database.name, detail))

    def _filegroup(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        name = s.detail["NAME"]
        found = next((n for n, g in database.filegroups.items() if g["name"].lower() == name.lower()), None)
        if s.action == "ADD FILEGROUP":
            if found is not None:
                raise error(1828, name, line=s.line)
            database.filegroups[max(database.filegroups) + 1] = {"name": name, "contains": s.detail.get("CONTAINS", "")}
            return
        if found is None:
            raise error(1921, "filegroup", name, line=s.line)
        group = database.filegroups[found]
        if s.action == "REMOVE FILEGROUP":
            del database.filegroups[found]
            yield Message(5042, 0, 1, f"The filegroup '{name}' has been removed.", s.line)
        elif "NEWNAME" in s.detail:
            group["name"] = s.detail["NEWNAME"]
        else:
            option = s.detail["OPTION"]
            if option == "DEFAULT":
                for other in database.filegroups.values():
                    other["is_default"] = other is group
            elif option in ("AUTOGROW_ALL_FILES", "AUTOGROW_SINGLE_FILE"):
                group["is_autogrow_all_files"] = option == "AUTOGROW_ALL_FILES"
            elif option in ("READ_ONLY", "READONLY", "READ_WRITE", "READWRITE"):
                group["is_read_only"] = "ONLY" in option
            else:
                raise error(102, option, line=s.line)

    # --- DBCC ---------------------------------------------------------------------------------------------------------------

    def _dbcc(self, s: st.Dbcc) -> Effects[Any]:
        self.session.command = "DBCC"
        method = getattr(self, f"_dbcc_{s.command.lower()}", None)
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
        open_sessions = [
            x
            for x in self.runtime.instance.sessions.values()
            if x.transaction is not None and x.trancount and x.transaction.entries
        ]
        if not open_sessions:
            yield info(7969, line=s.line)
            return
        oldest = min(open_sessions, key=lambda x: x.transaction.began_s if x.transaction else 0)
        assert oldest.transaction is not None
        text = (
            f"Transaction information for database '{self.session.database}'.\n\nOldest active transaction:\n"
            f"    SPID (server process ID): {oldest.spid}\n    UID (user ID) : -1\n"
            f"    Name          : {oldest.transaction.name or 'user_transaction'}"
        )
        yield Message(0, 0, 1, text, s.line)

    def _dbcc_inputbuffer(self, s: st.Dbcc) -> Effects[None]:
        session = self.runtime.instance.sessions.get(s.args[0]) if s.args else None
        if session is None:
            raise error(7955, s.args[0] if s.args else "", line=s.line)
        columns = [OutColumn("EventType", nvarchar(14)), OutColumn("Parameters", INT), OutColumn("EventInfo", nvarchar(4000))]
        yield from self.send(columns, [("Language Event", 0, session.current_text[:4000])])

    def _dbcc_checkident(self, s: st.Dbcc) -> Effects[None]:
        from aglab.tsql.functions.metadata import find_object
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

    def _dbcc_checkdb(self, s: st.Dbcc) -> Effects[None]:
        name = str(s.args[0]) if s.args else self.session.database
        database = self.runtime.instance.database(name)
        if database is None:
            raise error(2520, name, line=s.line)
        effects = self.runtime.host.administer(Command("DBCC CHECKDB", database.name), self.session)
        if effects is not None:
            yield from effects
        if "NO_INFOMSGS" not in s.options:
            text = f"CHECKDB found 0 allocation errors and 0 consistency errors in database '{database.name}'."
            yield Message(8989, 0, 1, text, s.line)


def _apply_file_spec(file: DataFile, spec: dict[str, Any]) -> None:
    """Sizes come in KB and are kept in 8 KB pages."""
    if "SIZE" in spec:
        file.size = max(spec["SIZE"] // 8, 1)
    if "MAXSIZE" in spec:
        file.max_size = -1 if spec["MAXSIZE"] == -1 else spec["MAXSIZE"] // 8
    if "FILEGROWTH" in spec:
        growth = spec["FILEGROWTH"]
        file.is_percent_growth = isinstance(growth, str)
        file.growth = int(growth.rstrip("%")) if isinstance(growth, str) else growth // 8
    if "NEWNAME" in spec:
        file.name = spec["NEWNAME"]
    if "FILENAME" in spec:
        file.physical_name = spec["FILENAME"]


DBCC_WITHOUT_EFFECT = frozenset(
    {"FREEPROCCACHE", "DROPCLEANBUFFERS", "FREESYSTEMCACHE", "FREESESSIONCACHE", "FLUSHPROCINDB", "SETCPUWEIGHT"}
)
KNOWN_DBCC = frozenset(
    """CHECKALLOC CHECKCATALOG CHECKCONSTRAINTS CHECKFILEGROUP CHECKTABLE CLEANTABLE CLONEDATABASE DBREINDEX DBREPAIR HELP
    INDEXDEFRAG LOGINFO MEMORYSTATUS OUTPUTBUFFER PAGE PROCCACHE SHOWCONTIG SHOW_STATISTICS SHRINKDATABASE SHRINKFILE
    STACKDUMP UPDATEUSAGE IND TRACESTATUS""".split()
)
