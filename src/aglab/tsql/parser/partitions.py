"""Partition functions and schemes, SWITCH, and the PARTITIONS of TRUNCATE TABLE."""

from __future__ import annotations

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NATIONAL, STRING
from aglab.tsql.parser.dml import DmlParser


class PartitionParser(DmlParser):
    """Reads what cuts tables into partitions."""

    def create_partitioning(self, line: int) -> st.Statement:
        """CREATE PARTITION FUNCTION | SCHEME; the cursor stands at PARTITION."""
        self.advance()
        kind = self.expect("FUNCTION", "SCHEME").upper
        statement = st.Partitioning(line, "CREATE", kind, self.name())
        if kind == "FUNCTION":
            self.expect("(")
            statement.type = self.data_type(1)
            self.expect(")")
            self.expect("AS")
            self.expect("RANGE")
            statement.right = self.accept("RIGHT")
            if not statement.right:
                self.accept("LEFT")
            self.expect("FOR")
            self.expect("VALUES")
            self.expect("(")
            while not self.at(")"):
                statement.values.append(self.expression())
                if not self.accept(","):
                    break
            self.expect(")")
            return statement
        self.expect("AS")
        self.expect("PARTITION")
        statement.function = self.name()
        statement.all = self.accept("ALL")
        self.expect("TO")
        self.expect("(")
        statement.filegroups.append(self._filegroup())
        while self.accept(","):
            statement.filegroups.append(self._filegroup())
        self.expect(")")
        return statement

    def _filegroup(self) -> str:
        if self.token.kind in (STRING, NATIONAL):
            return self.string()
        return self.name() if self.is_name() else self.any_word()

    def alter_partitioning(self, line: int) -> st.Statement:
        """ALTER PARTITION FUNCTION name() SPLIT | MERGE RANGE (value), ALTER PARTITION SCHEME name NEXT USED [filegroup]."""
        self.advance()
        kind = self.expect("FUNCTION", "SCHEME").upper
        name = self.name()
        if kind == "SCHEME":
            self.expect("NEXT")
            self.expect("USED")
            statement = st.Partitioning(line, "NEXT USED", kind, name)
            if self.is_name() or self.token.kind in (STRING, NATIONAL) or self.at("PRIMARY", "DEFAULT"):
                statement.filegroups.append(self._filegroup())
            return statement
        self.expect("(")
        self.expect(")")
        statement = st.Partitioning(line, self.expect("SPLIT", "MERGE").upper, kind, name)
        self.expect("RANGE")
        if self.accept("("):
            statement.values.append(self.expression())
            self.expect(")")
        return statement

    def drop_partitioning(self, line: int) -> st.Statement:
        """DROP PARTITION FUNCTION | SCHEME name."""
        self.advance()
        kind = self.expect("FUNCTION", "SCHEME").upper
        return st.Partitioning(line, "DROP", kind, self.name())

    def switch(self, table: st.AlterTable) -> st.Statement:
        """SWITCH [PARTITION n] TO table [PARTITION m]."""
        table.action = "SWITCH"
        if self.accept("PARTITION"):
            table.options["SOURCE"] = self.expression()
        self.expect("TO")
        table.options["TARGET"] = self.multipart()
        if self.accept("PARTITION"):
            table.options["PARTITION"] = self.expression()
        if self.at("WITH") and self.peek().value == "(":  # WAIT_AT_LOW_PRIORITY: nothing here waits for such locks
            self.advance()
            self.options_of("ALTER TABLE SWITCH")
        return table

    def partition_ranges(self) -> list[tuple[ast.Node, ast.Node | None]]:
        """WITH (PARTITIONS (n, n TO m, ...))"""
        ranges: list[tuple[ast.Node, ast.Node | None]] = []
        self.expect("(")
        self.expect("PARTITIONS")
        self.expect("(")
        while True:
            first = self.expression()
            ranges.append((first, self.expression() if self.accept("TO") else None))
            if not self.accept(","):
                break
        self.expect(")")
        self.expect(")")
        return ranges
