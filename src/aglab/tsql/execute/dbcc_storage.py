"""DBCC of files and pages: LOGINFO, SHRINKFILE, SHRINKDATABASE, CHECKDB and its parts, CHECKCONSTRAINTS, UPDATEUSAGE.

A data file shrinks to its used pages or to the target, whichever is larger; a log file to the end of its active part (9008 when
the target is smaller). Sources: DBCC SHRINKFILE, DBCC SHRINKDATABASE, DBCC CHECKDB, "sys.dm_db_log_info" (SQL Server
documentation); the columns of DBCC LOGINFO, which is not documented, are those that public scripts store. Left out: EMPTYFILE,
damaged pages (a repair finds nothing to do), and how long a check takes.
"""

from __future__ import annotations

from aglab.core.sqltypes import BIGINT, INT, SMALLINT, TINYINT, nvarchar
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Message
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.constraints import ConstraintMixin, constraints_of
from aglab.tsql.execute.node import NodeMixin
from aglab.tsql.functions.names import find_object
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error, info, not_implemented
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.database import NEVER_CHECKED, Database, DataFile
from aglab.tsql.store.files import used_pages
from aglab.tsql.store.table import Table

SHRUNK = [OutColumn("DbId", SMALLINT), *(OutColumn(name, INT) for name in ("FileId", "CurrentSize", "MinimumSize"))]
SHRUNK += [OutColumn(name, INT) for name in ("UsedPages", "EstimatedPages")]
MINIMUM_PAGES = 128
REPAIRS = frozenset({"REPAIR_ALLOW_DATA_LOSS", "REPAIR_FAST", "REPAIR_REBUILD"})


