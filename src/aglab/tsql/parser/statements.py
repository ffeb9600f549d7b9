"""Batches: the dispatch to every statement."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import END, NAME, OPERATOR
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.admin import AdminParser
from aglab.tsql.parser.control import ControlParser
from aglab.tsql.parser.cursors import CursorParser
from aglab.tsql.parser.ddl import DdlParser
from aglab.tsql.parser.variables import VariableParser
from aglab.tsql.store.user_types import TypeBook


class Parser(ControlParser, VariableParser, CursorParser, AdminParser, DdlParser):
    """Reads a whole batch."""

    labels: set[str]  # of the batch

    def batch(self) -> list[st.Statement]:
        """All statements of the text. A first word that is no statement calls a procedure, as in T-SQL."""
        statements: list[st.Statement] = []
        self.labels, self.jumps = set(), []
        first = True
        while True:
            while self.accept(";"):
                pass
            if self.token.kind == END:
                for jump in self.jumps:
                    if jump.upper not in self.labels:
                        raise error(133, jump.value, line=jump.line)
                return statements
            if first and self._bare_call():
                line, start = self.token.line, self.token.start
                call = st.Execute(line, self.multipart())
                self.arguments(call)
                call.start, call.end = start, self.tokens[self.position - 1].end
                statements.append(call)
            else:
                self._may_follow(statements)
                statements.append(self.statement())
            first = False

    def _may_follow(self, statements: list[st.Statement]) -> None:
        """What must not stand after another statement: a module's definition (111), WITH when no semicolon ended it (319)."""
        if not statements:
            return
        if self.at("WITH") and self.tokens[self.position - 1].value != ";" and not isinstance(statements[-1], st.Label):
            raise error(319, line=self.token.line)
        if self.depth == 0 and self.at("CREATE", "ALTER"):
            words = [self.peek(n).upper for n in (1, 2, 3)]
            action = "CREATE" if words[:2] == ["OR", "ALTER"] else self.token.upper
            kind = words[2] if words[:2] == ["OR", "ALTER"] else words[0]
            if kind in ("PROC", "PROCEDURE"):
                raise error(111, "CREATE/ALTER PROCEDURE", line=self.token.line)
            if kind in ("VIEW", "FUNCTION", "TRIGGER") or (kind == "SCHEMA" and action == "CREATE"):
                raise error(111, f"{action} {kind}", line=self.token.line)

    def _bare_call(self) -> bool:
        return self.is_name() and not self._begins_label() and not self.at("THROW", "GO")

    def statements_until(self, *words: str) -> list[st.Statement]:
        """Statements up to one of the words (which is left in place)."""
        body: list[st.Statement] = []
        while True:
            while self.accept(";"):
                pass
            if self.at(*words):
                return body
            if self.token.kind == END:
                raise self.syntax_error()
            self._may_follow(body)
            body.append(self.statement())

    def statement(self) -> st.Statement:
        """One statement with its place in the text."""
        self.enter()
        token = self.token
        statement = self._statement(token)
        statement.start = token.start
        statement.end = self.tokens[max(self.position - 1, 0)].end
        self.accept(";")
        self.leave()
        return statement

    def _statement(self, token: Any) -> st.Statement:
        if token.kind == OPERATOR and token.value == "(":
            return st.QueryStatement(token.line, self.query(nested=False))
        if token.kind != NAME:
            raise self.syntax_error()
        method = getattr(self, f"_do_{token.upper.lower()}", None)
        if method is not None:
            return method(token.line)
        if self.is_name() and self._begins_label():
            self.advance()
            self.advance()
            if token.upper in self.labels:
                raise error(132, token.value, line=token.line)
            self.labels.add(token.upper)
            return st.Label(token.line, token.value)
        raise self.syntax_error()

    # --- queries and data ---------------------------------------------------------------------------------------------------

    def _do_select(self, line: int) -> st.Statement:
        return st.QueryStatement(line, self.query(nested=False))

    def _do_with(self, line: int) -> st.Statement:
        if self.peek().upper == "XMLNAMESPACES":
            raise not_implemented("WITH XMLNAMESPACES", line)
        ctes = self.with_clause()
        if self.at("INSERT"):
            return self.insert(ctes)
        if self.at("UPDATE"):
            return self.update(ctes)
        if self.at("DELETE"):
            return self.delete(ctes)
        if self.at("MERGE"):
            return self.merge(ctes)
        query = self.query(nested=False)
        query.ctes = ctes + query.ctes
        return st.QueryStatement(line, query)

    def _do_insert(self, line: int) -> st.Statement:
        return self.insert([])

    def _do_update(self, line: int) -> st.Statement:
        return self.update([])

    def _do_delete(self, line: int) -> st.Statement:
        return self.delete([])

    def _do_merge(self, line: int) -> st.Statement:
        return self.merge([])

    def _do_exec(self, line: int) -> st.Statement:
        if self.peek().upper == "AS" and self.tokens[self.position + 2].upper in ("LOGIN", "USER"):
            start = self.advance().start
            self.advance()
            return self._generic(line, "EXECUTE AS", start)
        return self.execute()

    _do_execute = _do_exec

    def _do_bulk(self, line: int) -> st.Statement:
        """BULK INSERT table FROM 'file' [WITH (...)]"""
        self.advance()
        self.expect("INSERT")
        target = self._target()
        self.expect("FROM")
        bulk = st.BulkInsert(line, target, self.string())
        if self.accept("WITH"):
            self._skip_parentheses()
        return bulk

    def _skip_parentheses(self) -> None:
        """Whatever stands in them."""
        self.expect("(")
        depth = 1
        while depth:
            if self.token.kind == END:
                raise self.syntax_error()
            word = self.advance().value
            depth += (word == "(") - (word == ")")

    def _do_truncate(self, line: int) -> st.Statement:
        self.advance()
        self.expect("TABLE")
        truncate = st.Truncate(line, self.multipart())
        if self.at("WITH") and self.peek().value == "(":
            self.advance()
            truncate.partitions = self.partition_ranges()
        return truncate


def parse_batch(text: str, types: TypeBook | None = None) -> list[st.Statement]:
    """The statements of a batch. Raises TsqlError (102, 156, ...) at the first thing that is not T-SQL.

    >>> [type(s).__name__ for s in parse_batch("set nocount on select 1 print 'x'")]
    ['SetOption', 'QueryStatement', 'Print']
    """
    try:
        return Parser(text, types).batch()
    except RecursionError:
        raise error(191, line=1) from None
