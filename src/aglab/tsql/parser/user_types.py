"""CREATE TYPE."""

from __future__ import annotations

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME
from aglab.tsql.messages import not_implemented
from aglab.tsql.parser.tables import TableParser
from aglab.tsql.store.user_types import UserType


class TypeParser(TableParser):
    """Reads definitions of types."""

    def create_type(self, line: int) -> st.Statement:
        """name FROM type [NULL | NOT NULL] | name AS TABLE (columns and constraints) [WITH (MEMORY_OPTIMIZED = ON)]"""
        made = st.CreateType(line, self.multipart(), None)
        if self.accept("FROM"):
            made.base = self.data_type()
            if self.accept("NOT"):
                self.expect("NULL")
                made.nullable = False
            else:
                self.accept("NULL")
        elif self.at("EXTERNAL"):
            raise not_implemented("CLR types (CREATE TYPE ... EXTERNAL NAME)", line)
        else:
            self.expect("AS")
            self.expect("TABLE")
            self._table_type(made)
        if self.types is not None:
            schema = made.name[-2] if len(made.name) > 1 else "dbo"
            self.types.add(UserType(0, schema, made.name[-1], made.base, made.nullable))
        return made

    def _table_type(self, made: st.CreateType) -> None:
        """Constraints of a table type have no names, and none of them is a FOREIGN KEY ("CREATE TYPE"): a syntax error here."""
        start = self.position
        made.columns, made.constraints = self.table_elements()
        end = self.position
        for position in range(start, end):
            if self.tokens[position].kind == NAME and self.tokens[position].upper in ("CONSTRAINT", "FOREIGN", "REFERENCES"):
                self.seek(position)
                raise self.syntax_error()
        if self.at("WITH") and self.peek().value == "(":
            self.advance()
            made.options = self.options_of("CREATE TYPE")