class DbccStorageMixin(NodeMixin, ConstraintMixin):
    """DBCC of files and pages."""

    def _dbcc_database(self, s: st.Dbcc, place: int = 0) -> Database:
        """The database an argument names, by name or id; the current one without (or for 0). Error 2520."""
        wanted = s.args[place] if len(s.args) > place else 0
        instance = self.runtime.instance
        if wanted in (0, ""):
            return self.runtime.database
        found = next((one for one in instance.databases.values() if one.id == wanted), None)
        found = found or instance.database(str(wanted))
        if found is None:
            raise error(2520, wanted, line=s.line)
        return found

    def _dbcc_loginfo(self, s: st.Dbcc) -> Effects[None]:
        database = self._dbcc_database(s)
        columns = [OutColumn("RecoveryUnitId", INT), OutColumn("FileId", INT), OutColumn("FileSize", BIGINT)]
        columns += [OutColumn("StartOffset", BIGINT), OutColumn("FSeqNo", INT), OutColumn("Status", INT)]
        columns += [OutColumn("Parity", TINYINT), OutColumn("CreateLSN", nvarchar(25))]
        rows = []
        for row in self.runtime.host.view_rows("sys.dm_db_log_info", (database.id,), self.session) or ():
            assert isinstance(row, dict)
            size = int(row["vlf_size_mb"] * 1048576)
            known = (row["vlf_begin_offset"], row["vlf_sequence_number"], row["vlf_status"], row["vlf_parity"])
            rows.append((0, row["file_id"], size, *known, "0"))
        yield from self.send(columns, rows)

    def _dbcc_shrinkfile(self, s: st.Dbcc) -> Effects[None]:
        database = self.runtime.database
        wanted = s.args[0] if s.args else ""
        file = next((f for f in database.files if f.file_id == wanted or f.name.lower() == str(wanted).lower()), None)
        if file is None:
            raise error(8985, wanted, database.name, line=s.line)
        words = [str(one).upper() for one in s.args[1:] if isinstance(one, str)]
        if "EMPTYFILE" in words:
            raise not_implemented("DBCC SHRINKFILE ... EMPTYFILE", s.line)
        if set(words) - {"NOTRUNCATE", "TRUNCATEONLY"}:
            raise error(2526, line=s.line)
        target_mb = next((one for one in s.args[1:] if isinstance(one, int)), 0)
        keeps = "NOTRUNCATE" in words and file.type == 0
        yield from self._shrink(s, database, file, 0 if "TRUNCATEONLY" in words else target_mb * 128, keeps)

    def _dbcc_shrinkdatabase(self, s: st.Dbcc) -> Effects[None]:
        database = self._dbcc_database(s)
        percent = next((one for one in s.args[1:] if isinstance(one, int)), 0)
        used = used_pages(database)
        for file in list(database.files):
            if file.type == 0:
                free = min(max(percent, 0), 99) / 100
                yield from self._shrink(s, database, file, int(used.get(file.file_id, 0) / (1 - free)), False, quiet=True)

    def _shrink(
        self, s: st.Dbcc, database: Database, file: DataFile, target: int, keeps: bool, quiet: bool = False
    ) -> Effects[None]:
        if file.type == 1:
            yield from self._node(Command("DBCC SHRINKFILE", database.name, {"FILE": file.name}), s.line)
            least = self._active_log_pages(database)
            if target < least < file.size:
                yield info(9008, file.file_id, file.name, line=s.line)
        else:
            least = used_pages(database).get(file.file_id, 0)
        before = file.size
        if not keeps:
            file.size = min(file.size, max(target, least, MINIMUM_PAGES))
        if file.size != before:
            detail = {"FILES": [{"NAME": file.name, "SIZE": file.size * 8}]}
            yield from self.announce(Change("file", "MODIFY FILE", None, database.name, detail))
        elif quiet:
            return
        yield from self.send(SHRUNK, [(database.id, file.file_id, file.size, MINIMUM_PAGES, least, least)])

    def _active_log_pages(self, database: Database) -> int:
        rows = self.runtime.host.view_rows("sys.dm_db_log_info", (database.id,), self.session) or ()
        ends = [
            row["vlf_begin_offset"] + row["vlf_size_mb"] * 1048576
            for row in rows
            if isinstance(row, dict) and row.get("vlf_active")
        ]
        return int(max(ends, default=0)) // 8192

    # --- checks -------------------------------------------------------------------------------------------------------------

    def _dbcc_checkdb(self, s: st.Dbcc) -> Effects[None]:
        yield from self._check(s, "CHECKDB")
        if "ESTIMATEONLY" not in s.options:
            moment = self.runtime.now().isoformat(sep=" ", timespec="milliseconds")
            self._dbcc_database(s).options["last_good_checkdb"] = moment

    def _dbcc_dbinfo(self, s: st.Dbcc) -> Effects[None]:
        """Facts of the boot page that scripts read, as TABLERESULTS; else nothing is shown, as without trace flag 3604."""
        if "TABLERESULTS" not in s.options:
            return
        database = self._dbcc_database(s)
        facts = {
            "dbi_version": "957",
            "dbi_createVersion": "957",
            "dbi_dbid": str(database.id),
            "dbi_dbname": database.name,
            "dbi_crdate": str(database.created or ""),
            "dbi_dbccLastKnownGood": database.options.get("last_good_checkdb", NEVER_CHECKED),
        }
        columns = [OutColumn(name, nvarchar(255)) for name in ("ParentObject", "Object", "Field", "VALUE")]
        rows = [("DBINFO STRUCTURE:", "DBINFO", name, value) for name, value in facts.items()]
        yield from self.send(columns, rows)

    def _dbcc_checkalloc(self, s: st.Dbcc) -> Effects[None]:
        yield from self._check(s, "CHECKALLOC")

    def _dbcc_checkcatalog(self, s: st.Dbcc) -> Effects[None]:
        self._dbcc_database(s)
        return
        yield

    def _check(self, s: st.Dbcc, name: str) -> Effects[None]:
        database = self._dbcc_database(s)
        self._refuse_repair(s, database)
        effects = self.runtime.host.administer(Command(f"DBCC {name}", database.name), self.session)
        if effects is not None:
            yield from effects
        if "NO_INFOMSGS" not in s.options:
            text = f"{name} found 0 allocation errors and 0 consistency errors in database '{database.name}'."
            yield Message(8989, 0, 1, text, s.line)

    def _dbcc_checktable(self, s: st.Dbcc) -> Effects[None]:
        found = find_object(self.runtime, str(s.args[0]) if s.args else None)
        if found is None or not isinstance(found[1], Table):
            raise error(2501, s.args[0] if s.args else "", line=s.line)
        self._refuse_repair(s, self.runtime.database)
        if "NO_INFOMSGS" not in s.options:
            table = found[1]
            text = f'There are {len(table.rows)} rows in {table.size_pages()} pages for object "{table.name}".'
            yield Message(2593, 0, 1, text, s.line)

    @staticmethod
    def _refuse_repair(s: st.Dbcc, database: Database) -> None:
        """Repairs want single-user mode (error 7919); there they find nothing to repair, since pages cannot be damaged here."""
        words = {str(one).upper() for one in s.args[1:]}
        if words & REPAIRS and database.options.get("user_access") != 1:
            raise error(7919, line=s.line)
        words -= REPAIRS
        if words - {"NOINDEX"}:
            raise error(2526, line=s.line)

    def _dbcc_updateusage(self, s: st.Dbcc) -> Effects[None]:
        """Counts are always right here: nothing to report."""
        self._dbcc_database(s)
        return
        yield

    def _dbcc_checkconstraints(self, s: st.Dbcc) -> Effects[None]:
        """DBCC CHECKCONSTRAINTS [(table | constraint)] [WITH ALL_CONSTRAINTS, ALL_ERRORMSGS]. Error 2501."""
        database, wanted = self.runtime.database, str(s.args[0]) if s.args else ""
        only, constraint = None, ""
        if wanted:
            found = find_object(self.runtime, wanted)
            only = found[1] if found is not None and isinstance(found[1], Table) else None
            bare = wanted.split(".")[-1].strip("[]")
            if only is None:
                named = (one for one in database.tables() for item in constraints_of(one) if item.name.lower() == bare.lower())
                only, constraint = next(named, None), bare
            if only is None:
                raise error(2501, wanted, line=s.line)
        rows = list(self.broken_rows(database, only, constraint, "ALL_CONSTRAINTS" in s.options))
        if rows:
            columns = [
                OutColumn("Table", nvarchar(256)),
                OutColumn("Constraint", nvarchar(256)),
                OutColumn("Where", nvarchar(4000)),
            ]
            yield from self.send(columns, rows if "ALL_ERRORMSGS" in s.options else rows[:200])
