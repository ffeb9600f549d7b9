"""FROM: tables, hints, joins, APPLY, PIVOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import nvarchar
from aglab.tsql import ast
from aglab.tsql.lexer import NAME, NATIONAL, OPERATOR, STRING, VARIABLE
from aglab.tsql.parser.expressions import ExpressionParser
from aglab.tsql.parser.hints import HintParser

NOT_ALIAS = frozenset({"APPLY", "OFFSET", "MATCHED", "OUTPUT", "GO", "THROW", "NEXT", "WINDOW", "PIVOT", "UNPIVOT", "USING"})

# Any client could name a file.
NO_FILES = "the twin reads no files of the server; send the rows with bcp or a driver's bulk copy"


class FromParser(ExpressionParser, HintParser):
    """FROM: tables, hints, joins, APPLY, PIVOT."""

    if TYPE_CHECKING:

        def _value_or_default(self) -> ast.Node: ...

    def name_list(self) -> list[str]:
        """(name, name, ...)"""
        self.expect("(")
        names = [self.name()]
        while self.accept(","):
            names.append(self.name())
        self.expect(")")
        return names

    def _alias(self, strings: bool = False) -> str:
        if self.accept("AS"):
            if strings and self.token.kind in (STRING, NATIONAL):
                return self.advance().value
            return self.name()
        if strings and self.token.kind in (STRING, NATIONAL):
            return self.advance().value
        if self.is_name() and self.token.upper not in NOT_ALIAS and not self._begins_label():
            return self.name()
        return ""

    def _begins_label(self) -> bool:
        return self.peek().value == ":" and self.peek().kind == OPERATOR and self.token.kind == NAME

    def from_clause(self) -> ast.Source:
        """Table sources joined by commas or JOIN."""
        left = self._joined()
        while self.at(","):
            line = self.advance().line
            left = ast.JoinSource(line, kind="CROSS", left=left, right=self._joined())
        return left

    def _joined(self) -> ast.Source:
        self.enter()
        left = self._source()
        while True:
            line = self.token.line
            kind = self._join_kind()
            if not kind:
                self.leave()
                return left
            right = self._joined_right() if kind not in ("CROSS", "CROSS APPLY", "OUTER APPLY") else self._source()
            on = None
            if kind not in ("CROSS", "CROSS APPLY", "OUTER APPLY"):
                self.expect("ON")
                on = self.condition()
            left = ast.JoinSource(line, kind=kind, left=left, right=right, on=on)

    def _joined_right(self) -> ast.Source:
        """The right side of JOIN: one source, or a nested join whose ON comes first (a JOIN b JOIN c ON .. ON ..)."""
        right = self._source()
        while not self.at("ON"):
            line = self.token.line
            kind = self._join_kind()
            if not kind:
                break
            inner = self._source() if kind in ("CROSS", "CROSS APPLY", "OUTER APPLY") else self._joined_right()
            on = None
            if kind not in ("CROSS", "CROSS APPLY", "OUTER APPLY"):
                self.expect("ON")
                on = self.condition()
            right = ast.JoinSource(line, kind=kind, left=right, right=inner, on=on)
        return right

    def _join_kind(self) -> str:
        if self.at("CROSS", "OUTER") and self.peek().upper == "APPLY":
            kind = f"{self.advance().upper} APPLY"
            self.advance()
            return kind
        if self.at("CROSS") and self.peek().upper == "JOIN":
            self.advance()
            self.advance()
            return "CROSS"
        if self.at("JOIN"):
            self.advance()
            return "INNER"
        if self.at("INNER", "LEFT", "RIGHT", "FULL"):
            kind = self.advance().upper
            self.accept("OUTER")
            self.accept("LOOP", "HASH", "MERGE", "REMOTE")
            self.expect("JOIN")
            return kind
        return ""

    def _source(self) -> ast.Source:
        line = self.token.line
        source: ast.Source
        if self.at("("):
            source = self._parenthesised_source(line)
        elif self.token.kind == VARIABLE and self.peek().value == "." and self.peek(2).value == "nodes":
            instance = ast.Variable(line, self.variable())
            self.advance()
            self.advance()
            source = self._xml_nodes(instance)
        elif self.token.kind == VARIABLE:
            source = ast.TableSource(line, parts=(self.variable(),))
            source.alias = self._alias()
        else:
            source = self._named_source(line)
        while self.at("PIVOT", "UNPIVOT") and self.peek().value == "(":
            source = self._pivot(source)
        return source

    def _parenthesised_source(self, line: int) -> ast.Source:
        start = self.position
        self.expect("(")
        if self.at("SELECT", "WITH", "VALUES") or (self.at("(") and self._opens_query()):
            query = self.query()
            self.expect(")")
            source = ast.QuerySource(line, query=query)
            source.alias = self._alias()
            if not source.alias:
                raise self.syntax_error()
            if self.at("("):
                source.column_aliases = self.name_list()
            return source
        self.seek(start)
        self.expect("(")
        joined = self._joined()
        self.expect(")")
        return joined

    def _named_source(self, line: int) -> ast.Source:
        if self.at("OPENROWSET") and self.peek(2).upper == "BULK":
            from aglab.tsql.messages import not_implemented

            raise not_implemented(f"OPENROWSET(BULK): {NO_FILES}", line)
        if self.at("OPENROWSET", "OPENQUERY", "OPENDATASOURCE", "OPENXML", "CONTAINSTABLE", "FREETEXTTABLE"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented(self.token.upper, line)
        parts = self.multipart()
        if self.at("(") and len(parts) > 1 and parts[-1] == "nodes":
            return self._xml_nodes(ast.ColumnRef(line, tuple(parts[:-1])))
        if self.at("(") and not self._is_old_hint():
            self.advance()
            args: list[ast.Node] = []
            if not self.at(")"):
                args.append(self._value_or_default())
                while self.accept(","):
                    args.append(self._value_or_default())
            self.expect(")")
            function = ast.FunctionSource(line, parts=parts, args=args)
            if self.at("WITH") and self.peek().value == "(" and parts[-1].upper() == "OPENJSON":
                function.with_columns = self._openjson_columns()
            function.alias = self._alias()
            if function.alias and self.at("("):
                function.column_aliases = self.name_list()
            return function
        source = ast.TableSource(line, parts=parts)
        if self.at("FOR") and self.peek().upper in ("SYSTEM_TIME", "PATH"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented("FOR SYSTEM_TIME", line)
        source.alias = self._alias()
        source.hints = self.table_hints()
        if not source.alias and source.hints:
            source.alias = self._alias()
        if self.at("TABLESAMPLE"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented("TABLESAMPLE", line)
        return source

    def _xml_nodes(self, instance: ast.Node) -> ast.Source:
        """``.nodes('path') AS T(c)`` of an xml value, at its parenthesis."""
        line = self.token.line
        self.expect("(")
        path = ast.Literal(line, self.string(), nvarchar())
        self.expect(")")
        source = ast.FunctionSource(line, parts=("xml.nodes",), args=[instance, path])
        source.alias = self._alias()
        if not source.alias:
            raise self.syntax_error()
        source.column_aliases = self.name_list()
        return source

    def _openjson_columns(self) -> list[tuple[str, Any, str, bool]]:
        self.advance()
        self.expect("(")
        columns = []
        while True:
            name = self.name()
            sql_type = self.data_type()
            path = self.string() if self.token.kind in (STRING, NATIONAL) else f"$.{name}"
            as_json = self.accept("AS")
            if as_json:
                self.expect("JSON")
            columns.append((name, sql_type, path, as_json))
            if not self.accept(","):
                break
        self.expect(")")
        return columns

    def _pivot(self, source: ast.Source) -> ast.Source:
        line = self.token.line
        unpivot = self.advance().upper == "UNPIVOT"
        self.expect("(")
        pivot = ast.PivotSource(line, source=source, unpivot=unpivot)
        if unpivot:
            pivot.value_column = self.name()
        else:
            call = self.expression()
            if not isinstance(call, ast.Call):
                raise self.syntax_error()
            pivot.aggregate = call
        self.expect("FOR")
        pivot.name_column = self.name()
        self.expect("IN")
        pivot.names = self.name_list()
        self.expect(")")
        pivot.alias = self._alias()
        if not pivot.alias:
            raise self.syntax_error()
        return pivot
