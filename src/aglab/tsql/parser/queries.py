"""SELECT, set operations, VALUES, GROUP BY, ORDER BY, options."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast
from aglab.tsql.lexer import INTEGER, NAME, NATIONAL, OPERATOR, RESERVED, STRING, VARIABLE
from aglab.tsql.messages import error
from aglab.tsql.parser.from_clause import FromParser

# Words that cannot be an alias without AS although they are not reserved in general.


class QueryParser(FromParser):
    """Reads queries."""

    def query(self, nested: bool = True) -> ast.Query:
        """A query with its common table expressions, ORDER BY, OFFSET/FETCH, FOR and OPTION."""
        self.enter()
        ctes = self.with_clause() if self.at("WITH") else []
        query = self._set_operation()
        query.ctes = ctes + query.ctes
        self._tail(query, nested)
        self.leave()
        return query

    def with_clause(self) -> list[ast.Cte]:
        """WITH name (columns) AS (query), ..."""
        self.expect("WITH")
        ctes: list[ast.Cte] = []
        while True:
            line = self.token.line
            name = self.name()
            columns = self.name_list() if self.at("(") else []
            self.expect("AS")
            self.expect("(")
            ctes.append(ast.Cte(line, name, columns, self.query()))
            self.expect(")")
            if not self.accept(","):
                return ctes

    def _set_operation(self) -> ast.Query:
        left = self._intersection()
        while self.at("UNION", "EXCEPT"):
            line, op = self.token.line, self.advance().upper
            if op == "UNION" and self.accept("ALL"):
                op = "UNION ALL"
            left = ast.SetOperation(line, op=op, left=left, right=self._intersection())
        return left

    def _intersection(self) -> ast.Query:
        left = self._query_term()
        while self.at("INTERSECT"):
            line = self.advance().line
            left = ast.SetOperation(line, op="INTERSECT", left=left, right=self._query_term())
        return left

    def _query_term(self) -> ast.Query:
        if self.accept("("):
            self.enter()
            query = self._set_operation()
            self._tail(query, True)
            self.leave()
            self.expect(")")
            return query
        if self.at("SELECT"):
            return self._select()
        if self.at("VALUES"):
            return self.values()
        raise self.syntax_error()

    def values(self) -> ast.Values:
        """VALUES (...), (...)"""
        line = self.expect("VALUES").line
        rows: list[list[ast.Node]] = []
        while True:
            self.expect("(")
            row = [self._value_or_default()]
            while self.accept(","):
                row.append(self._value_or_default())
            self.expect(")")
            rows.append(row)
            if not self.accept(","):
                break
        return ast.Values(line, rows=rows)

    def _value_or_default(self) -> ast.Node:
        if self.at("DEFAULT"):
            line = self.advance().line
            return ast.Call(line, ("DEFAULT",), [])
        return self.expression()

    def _select(self) -> ast.Select:
        line = self.expect("SELECT").line
        select = ast.Select(line)
        if self.accept("DISTINCT"):
            select.distinct = True
        else:
            self.accept("ALL")
        if self.at("TOP"):
            select.top = self.top_clause()
        select.items.append(self._select_item())
        while self.accept(","):
            select.items.append(self._select_item())
        if self.accept("INTO"):
            select.into = self.multipart()
        if self.accept("FROM"):
            select.source = self.from_clause()
        if self.accept("WHERE"):
            select.where = self.condition()
        if self.accept("GROUP"):
            self.expect("BY")
            self._group_by(select)
        if self.accept("HAVING"):
            select.having = self.condition()
        return select

    def top_clause(self) -> ast.Top:
        """TOP n, TOP (expression) [PERCENT] [WITH TIES]"""
        line = self.expect("TOP").line
        if self.accept("("):
            count = self.expression()
            self.expect(")")
        elif self.token.kind in (INTEGER, VARIABLE) or self.token.kind == INTEGER + 1:
            count = self._primary()
        else:
            raise self.syntax_error()
        percent = self.accept("PERCENT")
        ties = False
        if self.at("WITH") and self.peek().upper == "TIES":
            self.advance()
            self.advance()
            ties = True
        return ast.Top(line, count, percent, ties)

    def _select_item(self) -> ast.SelectItem:
        token = self.token
        line = token.line
        if self.accept("*"):
            return ast.SelectItem(line, ast.Star(line))
        if (
            token.kind == VARIABLE
            and not token.value.startswith("@@")
            and self.peek().value in ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=")
        ):
            self.advance()
            op = self.advance().value
            return ast.SelectItem(line, self.expression(), variable=token.value, op=op)
        if (self.is_name() or token.kind in (STRING, NATIONAL)) and self.peek().value == "=" and self.peek().kind == OPERATOR:
            self.advance()
            self.advance()
            return ast.SelectItem(line, self.expression(), alias=token.value)
        expression = self.expression()
        if isinstance(expression, ast.Star):
            return ast.SelectItem(line, expression)
        return ast.SelectItem(line, expression, alias=self._alias(True))

    def _group_by(self, select: ast.Select) -> None:
        select.group = []
        if self.accept("ALL"):
            pass
        sets: list[list[int]] | None = None
        while True:
            if self.at("ROLLUP", "CUBE", "GROUPING") and (self.peek().value == "(" or self.peek().upper == "SETS"):
                new = self._grouping(select.group)
                sets = [a + b for a in (sets or [[]]) for b in new]
            elif self.at("(") and self.peek().value == ")":
                self.advance()
                self.advance()
                sets = sets or [[]]
            else:
                select.group.append(self.expression())
                sets = [[*s, len(select.group) - 1] for s in (sets or [[]])]
            if not self.accept(","):
                break
        if self.at("WITH") and self.peek().upper in ("ROLLUP", "CUBE"):
            self.advance()
            count = len(select.group)
            sets = _rollup(range(count)) if self.advance().upper == "ROLLUP" else _cube(range(count))
        if sets is not None and (len(sets) > 1 or len(sets[0]) < len(select.group)):
            select.grouping_sets = sets

    def _grouping(self, group: list[ast.Node]) -> list[list[int]]:
        kind = self.advance().upper
        if kind == "GROUPING":
            self.expect("SETS")
        self.expect("(")
        elements: list[list[int]] = []
        while True:
            indices: list[int] = []
            if kind == "GROUPING" and self.at("ROLLUP", "CUBE"):
                elements += self._grouping(group)
            else:
                if self.accept("("):
                    if not self.at(")"):
                        indices.append(self._group_element(group))
                        while self.accept(","):
                            indices.append(self._group_element(group))
                    self.expect(")")
                else:
                    indices.append(self._group_element(group))
                elements.append(indices)
            if not self.accept(","):
                break
        self.expect(")")
        if kind == "GROUPING":
            return elements
        combos = _rollup(range(len(elements))) if kind == "ROLLUP" else _cube(range(len(elements)))
        return [[index for element in combo for index in elements[element]] for combo in combos]

    def _group_element(self, group: list[ast.Node]) -> int:
        group.append(self.expression())
        return len(group) - 1

    def _tail(self, query: ast.Query, nested: bool) -> None:
        if self.at("ORDER") and self.peek().upper == "BY":
            self.advance()
            self.advance()
            while True:
                line = self.token.line
                node = self.expression()
                descending = self.accept("DESC")
                if not descending:
                    self.accept("ASC")
                query.order.append(ast.OrderItem(line, node, descending))
                if not self.accept(","):
                    break
            if self.accept("OFFSET"):
                query.offset = self.expression()
                self.expect("ROW", "ROWS")
                if self.accept("FETCH"):
                    self.expect("NEXT", "FIRST")
                    query.fetch = self.expression()
                    self.expect("ROW", "ROWS")
                    self.expect("ONLY")
            elif nested and not self._allows_order(query) and not (self.at("FOR") and self.peek().upper in ("XML", "JSON")):
                raise error(1033, line=query.order[0].line)
        if self.at("FOR") and self.peek().upper in ("XML", "JSON", "BROWSE"):
            self.advance()
            kind = self.advance().upper
            query.for_clause = (kind, self._for_options())
        if self.at("OPTION") and self.peek().value == "(":
            self.advance()
            query.options = self._query_options()

    @staticmethod
    def _allows_order(query: ast.Query) -> bool:
        return isinstance(query, ast.Select) and query.top is not None

    def _for_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        while self.token.kind == NAME and (self.token.upper not in RESERVED):
            word = self.advance().upper
            options[word] = True
            if self.accept("("):
                options[word] = self.string() if self.token.kind in (STRING, NATIONAL) else True
                self.expect(")")
            if not self.accept(","):
                break
        return options

    # --- FROM ---------------------------------------------------------------------------------------------------------------


def _rollup(indices: range) -> list[list[int]]:
    items = list(indices)
    return [items[:n] for n in range(len(items), -1, -1)]


def _cube(indices: range) -> list[list[int]]:
    items = list(indices)
    if len(items) > 10:
        items = items[:10]
    sets = [[item for bit, item in enumerate(items) if mask >> bit & 1] for mask in range(2 ** len(items))]
    return sorted(sets, key=lambda s: (-len(s), s))
