"""CREATE, ALTER and DROP DATABASE."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done, Message
from aglab.tsql.environment import only_at_instance
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.files import FileMixin
from aglab.tsql.execute.options import DATABASE_OPTIONS, IGNORED_DATABASE_OPTIONS
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, not_implemented
from aglab.tsql.permissions import database_allows, may
from aglab.tsql.store.database import Database

_WAITS_FOR_USERS = frozenset(
    "SINGLE_USER RESTRICTED_USER OFFLINE READ_ONLY RECOVERY ENABLE_BROKER DISABLE_BROKER NEW_BROKER".split()
)


class DatabaseMixin(FileMixin):
    """CREATE, ALTER and DROP DATABASE."""

    def _createdatabase(self, s: st.CreateDatabase) -> Effects[Any]:
        self._no_transaction("CREATE DATABASE", s.line)
        self._outside_contained("CREATE DATABASE", s.line)
        instance = self.runtime.instance
        if not may(instance, self.session, "CREATE ANY DATABASE"):
            raise error(262, "CREATE DATABASE", "master", line=s.line)
        if instance.database(s.name) is not None:
            raise error(1801, s.name, line=s.line)
        if s.options.get("CONTAINMENT", "NONE") != "NONE":
            raise not_implemented("CREATE DATABASE ... CONTAINMENT", s.line)
        database = instance.add_database(s.name)
        database.created = self.runtime.now()
        if s.collation:
            database.collation = s.collation
        for option in ("TRUSTWORTHY", "DB_CHAINING"):
            if option in s.options:
                column, meaning = DATABASE_OPTIONS[option]
                database.options[column] = meaning(s.options[option])
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

    def _outside_contained(self, what: str, line: int) -> None:
        """Databases come and go from connections to the instance, not from those to a contained availability group (59005)."""
        environment = self.session.environment
        if environment is not None:
            raise error(59005, what, only_at_instance(environment.group), KNOWLEDGE_PAGE, line=line)

    def drop_database(self, s: st.Drop, name: str) -> Effects[None]:
        """DROP DATABASE. Errors 3701, 3702, 3708."""
        self._no_transaction("DROP DATABASE", s.line)
        self._outside_contained("DROP DATABASE", s.line)
        instance = self.runtime.instance
        database = instance.database(name)
        if database is None:
            if s.if_exists:
                return
            raise error(3701, "drop", "database", name, line=s.line)
        if not self._may_alter(database):
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
        if database is None or not self._may_alter(database):
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

    def _may_alter(self, database: Database) -> bool:
        session, instance = self.session, self.runtime.instance
        if may(instance, session, "ALTER ANY DATABASE"):
            return True
        return database_allows(instance, database, session.login, "ALTER")

    def _set_database_option(self, s: st.AlterDatabase, database: Database, option: str, value: Any) -> Effects[None]:
        if option.startswith("HADR"):
            yield from self._node(Command("ALTER DATABASE SET HADR", database.name, {option: value}), s.line)
            return
        if option == "PERSISTENT_LOG_BUFFER":
            yield from self.buffer_option(s, database, value)
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
        self.runtime.host.check_access(database.name, self.session, True, rows=False)
        self.check_encryption(database, option, stored, s.line)
        if option == "ENCRYPTION":
            yield from self._node(Command("ALTER DATABASE SET ENCRYPTION", database.name, {"ON": stored}), s.line)
        if option in _WAITS_FOR_USERS:
            asked = {**s.detail, "FOR": option, "VALUE": value}
            yield from self._node(Command("ALTER DATABASE SET ACCESS", database.name, asked), s.line)
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
        if self.runtime.host.replicates(old) and database.options["group_database_id"] is not None:
            problem = error(1468, old, line=s.line)
            problem.followed_by = error(5069, line=s.line)  # type: ignore[attr-defined]
            raise problem
        del instance.databases[old.lower()]
        database.name = new
        instance.databases[new.lower()] = database
        for session in instance.sessions.values():
            if session.database.lower() == old.lower():
                session.database = new
            if session.login_database.lower() == old.lower():
                session.login_database = new
        yield Message(0, 0, 1, f"The database name '{new}' has been set.", s.line)
        yield from self.announce(Change("database", "NAME", new, old))
