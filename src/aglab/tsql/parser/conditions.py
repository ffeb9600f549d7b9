"""Conditions: comparisons and what joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql import ast
from aglab.tsql.lexer import OPERATOR
from aglab.tsql.messages import error
from aglab.tsql.parser.base import ParserBase

COMPARISONS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!<": ">=", "!>": "<="}


class ConditionParser(ParserBase):
    """Conditions: comparisons and what joins them."""

    if TYPE_CHECKING:

        def query(self, nested: bool = True) -> ast.Query: ...
        def expression(self) -> ast.Node: ...
        def _additive(self) -> ast.Node: ...

    def condition(self) -> ast.Node:
        """A condition; error 4145 when it is a value."""
        self.enter()
        node = self._or()
        self.leave()
        if not isinstance(node, ast.Condition):
            token = self.token if self.token.kind != 11 else self.tokens[max(self.position - 1, 0)]
            raise error(4145, token.value, line=token.line)
        return node

    def _or(self) -> ast.Node:
        left = self._and()
        while self.at("OR") and isinstance(left, ast.Condition):
            line = self.advance().line
            left = ast.Logical(line, "OR", left, self._need_condition(self._and()))
        return left

    def _and(self) -> ast.Node:
        left = self._not()
        while self.at("AND") and isinstance(left, ast.Condition):
            line = self.advance().line
            left = ast.Logical(line, "AND", left, self._need_condition(self._not()))
        return left

    def _not(self) -> ast.Node:
        if self.at("NOT"):
            self.enter()
            line = self.advance().line
            node = ast.Not(line, self._need_condition(self._not()))
            self.leave()
            return node
        return self._predicate()

    def _need_condition(self, node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.Condition):
            token = self.token if self.token.kind != 11 else self.tokens[max(self.position - 1, 0)]
            raise error(4145, token.value, line=token.line)
        return node

    def _predicate(self) -> ast.Node:
        line = self.token.line
        if self.at("EXISTS") and self.peek().upper == "(":
            self.advance()
            self.advance()
            query = self.query()
            self.expect(")")
            return ast.Exists(line, query)
        if self.at("UPDATE") and self.peek().upper == "(":
            self.advance()
            self.advance()
            column = self.name()
            self.expect(")")
            return ast.UpdatePredicate(line, column)
        left = self._additive()
        if isinstance(left, ast.Condition):
            return left
        if self.token.kind == OPERATOR and self.token.value in COMPARISONS:
            op = COMPARISONS[self.advance().value]
            if self.at("ALL", "ANY", "SOME"):
                every = self.advance().upper == "ALL"
                self.expect("(")
                query = self.query()
                self.expect(")")
                return ast.Quantified(line, op, left, every, query)
            return ast.Compare(line, op, left, self.expression())
        negated = False
        if self.at("IS"):
            self.advance()
            negated = self.accept("NOT")
            if self.accept("DISTINCT"):
                self.expect("FROM")
                return ast.Distinct(line, left, self.expression(), negated)
            self.expect("NULL")
            return ast.IsNull(line, left, negated)
        if self.at("NOT") and self.peek().upper in ("IN", "BETWEEN", "LIKE"):
            self.advance()
            negated = True
        if self.accept("IN"):
            return self._in(line, left, negated)
        if self.accept("BETWEEN"):
            low = self.expression()
            self.expect("AND")
            return ast.Between(line, left, low, self.expression(), negated)
        if self.accept("LIKE"):
            pattern = self.expression()
            escape = self.expression() if self.accept("ESCAPE") else None
            return ast.Like(line, left, pattern, escape, negated)
        return left

    def _in(self, line: int, left: ast.Node, negated: bool) -> ast.Node:
        self.expect("(")
        if self.at("SELECT", "WITH"):
            query = self.query()
            self.expect(")")
            return ast.In(line, left, None, query, negated)
        items = [self.expression()]
        while self.accept(","):
            items.append(self.expression())
        self.expect(")")
        return ast.In(line, left, items, None, negated)
