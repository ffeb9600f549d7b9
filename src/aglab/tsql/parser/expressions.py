"""Expressions and conditions by precedence climbing.

T-SQL keeps values and conditions apart; one grammar reads both (a parenthesis may open either) and the callers check with
:meth:`expression` and :meth:`condition`, so that errors 102, 156 and 4145 fall where SQL Server puts them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.lexer import BINARY, DECIMAL, FLOAT, INTEGER, MONEY, NAME, NATIONAL, OPERATOR, QUOTED, RESERVED, STRING, VARIABLE
from aglab.tsql.parser.conditions import ConditionParser
from aglab.tsql.parser.literals import literal

# Functions that are written without parentheses, and reserved words that are function names.
XML_METHODS = frozenset({"value", "query", "exist"})  # of type xml, written in lower case
NILADIC = frozenset({"CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "USER", "CURRENT_DATE"})
FUNCTION_WORDS = frozenset(
    {"LEFT", "RIGHT", "COALESCE", "NULLIF", "CONVERT", "TRY_CONVERT", "IDENTITY", "UPDATE", "USER", "CONTAINS", "FREETEXT"}
)


class ExpressionParser(ConditionParser):
    """Reads expressions."""

    if TYPE_CHECKING:

        def query(self, nested: bool = True) -> ast.Query: ...

    def expression(self) -> ast.Node:
        """A value."""
        node = self._additive()
        if isinstance(node, ast.Condition):
            raise self.syntax_error()
        return node

    # --- conditions ---------------------------------------------------------------------------------------------------------

    # --- values -------------------------------------------------------------------------------------------------------------

    def _additive(self) -> ast.Node:
        left = self._multiplicative()
        while self.token.kind == OPERATOR and self.token.value in ("+", "-", "&", "|", "^"):
            if isinstance(left, ast.Condition):
                raise self.syntax_error()
            token = self.advance()
            right = self._multiplicative()
            if isinstance(right, ast.Condition):
                raise self.syntax_error(token)
            left = ast.Binary(token.line, token.value, left, right)
        return left

    def _multiplicative(self) -> ast.Node:
        left = self._unary()
        while self.token.kind == OPERATOR and self.token.value in ("*", "/", "%"):
            if isinstance(left, ast.Condition):
                raise self.syntax_error()
            token = self.advance()
            right = self._unary()
            if isinstance(right, ast.Condition):
                raise self.syntax_error(token)
            left = ast.Binary(token.line, token.value, left, right)
        return left

    def _unary(self) -> ast.Node:
        if self.token.kind == OPERATOR and self.token.value in ("-", "+", "~"):
            token = self.advance()
            self.enter()
            operand = self._unary()
            self.leave()
            if isinstance(operand, ast.Condition):
                raise self.syntax_error(token)
            if token.value == "-" and isinstance(operand, ast.Literal) and isinstance(operand.value, (int, float, Decimal)):
                return ast.Literal(token.line, -operand.value, operand.type)
            return ast.Unary(token.line, token.value, operand)
        return self._postfix(self._primary())

    def _postfix(self, node: ast.Node) -> ast.Node:
        while True:
            if self.at("COLLATE"):
                line = self.advance().line
                node = ast.Collate(line, node, self.name())
            elif self.at("AT") and self.peek().upper == "TIME":
                line = self.advance().line
                self.advance()
                self.expect("ZONE")
                node = ast.AtTimeZone(line, node, self._unary())
            elif self.at(".") and self.peek().value in XML_METHODS and self.peek(2).value == "(":
                self.advance()
                node = self._xml_method(node, self.advance().value)
            else:
                return node

    def _primary(self) -> ast.Node:
        token = self.token
        line = token.line
        if token.kind == NAME:
            return self._word()
        if token.kind == VARIABLE:
            self.advance()
            return ast.Variable(line, token.value)
        if token.kind in (INTEGER, DECIMAL, FLOAT, MONEY, BINARY, STRING, NATIONAL):
            self.advance()
            return literal(token.kind, token.value, line)
        if token.kind == QUOTED:
            return self._reference()
        if token.value == "(":
            return self._parenthesis()
        if token.value == "{":
            return self._odbc_escape()
        raise self.syntax_error()

    def _parenthesis(self) -> ast.Node:
        line = self.advance().line
        self.enter()
        if self.at("SELECT", "WITH") or (self.at("(") and self._opens_query()):
            query = self.query()
            self.expect(")")
            self.leave()
            return ast.Subquery(line, query)
        node = self._or()
        self.expect(")")
        self.leave()
        return node

    def _opens_query(self) -> bool:
        ahead = 0
        while self.peek(ahead).value == "(" and self.peek(ahead).kind == OPERATOR:
            ahead += 1
        if self.peek(ahead).upper != "SELECT":
            return False
        # ((SELECT ...) UNION ...) is a query, ((SELECT ...) + 1) is a value: find what follows the inner parenthesis
        depth = 0
        index = self.position
        while index < len(self.tokens):
            value = self.tokens[index].value if self.tokens[index].kind == OPERATOR else ""
            if value == "(":
                depth += 1
            elif value == ")":
                depth -= 1
                if depth == 0:
                    return self.tokens[min(index + 1, len(self.tokens) - 1)].upper in ("UNION", "EXCEPT", "INTERSECT", ")")
            index += 1
        return False

    def _word(self) -> ast.Node:
        token = self.token
        line, upper = token.line, token.upper
        if upper == "NULL":
            self.advance()
            return ast.Literal(line, None, None)
        if upper == "CASE":
            return self._case()
        if self.peek().value == "(" and self.peek().kind == OPERATOR:
            if upper in ("CAST", "TRY_CAST", "PARSE", "TRY_PARSE"):
                return self._cast(upper)
            if upper in ("CONVERT", "TRY_CONVERT"):
                return self._convert(upper)
            if upper in FUNCTION_WORDS or upper not in RESERVED:
                self.advance()
                return self._call((token.value,), line)
        if upper in NILADIC:
            self.advance()
            return ast.Call(line, (upper,), [])
        if upper == "NEXT" and self.peek().upper == "VALUE":
            from aglab.tsql.messages import not_implemented

            raise not_implemented("NEXT VALUE FOR (sequences)", line)
        if upper in RESERVED and upper not in ("IDENTITYCOL", "ROWGUIDCOL"):
            raise self.syntax_error()
        return self._reference()

    def _reference(self) -> ast.Node:
        line = self.token.line
        parts = [self.advance().value]
        while self.at("."):
            self.advance()
            if self.at("."):
                parts.append("")
                continue
            if self.at("*"):
                self.advance()
                return ast.Star(line, tuple(parts))
            if self.token.kind not in (NAME, QUOTED):
                raise self.syntax_error()
            if len(parts) > 4:
                raise self.syntax_error()
            parts.append(self.advance().value)
        if self.at("(") and len(parts) > 1:
            if parts[-1] in XML_METHODS:
                return self._xml_method(ast.ColumnRef(line, tuple(parts[:-1])), parts[-1])
            return self._call(tuple(parts), line)
        return ast.ColumnRef(line, tuple(parts))

    def _xml_method(self, instance: ast.Node, method: str) -> ast.Node:
        """``.value('path', 'type')``, ``.query('path')`` or ``.exist('path')`` of an xml value, at its parenthesis."""
        line = self.token.line
        self.expect("(")
        path = ast.Literal(line, self.string(), nvarchar())
        if method != "value":
            self.expect(")")
            return ast.Call(line, (f"xml.{method}",), [instance, path])
        self.expect(",")
        target = type(self)(self.string()).data_type()
        self.expect(")")
        call = ast.Call(line, ("xml.value",), [instance, path, ast.Literal(line, target.name, nvarchar())])
        return ast.Cast(line, call, target)

    def _call(self, parts: tuple[str, ...], line: int) -> ast.Node:
        self.expect("(")
        self.enter()
        call = ast.Call(line, parts, [])
        if self.accept("*"):
            call.star = True
        elif not self.at(")"):
            if self.accept("DISTINCT"):
                call.distinct = True
            else:
                self.accept("ALL")
            trim = call.name == "TRIM" and len(parts) == 1
            if trim and self.at("LEADING", "TRAILING", "BOTH"):
                side = self.advance().upper
                call = ast.Call(line, {"LEADING": ("LTRIM",), "TRAILING": ("RTRIM",)}.get(side, parts), [])
            call.args.append(self._argument(call))
            if trim and self.accept("FROM"):  # TRIM(characters FROM text)
                call.args.insert(0, self.expression())
            while self.accept(","):
                call.args.append(self._argument(call))
        self.expect(")")
        self.leave()
        if self.at("WITHIN") and self.peek().upper == "GROUP":
            self.advance()
            self.advance()
            self.expect("(")
            self.expect("ORDER")
            self.expect("BY")
            call.within = self._order_list()
            self.expect(")")
        if self.at("OVER"):
            self.advance()
            call.over = self._window()
        return call

    def _argument(self, call: ast.Call) -> ast.Node:
        if self.at("DEFAULT"):
            line = self.advance().line
            return ast.Call(line, ("DEFAULT",), [])
        if call.name == "IIF" and not call.args:
            return self.condition()
        return self.expression()

    def _order_list(self) -> list[tuple[ast.Node, bool]]:
        items: list[tuple[ast.Node, bool]] = []
        while True:
            node = self.expression()
            descending = self.accept("DESC")
            if not descending:
                self.accept("ASC")
            items.append((node, descending))
            if not self.accept(","):
                return items

    def _window(self) -> ast.Window:
        line = self.expect("(").line
        window = ast.Window(line, [], [])
        if self.accept("PARTITION"):
            self.expect("BY")
            window.partition.append(self.expression())
            while self.accept(","):
                window.partition.append(self.expression())
        if self.accept("ORDER"):
            self.expect("BY")
            window.order = self._order_list()
        if self.at("ROWS", "RANGE"):
            unit = self.advance().upper
            if self.accept("BETWEEN"):
                start = self._bound()
                self.expect("AND")
                end = self._bound()
            else:
                start, end = self._bound(), ("CURRENT ROW", None)
            window.frame = (unit, start, end)
        self.expect(")")
        return window

    def _bound(self) -> tuple[str, Any]:
        if self.accept("UNBOUNDED"):
            return (f"UNBOUNDED {self.expect('PRECEDING', 'FOLLOWING').upper}", None)
        if self.accept("CURRENT"):
            self.expect("ROW")
            return ("CURRENT ROW", None)
        count = self.integer()
        return (self.expect("PRECEDING", "FOLLOWING").upper, count)

    def _case(self) -> ast.Node:
        line = self.advance().line
        self.enter()
        operand = None if self.at("WHEN") else self.expression()
        whens: list[tuple[ast.Node, ast.Node]] = []
        while self.accept("WHEN"):
            test = self.condition() if operand is None else self.expression()
            self.expect("THEN")
            whens.append((test, self.expression()))
        if not whens:
            raise self.syntax_error()
        default = self.expression() if self.accept("ELSE") else None
        self.expect("END")
        self.leave()
        return ast.Case(line, operand, whens, default)

    def _cast(self, word: str) -> ast.Node:
        line = self.advance().line
        self.expect("(")
        operand = self.expression()
        self.expect("AS")
        sql_type = self._cast_type()
        if word.endswith("PARSE") and self.accept("USING"):
            self.expression()
        self.expect(")")
        return ast.Cast(line, operand, sql_type, None, word.startswith("TRY"))

    def _cast_type(self) -> SqlType:
        bare = self.peek().value != "("
        sql_type = self.data_type()
        if bare and sql_type.name in ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary") and sql_type.length == 1:
            return SqlType(sql_type.name, length=30)  # CAST and CONVERT default to 30 where declarations default to 1
        return sql_type

    def _convert(self, word: str) -> ast.Node:
        line = self.advance().line
        self.expect("(")
        sql_type = self._cast_type()
        self.expect(",")
        operand = self.expression()
        style = self.expression() if self.accept(",") else None
        self.expect(")")
        return ast.Cast(line, operand, sql_type, style, word.startswith("TRY"))

    def _odbc_escape(self) -> ast.Node:
        """{fn NAME(...)}, {d '...'}, {t '...'}, {ts '...'}"""
        line = self.advance().line
        kind = self.any_word().lower()
        if kind == "fn":
            node = self.expression()
        elif kind in ("d", "t", "ts"):
            node = ast.Cast(line, ast.Literal(line, self.string(), SqlType("varchar", length=30)), SqlType("datetime"))
        else:
            raise self.syntax_error()
        self.expect("}")
        return node
