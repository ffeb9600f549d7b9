"""A persistent log buffer: the small log file on a direct-access (DAX) volume, by file or by option.

Source: "Add persistent log buffer to a database" (SQL Server documentation). ``ALTER DATABASE ... ADD LOG FILE`` on a DAX volume
is the way of SQL Server 2016 (an older edition of that page: of every version), ``SET PERSISTENT_LOG_BUFFER = ON
(DIRECTORY_NAME = '...')`` that of 2017 and later; both are taken here. The file has 20 MB whatever SIZE says; TDE excludes it;
removing the file needs single-user mode, in which the buffer is drained. On another volume ADD LOG FILE makes an ordinary
second log file. The page gives no error numbers, so what it rules out is refused with a number of the twin's own; that there is
one buffer for each database is our reading. Left out: CREATE DATABASE ... LOG ON or WITH PERSISTENT_LOG_BUFFER.
"""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.node import NodeMixin
from aglab.tsql.host import Change
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, info
from aglab.tsql.store.database import Database, DataFile

BUFFER_PAGES = 20 * 1024 // 8
LOG = 1  # sys.database_files.type
SINGLE_USER = 1  # sys.databases.user_access


def buffer_of(database: Database) -> DataFile | None:
    """The database's persistent log buffer."""
    return next((file for file in database.files if file.is_persistent_log_buffer), None)


class LogBufferMixin(NodeMixin):
    """Adds and removes persistent log buffers."""

    def _refuse_buffer(self, what: str, why: str, line: int) -> Exception:
        problem = error(59005, what, why, KNOWLEDGE_PAGE, line=line)
        problem.followed_by = error(5069, line=line)  # type: ignore[attr-defined]
        return problem

    def volume_of(self, path: str, line: int) -> str:
        """``dax`` or ``block``. Error 5133 where the server has no such directory."""
        kind = self.runtime.host.volume_kind(path)
        if kind is None:
            problem = error(5133, path, "2(The system cannot find the file specified.)", line=line)
            problem.followed_by = error(5069, line=line)  # type: ignore[attr-defined]
            raise problem
        return kind

    def make_buffer(self, database: Database, file: DataFile, what: str, line: int) -> Effects[None]:
        """Turn a new log file on a DAX volume into the database's log buffer."""
        if database.options["is_encrypted"]:
            raise self._refuse_buffer(
                what, "a database with transparent data encryption cannot have a persistent log buffer", line
            )
        if buffer_of(database) is not None:
            raise self._refuse_buffer(what, f"database '{database.name}' has a persistent log buffer already", line)
        file.size, file.growth, file.max_size = BUFFER_PAGES, 0, BUFFER_PAGES
        file.is_percent_growth, file.is_persistent_log_buffer = False, True
        if self.runtime.host.replicates(database.name):
            yield info(59006, database.name, line=line)

    def check_removal(self, database: Database, file: DataFile, line: int) -> None:
        """A buffer is drained before it goes, and that needs single-user mode."""
        if file.is_persistent_log_buffer and database.options["user_access"] != SINGLE_USER:
            why = f"database '{database.name}' must be in single-user mode, so that the persistent log buffer can be drained"
            raise self._refuse_buffer("REMOVE FILE", why, line)

    def buffer_option(self, s: st.AlterDatabase, database: Database, value: Any) -> Effects[None]:
        """SET PERSISTENT_LOG_BUFFER = ON (DIRECTORY_NAME = '...') | OFF"""
        what = "SET PERSISTENT_LOG_BUFFER"
        self.runtime.host.check_access(database.name, self.session, True, rows=False)
        if value == "OFF":
            file = buffer_of(database)
            if file is not None:
                database.files.remove(file)
                yield from self.announce(Change("file", "REMOVE FILE", None, database.name, {"NAME": file.name}))
            return
        directory = value.get("DIRECTORY_NAME") if isinstance(value, dict) and value.get("state") == "ON" else None
        if not isinstance(directory, str):
            raise error(102, "PERSISTENT_LOG_BUFFER", line=s.line)
        name = f"{database.name}_log_buffer"
        path = f"{directory.rstrip('/')}/{name}.pldf"
        if self.volume_of(path, s.line) != "dax":
            raise self._refuse_buffer(what, f"'{directory}' is not on a volume with direct access (DAX)", s.line)
        number = next(n for n in range(2, 32768) if n not in {one.file_id for one in database.files})
        file = DataFile(number, LOG, name, path, filegroup_id=0)
        yield from self.make_buffer(database, file, what, s.line)
        database.files.append(file)
        yield from self.announce(Change("file", "ADD LOG FILE", None, database.name, {"FILES": [{"NAME": name}]}))

    def check_encryption(self, database: Database, option: str, stored: Any, line: int) -> None:
        """TDE and a persistent log buffer exclude each other, whichever comes first."""
        if option == "ENCRYPTION" and stored and buffer_of(database) is not None:
            why = f"database '{database.name}' has a persistent log buffer, which transparent data encryption excludes"
            raise self._refuse_buffer("SET ENCRYPTION ON", why, line)
