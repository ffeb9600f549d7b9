"""DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE."""

from __future__ import annotations

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import VARIABLE
from aglab.tsql.messages import not_implemented
from aglab.tsql.parser.queries import QueryParser

CURSOR_OPTIONS = tuple(
    "LOCAL GLOBAL FORWARD_ONLY SCROLL STATIC KEYSET DYNAMIC FAST_FORWARD READ_ONLY SCROLL_LOCKS OPTIMISTIC TYPE_WARNING".split()
)


class CursorParser(QueryParser):
    """Reads cursors."""

    def declare_cursor(self, line: int) -> st.Statement:
        """DECLARE name [INSENSITIVE] [SCROLL] CURSOR [options] FOR query"""
        if self.token.kind == VARIABLE:
            raise not_implemented("cursor variables (DECLARE @c CURSOR)", line)
        name = self.name()
        options: set[str] = set()
        while self.at("INSENSITIVE", "SCROLL"):
            options.add(self.advance().upper)
        self.expect("CURSOR")
        while not self.at("FOR"):
            options.add(self.expect(*CURSOR_OPTIONS).upper)
        self.expect("FOR")
        query = self.query(nested=False)
        if self.accept("FOR"):
            self.expect("READ", "UPDATE")
            if self.accept("ONLY", "OF"):
                while self.is_name():
                    self.name()
                    self.accept(",")
        return st.DeclareCursor(line, name, query, options)

    def _cursor_name(self) -> str:
        self.accept("GLOBAL")
        return self.variable() if self.token.kind == VARIABLE else self.name()

    def _do_open(self, line: int) -> st.Statement:
        self.advance()
        if self.at("SYMMETRIC", "MASTER"):
            raise not_implemented(f"OPEN {self.token.upper} KEY", line)
        return st.CursorStatement(line, "OPEN", self._cursor_name())

    def _do_close(self, line: int) -> st.Statement:
        self.advance()
        return st.CursorStatement(line, "CLOSE", self._cursor_name())

    def _do_deallocate(self, line: int) -> st.Statement:
        self.advance()
        return st.CursorStatement(line, "DEALLOCATE", self._cursor_name())

    def _do_fetch(self, line: int) -> st.Statement:
        self.advance()
        statement = st.CursorStatement(line, "FETCH", "")
        if self.at("NEXT", "PRIOR", "FIRST", "LAST"):
            statement.direction = self.advance().upper
            self.expect("FROM")
        elif self.at("ABSOLUTE", "RELATIVE"):
            statement.direction = self.advance().upper
            statement.offset = self._unary()
            self.expect("FROM")
        else:
            self.accept("FROM")
        statement.name = self._cursor_name()
        if self.accept("INTO"):
            statement.into.append(self.variable())
            while self.accept(","):
                statement.into.append(self.variable())
        return statement
