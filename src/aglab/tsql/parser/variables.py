"""DECLARE and SET."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME, VARIABLE
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.dml import ASSIGNMENT_OPERATORS
from aglab.tsql.parser.tables import TableParser

ON_OFF_OPTIONS = frozenset(
    """ANSI_DEFAULTS ANSI_NULLS ANSI_NULL_DFLT_OFF ANSI_NULL_DFLT_ON ANSI_PADDING ANSI_WARNINGS ARITHABORT ARITHIGNORE
    CONCAT_NULL_YIELDS_NULL CURSOR_CLOSE_ON_COMMIT FIPS_FLAGGER FMTONLY FORCEPLAN IMPLICIT_TRANSACTIONS NOCOUNT NOEXEC
    NUMERIC_ROUNDABORT PARSEONLY QUOTED_IDENTIFIER REMOTE_PROC_TRANSACTIONS SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML
    XACT_ABORT NO_BROWSETABLE""".split()
)
VALUE_OPTIONS = frozenset(
    """DATEFIRST DATEFORMAT DEADLOCK_PRIORITY LANGUAGE LOCK_TIMEOUT QUERY_GOVERNOR_COST_LIMIT ROWCOUNT TEXTSIZE
    CONTEXT_INFO""".split()
)


class VariableParser(TableParser):
    """Reads variables and the session's options."""

    if TYPE_CHECKING:

        def declare_cursor(self, line: int) -> st.Statement: ...

        def set_cursor(self, line: int, name: str) -> st.Statement: ...

    def _do_declare(self, line: int) -> st.Statement:
        self.advance()
        if self.is_name() or (self.token.kind == VARIABLE and self.peek().upper == "CURSOR"):
            return self.declare_cursor(line)
        start = self.position
        name = self.variable()
        self.accept("AS")
        if self.accept("TABLE"):
            columns, constraints = self.table_elements()
            return st.DeclareTable(line, name, columns, constraints)
        self.seek(start)
        items: list[tuple[str, Any, ast.Node | None]] = []
        tables: list[st.DeclareTable] = []
        while True:
            if self.token.kind != VARIABLE or self.token.value.startswith("@@"):
                raise self.syntax_error()
            name = self.variable()
            self.accept("AS")
            if self.at("TABLE"):
                raise self.syntax_error()
            sql_type = self.data_type(len(items) + len(tables) + 1, "variable")
            found = self.user_type
            if found is not None and found.is_table:
                if self.at("="):
                    raise self.syntax_error()
                tables.append(st.DeclareTable(line, name, found.columns, found.constraints, found.full_name))
                if not self.accept(","):
                    return st.Declare(line, items, tables) if items or len(tables) > 1 else tables[0]
                continue
            if sql_type.name in ("text", "ntext", "image"):
                raise error(2739, line=line)
            items.append((name, sql_type, self.expression() if self.accept("=") else None))
            if not self.accept(","):
                return st.Declare(line, items, tables)

    def _do_set(self, line: int) -> st.Statement:
        self.advance()
        if self.token.kind == VARIABLE:
            name = self.variable()
            if self.at("."):
                raise self.syntax_error()
            op = self.expect(*ASSIGNMENT_OPERATORS).value
            if self.at("CURSOR") and op == "=":
                return self.set_cursor(line, name)
            return st.SetVariable(line, name, op, self.expression())
        if self.accept("TRANSACTION"):
            self.expect("ISOLATION")
            self.expect("LEVEL")
            words = [self.any_word()]
            if words[0] in ("READ", "REPEATABLE"):
                words.append(self.expect("UNCOMMITTED", "COMMITTED", "READ").upper)
            return st.SetIsolation(line, " ".join(words))
        if self.accept("IDENTITY_INSERT"):
            table = self.multipart()
            return st.IdentityInsert(line, table, self.expect("ON", "OFF").upper == "ON")
        if self.accept("STATISTICS"):
            names = [f"STATISTICS {self.expect('IO', 'TIME', 'XML', 'PROFILE').upper}"]
            while self.accept(","):
                names.append(f"STATISTICS {self.expect('IO', 'TIME', 'XML', 'PROFILE').upper}")
            return st.SetOption(line, names, self.expect("ON", "OFF").upper == "ON")
        token = self.token
        word = self.any_word()
        if word in ON_OFF_OPTIONS:
            names = [word]
            while self.accept(","):
                names.append(self.any_word())
                if names[-1] not in ON_OFF_OPTIONS:
                    raise error(195, self.tokens[self.position - 1].value, "SET option", line=line, state=5)
            return st.SetOption(line, names, self.expect("ON", "OFF").upper == "ON")
        if word in VALUE_OPTIONS:
            return st.SetOption(line, [word], self._set_value())
        if word == "OFFSETS":
            raise not_implemented("SET OFFSETS", line)
        raise error(195, token.value, "SET option", line=line, state=5)

    def _set_value(self) -> Any:
        if self.token.kind == NAME and self.token.upper in ("LOW", "NORMAL", "HIGH", "MDY", "DMY", "YMD", "YDM", "MYD", "DYM"):
            return self.advance().upper
        if self.is_name():
            return self.advance().value
        return self.expression()
