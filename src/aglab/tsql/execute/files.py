"""ALTER DATABASE: files and filegroups.

Error texts from "Database Engine events and errors (5000 to 5999)"; rules from "ALTER DATABASE (Transact-SQL) file and filegroup
options" (SQL Server documentation). A file that holds pages, and a filegroup that has files, cannot be removed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Message
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.definitions import DDL_LOG_BYTES
from aglab.tsql.execute.log_buffer import LogBufferMixin
from aglab.tsql.host import Change, SchemaChange
from aglab.tsql.messages import error, info
from aglab.tsql.store.database import Database, DataFile
from aglab.tsql.store.files import data_files, pages_by_filegroup
from aglab.tsql.store.memory import KIND, is_memory, memory_filegroup
from aglab.tsql.transactions import Entry

PRIMARY = 1


def apply_file_spec(file: DataFile, spec: dict[str, Any]) -> None:
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


class FileMixin(LogBufferMixin):
    """Files and filegroups of a database."""

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
            group = database.filegroup_id(wanted) or 0
            if not group:
                group = max(database.filegroups) + 1
                database.filegroups[group] = {"name": wanted, "contains": spec.get("CONTAINS", "")}
            if spec.get("DEFAULT"):
                for other in database.filegroups.values():
                    other["is_default"] = other is database.filegroups[group]
        file = DataFile(number, kind, name, spec["FILENAME"], filegroup_id=group)
        apply_file_spec(file, spec)
        if kind == 0 and database.filegroups[group].get("contains") == KIND:
            file.type, file.size, file.growth = 2, 0, 0  # a container: a directory
        database.files.append(file)
        return file

    def _files(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        if s.action in ("ADD FILE", "ADD LOG FILE"):
            for spec in s.detail["FILES"]:
                yield from self._add_to(s, database, spec)
        elif s.action == "MODIFY FILE":
            for spec in s.detail["FILES"]:
                self._modify_file(s, database, spec)
        elif s.action == "REMOVE FILE":
            yield self._remove_file(s, database)
        else:
            yield from self._filegroup(s, database)
        yield from self.in_transaction(lambda: self._log_files(database))
        yield from self.announce(Change("file", s.action, None, database.name, s.detail))

    def _log_files(self, database: Database) -> Effects[None]:
        """The layout of the data files goes into the log: other replicas and a restart need it before the rows."""
        definition = (
            [replace(one) for one in database.files if one.type != 1],
            {n: dict(g) for n, g in database.filegroups.items()},
        )
        change = SchemaChange("put", "files", database.name, definition)
        transaction = self.session.transaction
        assert transaction is not None
        transaction.add(Entry(database.name, None, 0, None, None, change, lambda: None, DDL_LOG_BYTES))
        return
        yield

    def _add_to(self, s: st.AlterDatabase, database: Database, spec: dict[str, Any]) -> Effects[None]:
        wanted = s.detail.get("FILEGROUP")
        if wanted:
            spec = {**spec, "FILEGROUP": wanted}
            if database.filegroup_id(wanted) is None:
                raise error(1921, "filegroup", wanted, line=s.line)
        if any(one.physical_name.lower() == str(spec.get("FILENAME", "")).lower() for one in database.files):
            raise error(5104, spec["FILENAME"], line=s.line)
        volume = self.volume_of(spec.get("FILENAME", "/"), s.line)
        file = self._add_file(database, spec, 1 if "LOG" in s.action else 0)
        if volume == "dax" and file.type == 1:
            try:
                yield from self.make_buffer(database, file, s.action, s.line)
            except BaseException:
                database.files.remove(file)
                raise

    def _modify_file(self, s: st.AlterDatabase, database: Database, spec: dict[str, Any]) -> None:
        name = str(spec.get("NAME", ""))
        if not name:
            raise error(5036, line=s.line)
        file = next((one for one in database.files if one.name.lower() == name.lower()), None)
        if file is None:
            raise error(5041, name, line=s.line)
        if len(spec) - ("FILEGROUP" in spec) < 2:
            raise error(5038, name, line=s.line)
        if "SIZE" in spec and spec["SIZE"] // 8 <= file.size:
            raise error(5039, line=s.line)
        limit = spec.get("MAXSIZE", -1 if file.max_size < 0 else file.max_size * 8)
        if limit >= 0 and spec.get("SIZE", file.size * 8) > limit:
            raise error(5040, line=s.line)
        apply_file_spec(file, spec)

    def _remove_file(self, s: st.AlterDatabase, database: Database) -> Message:
        file = next((one for one in database.files if one.name.lower() == s.detail["NAME"].lower()), None)
        if file is None:
            raise error(5009, s.detail["NAME"], line=s.line)
        if file.file_id in (1, 2):
            raise error(5020, line=s.line)
        if file.type == 2 and any(is_memory(table) for table in database.tables()):
            raise error(5042, "file", file.name, line=s.line)
        self.check_removal(database, file, s.line)
        if file.type == 0:
            group = file.filegroup_id
            if group == database.default_filegroup() and len(data_files(database, group)) == 1:
                raise error(5031, file.name, line=s.line)
            if pages_by_filegroup(database).get(group, 0):
                raise error(5042, "file", file.name, line=s.line)
        database.files.remove(file)
        return info(5044, "file", file.name, line=s.line)

    def _filegroup(self, s: st.AlterDatabase, database: Database) -> Effects[None]:
        name = s.detail["NAME"]
        found = database.filegroup_id(name)
        if s.action == "ADD FILEGROUP":
            if found is not None:
                raise error(5035, name, line=s.line)
            if s.detail.get("CONTAINS") == KIND and memory_filegroup(database) is not None:
                raise error(10797, line=s.line)
            database.filegroups[max(database.filegroups) + 1] = {"name": name, "contains": s.detail.get("CONTAINS", "")}
            return
        if found is None:
            raise error(5014, "filegroup", name, database.name, line=s.line)
        if s.action == "REMOVE FILEGROUP":
            named = any(found in (*one.filegroups, one.next_used) for one in database.partition_schemes.values())
            if found == PRIMARY or named or data_files(database, found):
                raise error(5042, "filegroup", name, line=s.line)
            del database.filegroups[found]
            yield info(5044, "filegroup", name, line=s.line)
        elif "NEWNAME" in s.detail:
            if found == PRIMARY:
                raise error(5012, line=s.line)
            database.filegroups[found]["name"] = s.detail["NEWNAME"]
            yield info(5021, "filegroup", s.detail["NEWNAME"], line=s.line)
        else:
            yield self._filegroup_option(s, database, found)

    @staticmethod
    def _filegroup_option(s: st.AlterDatabase, database: Database, number: int) -> Message:
        group, option = database.filegroups[number], s.detail["OPTION"]
        option = {"READONLY": "READ_ONLY", "READWRITE": "READ_WRITE"}.get(option, option)
        if not data_files(database, number):
            raise error(5050, group["name"], line=s.line)
        if option == "DEFAULT":
            if group.get("is_default"):
                raise error(5045, "filegroup", option, line=s.line)
            for other in database.filegroups.values():
                other["is_default"] = other is group
        elif option in ("AUTOGROW_ALL_FILES", "AUTOGROW_SINGLE_FILE"):
            group["is_autogrow_all_files"] = option == "AUTOGROW_ALL_FILES"
        elif option in ("READ_ONLY", "READ_WRITE"):
            if number == PRIMARY:
                raise error(5047, line=s.line)
            group["is_read_only"] = option == "READ_ONLY"
        else:
            raise error(102, option, line=s.line)
        return info(5046, "filegroup", option, line=s.line)
