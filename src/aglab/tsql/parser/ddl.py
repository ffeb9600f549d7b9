"""The dispatch of CREATE, ALTER and DROP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.modules import ModuleParser
from aglab.tsql.parser.user_types import TypeParser

DROP_KINDS = {
    "TABLE": "TABLE",
    "PROCEDURE": "PROCEDURE",
    "PROC": "PROCEDURE",
    "FUNCTION": "FUNCTION",
    "VIEW": "VIEW",
    "INDEX": "INDEX",
    "DATABASE": "DATABASE",
    "SCHEMA": "SCHEMA",
    "LOGIN": "LOGIN",
    "USER": "USER",
    "TRIGGER": "TRIGGER",
    "TYPE": "TYPE",
    "SYNONYM": "SYNONYM",
    "STATISTICS": "STATISTICS",
    "ROLE": "ROLE",
    "SEQUENCE": "SEQUENCE",
}


class DdlParser(ModuleParser, TypeParser):
    """Reads definitions."""

    if TYPE_CHECKING:

        def admin_create(self, line: int) -> st.Statement | None: ...
        def admin_alter(self, line: int) -> st.Statement | None: ...
        def admin_drop(self, line: int) -> st.Statement | None: ...

    # --- CREATE -------------------------------------------------------------------------------------------------------------

    def _do_create(self, line: int) -> st.Statement:
        start = self.advance().start
        action = "CREATE"
        if self.at("OR") and self.peek().upper == "ALTER":
            self.advance()
            self.advance()
            action = "CREATE OR ALTER"
        if self.at("PROC", "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER"):
            return self._module(line, action, start)
        if action != "CREATE":
            raise self.syntax_error()
        if self.accept("TABLE"):
            return self._create_table(line)
        if self.at("UNIQUE", "CLUSTERED", "NONCLUSTERED", "INDEX"):
            return self._create_index(line)
        if self.accept("SCHEMA"):
            name = self.name() if not self.at("AUTHORIZATION") else ""
            if self.accept("AUTHORIZATION"):
                owner = self.name()
                name = name or owner
            return st.CreateSchema(line, name)
        if self.accept("TYPE"):
            return self.create_type(line)
        if self.at("PARTITION"):
            return self.create_partitioning(line)
        if self.accept("STATISTICS"):
            return self.create_statistics(line)
        statement = self.admin_create(line)
        if statement is not None:
            return statement
        if self.token.kind == NAME and self.peek().kind in (NAME, 1):
            raise not_implemented(f"CREATE {self.token.upper}", line)
        if self.is_name():
            raise error(343, self.token.value, line=line)
        raise self.syntax_error()

    # --- modules ------------------------------------------------------------------------------------------------------------

    # --- ALTER --------------------------------------------------------------------------------------------------------------

    def _do_alter(self, line: int) -> st.Statement:
        start = self.advance().start
        if self.at("PROC", "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER"):
            return self._module(line, "ALTER", start)
        if self.accept("TABLE"):
            return self._alter_table(line)
        if self.accept("INDEX"):
            return self._alter_index(line)
        if self.at("PARTITION"):
            return self.alter_partitioning(line)
        statement = self.admin_alter(line)
        if statement is not None:
            return statement
        if self.token.kind == NAME and self.peek().kind in (NAME, 1):
            raise not_implemented(f"ALTER {self.token.upper}", line)
        if self.is_name():
            raise error(343, self.token.value, line=line)
        raise self.syntax_error()

    # --- DROP ---------------------------------------------------------------------------------------------------------------

    def _do_drop(self, line: int) -> st.Statement:
        self.advance()
        if self.at("PARTITION"):
            return self.drop_partitioning(line)
        statement = self.admin_drop(line)
        if statement is not None:
            return statement
        if self.token.upper not in DROP_KINDS:
            if self.token.kind == NAME and self.peek().kind in (NAME, 1):
                raise not_implemented(f"DROP {self.token.upper}", line)
            if self.is_name():
                raise error(343, self.token.value, line=line)
            raise self.syntax_error()
        kind = DROP_KINDS[self.advance().upper]
        drop = st.Drop(line, kind, [])
        drop.if_exists = self.accept_sequence("IF", "EXISTS")
        drop.names = [self.multipart()]
        if kind == "INDEX" and self.accept("ON"):
            drop.on = self.multipart()
        while self.accept(","):
            drop.names.append(self.multipart())
            if kind == "INDEX" and self.accept("ON"):
                self.multipart()
        if kind == "INDEX" and self.at("WITH") and self.peek().value == "(":
            self.advance()
            self.options_of("DROP INDEX")
        return drop
