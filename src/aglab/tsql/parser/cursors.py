"""DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE and cursor variables."""

from __future__ import annotations

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME, QUOTED, VARIABLE
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.queries import QueryParser

CURSOR_OPTIONS = tuple(
    "LOCAL GLOBAL FORWARD_ONLY SCROLL STATIC KEYSET DYNAMIC FAST_FORWARD READ_ONLY SCROLL_LOCKS OPTIMISTIC TYPE_WARNING".split()
)
CURSOR_CONFLICTS = (
    ("LOCAL", "GLOBAL"),
    ("FORWARD_ONLY", "SCROLL"),
    ("FAST_FORWARD", "SCROLL"),
    ("STATIC", "KEYSET"),
    ("STATIC", "DYNAMIC"),
    ("KEYSET", "DYNAMIC"),
    ("FAST_FORWARD", "STATIC"),
    ("FAST_FORWARD", "KEYSET"),
    ("FAST_FORWARD", "DYNAMIC"),
    ("FAST_FORWARD", "SCROLL_LOCKS"),
    ("FAST_FORWARD", "OPTIMISTIC"),
    ("READ_ONLY", "SCROLL_LOCKS"),
    ("READ_ONLY", "OPTIMISTIC"),
    ("SCROLL_LOCKS", "OPTIMISTIC"),
    ("STATIC", "SCROLL_LOCKS"),
    ("STATIC", "OPTIMISTIC"),
)


class CursorParser(QueryParser):
    """Reads cursor statements."""

    def declare_cursor(self, line: int) -> st.Statement:
        """DECLARE name [INSENSITIVE] [SCROLL] CURSOR [options] FOR query [FOR READ ONLY | UPDATE [OF ...]]; DECLARE @c CURSOR"""
        if self.token.kind == VARIABLE:
            names = [self.variable()]
            self.expect("CURSOR")
            while self.accept(","):
                names.append(self.variable())
                self.expect("CURSOR")
            return st.DeclareCursorVariable(line, names)
        name = self.name()
        options: set[str] = set()
        while self.at("INSENSITIVE", "SCROLL"):
            options.add(self.advance().upper)
        old = bool(options)
        self.expect("CURSOR")
        return self._cursor_body(line, name, options, old)

    def _cursor_body(self, line: int, name: str, options: set[str], old: bool = False) -> st.DeclareCursor:
        """What follows CURSOR. Errors 1048 (options that exclude each other), 1049 (both syntaxes), 16957."""
        while not self.at("FOR"):
            if old:
                raise error(1049, line=line)
            options.add(self.expect(*CURSOR_OPTIONS).upper)
        for one, other in CURSOR_CONFLICTS:
            if one in options and other in options:
                raise error(1048, one, other, line=line)
        self.expect("FOR")
        query = self.query(nested=False)
        columns: list[str] | None = None
        if self.accept("FOR"):
            if self.expect("READ", "UPDATE").upper == "READ":
                self.expect("ONLY")
                options.add("READ_ONLY")
            else:
                columns = [self.name()] if self.accept("OF") else []
                while columns and self.accept(","):
                    columns.append(self.name())
                if options & {"READ_ONLY", "FAST_FORWARD", "STATIC", "INSENSITIVE"}:
                    raise error(16957, line=line)
        return st.DeclareCursor(line, name, query, options, columns)

    def set_cursor(self, line: int, name: str) -> st.Statement:
        """SET @c = CURSOR ... FOR query; the parser stands at CURSOR."""
        self.expect("CURSOR")
        return self._cursor_body(line, name, set())

    def _cursor_named(self, statement: st.CursorStatement) -> st.CursorStatement:
        """[GLOBAL] name | @variable"""
        if self.at("GLOBAL") and self.peek().kind in (NAME, QUOTED):
            self.advance()
            statement.is_global = True
        statement.name = self.variable() if self.token.kind == VARIABLE else self.name()
        return statement

    def _do_open(self, line: int) -> st.Statement:
        self.advance()
        if self.at("SYMMETRIC", "MASTER"):
            raise not_implemented(f"OPEN {self.token.upper} KEY", line)
        return self._cursor_named(st.CursorStatement(line, "OPEN", ""))

    def _do_close(self, line: int) -> st.Statement:
        self.advance()
        return self._cursor_named(st.CursorStatement(line, "CLOSE", ""))

    def _do_deallocate(self, line: int) -> st.Statement:
        self.advance()
        return self._cursor_named(st.CursorStatement(line, "DEALLOCATE", ""))

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
        self._cursor_named(statement)
        if self.accept("INTO"):
            statement.into.append(self.variable())
            while self.accept(","):
                statement.into.append(self.variable())
        return statement
