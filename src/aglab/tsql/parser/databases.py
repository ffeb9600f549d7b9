"""CREATE and ALTER DATABASE, scoped configuration."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME, NATIONAL, STRING
from aglab.tsql.messages import not_implemented
from aglab.tsql.parser.expressions import ExpressionParser
from aglab.tsql.parser.option_lists import check_options, once

_OPTION_VALUES = frozenset(
    """FULL SIMPLE BULK_LOGGED NONE CHECKSUM TORN_PAGE_DETECTION FORCED DISABLED ALLOWED PARTIAL SIMPLE""".split()
)


class DatabaseParser(ExpressionParser):
    """CREATE and ALTER DATABASE, scoped configuration."""

    def _create_database(self, line: int) -> st.Statement:
        statement = st.CreateDatabase(line, self.name())
        if self.at("CONTAINMENT"):
            self.advance()
            self.expect("=")
            statement.options["CONTAINMENT"] = self.any_word()
        if self.accept("ON"):
            self.accept("PRIMARY")
            statement.files = self._file_specs()
        if self.accept("LOG"):
            self.expect("ON")
            statement.log_files = self._file_specs()
        if self.accept("COLLATE"):
            statement.collation = self.name()
        if self.accept("WITH"):
            self._database_options(statement, line)
        if self.at("FOR") and self.peek().upper in ("ATTACH", "ATTACH_REBUILD_LOG"):
            raise not_implemented("CREATE DATABASE ... FOR ATTACH", line)
        if self.at("AS") and self.peek().upper == "SNAPSHOT":
            raise not_implemented("CREATE DATABASE ... AS SNAPSHOT OF", line)
        return statement

    def _database_options(self, statement: st.CreateDatabase, line: int) -> None:
        """WITH option [= value] | option ON | OFF, ..."""
        found: dict[str, Any] = {}
        while True:
            word = self.any_word()
            once(word, found, line)
            found[word] = self.option_value()
            if not self.accept(","):
                break
        check_options("CREATE DATABASE", found, line)
        statement.options.update(found)

    def _file_specs(self) -> list[dict[str, Any]]:
        specs: list[dict[str, Any]] = []
        filegroup, default = "PRIMARY", ""
        while True:
            contains = False
            if self.at("FILEGROUP"):
                self.advance()
                filegroup = self.name()
                contains = self._contains() == "MEMORY_OPTIMIZED_DATA"
                if self.accept("DEFAULT"):
                    default = filegroup
            spec = self.file_spec()
            spec["FILEGROUP"] = filegroup
            if default == filegroup:
                spec["DEFAULT"] = True
            if contains:
                spec["CONTAINS"] = "MEMORY_OPTIMIZED_DATA"
            specs.append(spec)
            if not self.accept(","):
                return specs

    def _contains(self) -> str:
        """CONTAINS MEMORY_OPTIMIZED_DATA of a filegroup; "" without. FILESTREAM is not built."""
        if not self.accept("CONTAINS"):
            return ""
        if self.at("FILESTREAM"):
            raise not_implemented("FILESTREAM filegroups", self.token.line)
        return self.expect("MEMORY_OPTIMIZED_DATA").upper

    def file_spec(self) -> dict[str, Any]:
        """(NAME = ..., FILENAME = '...', SIZE = n MB, MAXSIZE = ..., FILEGROWTH = ...); sizes in KB, growth in KB or "n%" """
        self.expect("(")
        spec: dict[str, Any] = {}
        while True:
            word = self.expect("NAME", "NEWNAME", "FILENAME", "SIZE", "MAXSIZE", "FILEGROWTH", "OFFLINE").upper
            if word == "OFFLINE":
                raise not_implemented("a file that is taken OFFLINE", self.token.line)
            if word in spec:
                once(word, spec, self.token.line)
            else:
                self.expect("=")
                if word in ("NAME", "NEWNAME"):
                    spec[word] = self.string() if self.token.kind in (STRING, NATIONAL) else self.name()
                elif word == "FILENAME":
                    spec[word] = self.string()
                elif self.accept("UNLIMITED"):
                    spec[word] = -1
                else:
                    spec[word] = self._size_kb()
            if not self.accept(","):
                break
        self.expect(")")
        return spec

    def _size_kb(self) -> Any:
        number = self.integer()
        if self.accept("%"):
            return f"{number}%"
        unit = self.advance().upper if self.at("KB", "MB", "GB", "TB") else "MB"
        return number * {"KB": 1, "MB": 1024, "GB": 1024**2, "TB": 1024**3}[unit]

    def _scoped_configuration(self, line: int) -> st.Statement:
        self.advance()
        self.advance()
        if self.at("CREDENTIAL"):
            raise not_implemented("ALTER DATABASE SCOPED CREDENTIAL", line)
        self.expect("CONFIGURATION")
        statement = st.AlterDatabase(line, "CURRENT", "SCOPED CONFIGURATION")
        if self.accept("FOR"):
            self.expect("SECONDARY")
            statement.detail["SECONDARY"] = True
        if self.accept("CLEAR"):
            self.expect("PROCEDURE_CACHE")
            if self.token.kind == 9:
                self.advance()
            statement.options.append(("CLEAR PROCEDURE_CACHE", True))
            return statement
        self.expect("SET")
        name = self.any_word()
        self.expect("=")
        value: Any = self.integer() if self.token.kind == 5 else self.any_word()
        statement.options.append((name, value))
        return statement

    def _alter_database(self, line: int) -> st.Statement:
        name = "CURRENT" if self.accept("CURRENT") else self.name()
        statement = st.AlterDatabase(line, name, "")
        if self.accept("SET"):
            statement.action = "SET"
            while True:
                statement.options.append(self._database_option())
                if not self.accept(","):
                    break
            if self.at("WITH") and self.peek().upper in ("ROLLBACK", "NO_WAIT"):
                self.advance()
                if self.accept("ROLLBACK"):
                    if self.accept("AFTER"):
                        statement.detail["AFTER_S"] = self.integer()
                        self.accept("SECONDS")
                    else:
                        self.expect("IMMEDIATE")
                    statement.detail["TERMINATION"] = "ROLLBACK IMMEDIATE"
                else:
                    self.advance()
                    statement.detail["TERMINATION"] = "NO_WAIT"
            return statement
        if self.accept("COLLATE"):
            statement.action = "COLLATE"
            statement.detail["COLLATION"] = self.name()
            return statement
        verb = self.expect("ADD", "MODIFY", "REMOVE").upper
        if verb == "MODIFY" and self.accept("NAME"):
            self.expect("=")
            statement.action, statement.detail["NAME"] = "MODIFY NAME", self.name()
            return statement
        return self._alter_files(statement, verb)

    def _alter_files(self, statement: st.AlterDatabase, verb: str) -> st.Statement:
        if self.accept("LOG"):
            self.expect("FILE")
            statement.action, statement.detail["FILES"] = "ADD LOG FILE", self._file_specs()
            return statement
        if self.accept("FILE"):
            statement.action = f"{verb} FILE"
            if verb == "REMOVE":
                statement.detail["NAME"] = self.name()
                return statement
            statement.detail["FILES"] = self._file_specs()
            if self.accept("TO"):
                self.expect("FILEGROUP")
                statement.detail["FILEGROUP"] = self.name()
            return statement
        self.expect("FILEGROUP")
        statement.action = f"{verb} FILEGROUP"
        statement.detail["NAME"] = self.name()
        if self.at("CONTAINS"):
            statement.detail["CONTAINS"] = self._contains()
        elif verb == "MODIFY":
            if self.accept("NAME"):
                self.expect("=")
                statement.detail["NEWNAME"] = self.name()
            else:
                statement.detail["OPTION"] = self.any_word()
        return statement

    def _database_option(self) -> tuple[str, Any]:
        """One option of ALTER DATABASE SET: name and value."""
        word = self.any_word()
        if word == "HADR":
            if self.at("AVAILABILITY"):
                self.advance()
                self.expect("GROUP")
                self.expect("=")
                return "HADR AVAILABILITY GROUP", self.name()
            return "HADR", self.expect("OFF", "SUSPEND", "RESUME").upper
        if word == "TARGET_RECOVERY_TIME":
            self.expect("=")
            count = self.integer()
            unit = self.expect("SECONDS", "MINUTES").upper
            return word, count * (60 if unit == "MINUTES" else 1)
        if word in ("QUERY_STORE", "CHANGE_TRACKING"):
            if self.at("CLEAR"):
                self.advance()
                self.accept("ALL")
                return word, "CLEAR"
            self.accept("=")
            value: Any = self.expect("ON", "OFF").upper if self.at("ON", "OFF") else "ON"
            if self.at("("):
                value = {"state": value, **self.option_list()}
            return word, value
        if word == "CURSOR_DEFAULT":
            return word, self.expect("LOCAL", "GLOBAL").upper
        if self.accept("="):
            value = self._option_scalar()
            if self.at("("):
                return word, {"state": value, **self.option_list()}
            return word, value
        if self.at("ON", "OFF") or (self.token.kind == NAME and self.token.upper in _OPTION_VALUES):
            return word, self.any_word()
        return word, True
