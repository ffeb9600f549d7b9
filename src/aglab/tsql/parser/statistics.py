"""CREATE and UPDATE STATISTICS."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import STATEMENT_WORDS
from aglab.tsql.parser.option_lists import check_options
from aglab.tsql.parser.queries import QueryParser


class StatisticsParser(QueryParser):
    """Reads statements on statistics."""

    def create_statistics(self, line: int) -> st.Statement:
        """CREATE STATISTICS name ON table (column, ...) [WHERE filter] [WITH ...]"""
        name = self.name()
        self.expect("ON")
        table = self.multipart()
        columns = self.name_list()
        text = None
        if self.accept("WHERE"):
            start = self.token.start
            self.condition()
            text = self.text[start : self.tokens[self.position - 1].end]
        options = self._statistics_options("CREATE STATISTICS", line)
        content = {"TABLE": table, "COLUMNS": columns, "FILTER": text, **options}
        return st.AdminStatement(line, "CREATE STATISTICS", name, content)

    def update_statistics(self, line: int) -> st.Statement:
        """UPDATE STATISTICS table [name | (name, ...)] [WITH FULLSCAN | SAMPLE n PERCENT | ... , ...]"""
        self.expect("STATISTICS")
        name = self.multipart()
        wanted: list[str] = []
        if self.at("("):
            wanted = self.name_list()
        elif self.is_name() and self.token.upper not in STATEMENT_WORDS:
            wanted = [self.name()]
        options = self._statistics_options("UPDATE STATISTICS", line)
        return st.AdminStatement(line, "UPDATE STATISTICS", ".".join(name), {"NAME": name, "WANTED": wanted, **options})

    def _statistics_options(self, statement: str, line: int) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.accept("WITH"):
            while True:
                word = self.any_word()
                if self.accept("="):
                    options[word] = self._option_scalar()
                elif word == "SAMPLE":
                    options[word] = self.integer()
                    self.expect("PERCENT", "ROWS")
                else:
                    options[word] = True
                if not self.accept(","):
                    break
        check_options(statement, options, line)
        return options
