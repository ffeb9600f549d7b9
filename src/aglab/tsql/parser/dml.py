"""INSERT, UPDATE, DELETE, MERGE, TRUNCATE, EXECUTE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME, OPERATOR, QUOTED, VARIABLE
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.option_lists import check_options, once
from aglab.tsql.parser.statistics import StatisticsParser

ASSIGNMENT_OPERATORS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=")


class DmlParser(StatisticsParser):
    """Reads data-changing statements."""

    def insert(self, ctes: list[ast.Cte]) -> st.Statement:
        """INSERT [TOP] [INTO] target [(columns)] [OUTPUT] VALUES | query | EXECUTE | DEFAULT VALUES"""
        line = self.expect("INSERT").line
        if self.at("BULK"):
            return self.insert_bulk(line)
        top = self.top_clause() if self.at("TOP") else None
        self.accept("INTO")
        target = self._target()
        target.hints = self.table_hints(written=True) if self.at("WITH") else frozenset()
        columns = (
            self._column_list()
            if self.at("(") and self.peek().upper not in ("SELECT", "WITH") and self.peek().value != "("
            else []
        )
        output = self._output()
        if self.accept("DEFAULT"):
            self.expect("VALUES")
            return st.Insert(line, target, columns, None, output=output, top=top, ctes=ctes)
        if self.at("EXEC", "EXECUTE"):
            return st.Insert(line, target, columns, None, execute=self.execute(), output=output, top=top, ctes=ctes)
        if not self.at("SELECT", "VALUES", "WITH", "("):
            raise self.syntax_error()
        query = self.query(nested=False)
        return st.Insert(line, target, columns, query, output=output, top=top, ctes=ctes)

    def insert_bulk(self, line: int) -> st.Statement:
        """INSERT BULK table (column type [COLLATE name], ...) [WITH (options)]: announces rows that come as message 0x07."""
        self.expect("BULK")
        target = self._target()
        columns: list[tuple[str, SqlType]] = []
        self.expect("(")
        while True:
            column = self.name()
            columns.append((column, self.data_type(len(columns) + 1)))
            if self.accept("COLLATE"):
                self.name()
            if not self.accept(","):
                break
        self.expect(")")
        options = self._bulk_options() if self.accept("WITH") else {}
        return st.InsertBulk(line, target, columns, options)

    if TYPE_CHECKING:

        def index_columns(self) -> list[tuple[str, bool]]: ...

    def _bulk_options(self) -> dict[str, Any]:
        """(name [= number], ..., ORDER (column [ASC | DESC], ...))"""
        line = self.expect("(").line
        options: dict[str, Any] = {}
        order: list[tuple[str, bool]] = []
        while True:
            name = self.any_word()
            once(name, options, line)
            if name == "ORDER" and not order:
                order = self.index_columns()
            else:
                options[name] = self.option_value()
            if not self.accept(","):
                break
        self.expect(")")
        check_options("INSERT BULK", options, line)
        return {**options, "ORDER": order} if order else options

    def _target(self) -> ast.TableSource:
        line = self.token.line
        if self.token.kind == VARIABLE:
            name = self.variable()
            if name.lower() in self.readonly:
                raise error(10700, name, line=line)
            return ast.TableSource(line, parts=(name,))
        return ast.TableSource(line, parts=self.multipart())

    def _column_list(self) -> list[str]:
        self.expect("(")
        names = [self.multipart()[-1]]
        while self.accept(","):
            names.append(self.multipart()[-1])
        self.expect(")")
        return names

    def _output(self) -> st.Output | None:
        if not self.accept("OUTPUT"):
            return None
        items = [self._select_item()]
        while self.accept(","):
            items.append(self._select_item())
        output = st.Output(items)
        if self.accept("INTO"):
            if self.token.value.lower() in self.readonly:
                raise error(10700, self.token.value, line=self.token.line)
            output.into = (self.variable(),) if self.token.kind == VARIABLE else self.multipart()
            if self.at("("):
                output.into_columns = self.name_list()
        return output

    def update(self, ctes: list[ast.Cte]) -> st.Statement:
        """UPDATE [TOP] target SET ... [OUTPUT] [FROM] [WHERE] [OPTION]"""
        line = self.expect("UPDATE").line
        if self.at("STATISTICS"):
            return self.update_statistics(line)
        top = self.top_clause() if self.at("TOP") else None
        target = self._target()
        target.hints = self.table_hints(written=True)
        self.expect("SET")
        assignments = [self.assignment()]
        while self.accept(","):
            assignments.append(self.assignment())
        output = self._output()
        source = self.from_clause() if self.accept("FROM") else None
        where, cursor = self._where_or_cursor()
        self._skip_option()
        return st.Update(line, target, assignments, source, where, output, top, ctes, cursor)

    def _where_or_cursor(self) -> tuple[ast.Node | None, str]:
        if not self.accept("WHERE"):
            return None, ""
        if self.at("CURRENT") and self.peek().upper == "OF":
            self.advance()
            self.advance()
            if self.at("GLOBAL") and self.peek().kind in (NAME, QUOTED):
                self.advance()
            return None, self.variable() if self.token.kind == VARIABLE else self.name()
        return self.condition(), ""

    def _skip_option(self) -> None:
        if self.at("OPTION") and self.peek().value == "(":
            self.advance()
            self._query_options()

    def assignment(self) -> st.Assignment:
        """column = expression, @v = column = expression, column.WRITE(...) is refused"""
        line = self.token.line
        variable = ""
        if self.token.kind == VARIABLE:
            variable = self.variable()
            op = self.expect(*ASSIGNMENT_OPERATORS).value
            if op == "=" and self.is_name():
                start = self.position
                parts = self.multipart()
                if self.at(*ASSIGNMENT_OPERATORS):
                    op = self.advance().value
                    return st.Assignment(line, parts[-1], op, self._assigned(), variable)
                self.seek(start)
            return st.Assignment(line, "", op, self.expression(), variable)
        column = self.multipart()[-1]
        op = self.expect(*ASSIGNMENT_OPERATORS).value
        return st.Assignment(line, column, op, self._assigned())

    def _assigned(self) -> ast.Node | None:
        if self.accept("DEFAULT"):
            return None
        return self.expression()

    def delete(self, ctes: list[ast.Cte]) -> st.Statement:
        """DELETE [TOP] [FROM] target [OUTPUT] [FROM] [WHERE] [OPTION]"""
        line = self.expect("DELETE").line
        top = self.top_clause() if self.at("TOP") else None
        self.accept("FROM")
        target = self._target()
        target.hints = self.table_hints(written=True)
        output = self._output()
        source = self.from_clause() if self.accept("FROM") else None
        where, cursor = self._where_or_cursor()
        self._skip_option()
        return st.Delete(line, target, source, where, output, top, ctes, cursor)

    def merge(self, ctes: list[ast.Cte]) -> st.Statement:
        """MERGE [INTO] target [AS alias] USING source ON condition WHEN ... THEN ... ;"""
        line = self.expect("MERGE").line
        if self.at("TOP"):
            raise not_implemented("MERGE TOP", line)
        self.accept("INTO")
        target = self._target()
        target.hints = self.table_hints(written=True)
        target.alias = self._alias()
        self.expect("USING")
        source = self._joined()
        self.expect("ON")
        on = self.condition()
        clauses: list[st.MergeClause] = []
        while self.at("WHEN"):
            clauses.append(self._merge_clause())
        if not clauses:
            raise self.syntax_error()
        output = self._output()
        self._skip_option()
        if not self.at(";"):
            raise self.syntax_error()  # MERGE must end with a semicolon
        return st.Merge(line, target, source, on, clauses, output, ctes)

    def _merge_clause(self) -> st.MergeClause:
        line = self.expect("WHEN").line
        matched = "MATCHED"
        if self.accept("NOT"):
            matched = "NOT MATCHED"
        self.expect("MATCHED")
        if self.accept("BY") and self.expect("TARGET", "SOURCE").upper == "SOURCE":
            matched = "NOT MATCHED BY SOURCE"
        condition = self.condition() if self.accept("AND") else None
        self.expect("THEN")
        if self.accept("UPDATE"):
            self.expect("SET")
            assignments = [self.assignment()]
            while self.accept(","):
                assignments.append(self.assignment())
            return st.MergeClause(line, matched, condition, "UPDATE", assignments)
        if self.accept("DELETE"):
            return st.MergeClause(line, matched, condition, "DELETE")
        self.expect("INSERT")
        columns = self._column_list() if self.at("(") else []
        if self.accept("DEFAULT"):
            self.expect("VALUES")
            return st.MergeClause(line, matched, condition, "INSERT")
        values = self.values().rows[0]
        return st.MergeClause(line, matched, condition, "INSERT", columns=columns, values=values)

    def execute(self) -> st.Execute:
        """EXEC [@status =] procedure args | EXEC (text) [AT server]"""
        line = self.expect("EXEC", "EXECUTE").line
        if self.at("("):
            self.advance()
            text = self.expression()
            self.expect(")")
            if self.at("AT") or (self.at("AS") and self.peek().upper in ("LOGIN", "USER")):
                from aglab.tsql.messages import not_implemented

                raise not_implemented(f"EXECUTE ({self.token.upper} ...)", line)
            return st.Execute(line, (), text=text)
        if self.at("AS") and self.peek().upper in ("CALLER", "OWNER", "SELF"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented("EXECUTE AS", line)
        status = ""
        if self.token.kind == VARIABLE and self.peek().value == "=":
            status = self.variable()
            self.advance()
        if self.token.kind == VARIABLE:
            call = st.Execute(line, (), variable=self.variable(), status=status)
        else:
            while self.accept("."):  # database and schema left out: SqlBulkCopy writes ..sp_tablecollations_100
                pass
            call = st.Execute(line, self.multipart(), status=status)
        if self.accept(";"):
            if self.token.kind == 5:  # EXEC name;1 addresses a numbered procedure: only 1 exists
                self.advance()
            else:
                self.seek(self.position - 1)
        self.arguments(call)
        if self.at("WITH") and self.peek().upper in ("RECOMPILE", "RESULT"):
            self.advance()
            if self.advance().upper == "RESULT":
                from aglab.tsql.messages import not_implemented

                raise not_implemented("EXECUTE ... WITH RESULT SETS", line)
        return call

    def arguments(self, call: st.Execute) -> None:
        """The arguments of a call, positional then named."""
        if not self._starts_argument():
            return
        while True:
            name = ""
            if self.token.kind == VARIABLE and self.peek().value == "=" and self.peek().kind == OPERATOR:
                name = self.variable()
                self.advance()
            if self.accept("DEFAULT"):
                call.args.append((name, None, False))
            else:
                value = self._argument_value()
                output = self.accept("OUTPUT", "OUT")
                call.args.append((name, value, output))
            if not self.accept(","):
                return

    def _starts_argument(self) -> bool:
        token = self.token
        if token.kind in (VARIABLE, 3, 4, 5, 6, 7, 8, 9):
            return True
        if token.kind == OPERATOR:
            return token.value in ("-", "+")
        if token.kind == 1:
            return True
        return token.kind == 0 and (
            token.upper in ("NULL", "DEFAULT")
            or (self.is_name() and token.upper not in ("GO", "THROW") and not self._begins_label())
        )

    def _argument_value(self) -> ast.Node:
        """A constant, a variable, or a bare word (which T-SQL takes as text)."""
        if self.at("-", "+"):
            return self._unary()
        if self.token.kind in (0, 1) and not self.at("NULL"):
            line = self.token.line
            from aglab.core.sqltypes import nvarchar

            word = ".".join(self.multipart())
            return ast.Literal(line, word, nvarchar(max(len(word), 1)))
        return self._primary()
