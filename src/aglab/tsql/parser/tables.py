"""CREATE and ALTER TABLE and INDEX."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import NAME, NATIONAL, STRING
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.option_lists import check_options
from aglab.tsql.parser.partitions import PartitionParser


class TableParser(PartitionParser):
    """CREATE and ALTER TABLE and INDEX."""

    def _create_table(self, line: int) -> st.Statement:
        name = self.multipart()
        if self.at("AS"):
            raise not_implemented("CREATE TABLE AS (graph and file tables)", line)
        columns, constraints = self.table_elements()
        options: dict[str, Any] = {}
        while True:
            if self.at("ON", "TEXTIMAGE_ON", "FILESTREAM_ON"):
                word = self.advance().upper
                options[word] = self.storage()
            elif self.at("WITH") and self.peek().value == "(":
                self.advance()
                options.update(self.options_of("CREATE TABLE"))
            else:
                return st.CreateTable(line, name, columns, constraints, options)

    def storage(self) -> tuple[str, list[str]]:
        """ON filegroup, or ON scheme(column): the name as written and the columns."""
        if self.token.kind in (STRING, NATIONAL):
            return self.string(), []
        name = self.name() if self.is_name() else self.any_word()
        return name, self.name_list() if self.at("(") else []

    def table_elements(self) -> tuple[list[st.ColumnSpec], list[st.ConstraintSpec]]:
        """(columns and constraints)"""
        self.expect("(")
        columns: list[st.ColumnSpec] = []
        constraints: list[st.ConstraintSpec] = []
        while True:
            if self.at("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "INDEX") and not (
                self.at("INDEX") and not self.is_name(self.peek())
            ):
                constraints.append(self.table_constraint())
            elif self.at("PERIOD"):
                raise not_implemented("PERIOD FOR SYSTEM_TIME", self.token.line)
            else:
                columns.append(self.column(constraints, len(columns) + 1))
            if not self.accept(","):
                break
            if self.at(")"):
                break
        self.expect(")")
        return columns, constraints

    def column(self, constraints: list[st.ConstraintSpec], ordinal: int = 1) -> st.ColumnSpec:
        """name type [NULL] [IDENTITY] [DEFAULT] [constraints], or name AS expression"""
        line = self.token.line
        name = self.name()
        if self.accept("AS"):
            start = self.token.start
            expression = self.expression()
            text = self.text[start : self.tokens[self.position - 1].end]
            column = st.ColumnSpec(line, name, None, computed=expression, computed_text=text)
            if self.accept("PERSISTED") and self.accept("NOT"):
                self.expect("NULL")
                column.nullable = False
            return column
        if name.lower() == "timestamp" and self.at(",", ")"):
            self.seek(self.position - 1)
        column = st.ColumnSpec(line, name, self.data_type(ordinal, "column"))
        if self.user_type is not None:
            if self.user_type.is_table:
                raise error(350, name, line=line)
            column.user_type, column.nullable = self.user_type.full_name, self.user_type.nullable
        while True:
            constraint_name = ""
            if self.at("CONSTRAINT"):
                self.advance()
                constraint_name = self.name()
            if self.accept("NULL"):
                column.nullable = True
            elif self.at("NOT") and self.peek().upper == "NULL":
                self.advance()
                self.advance()
                column.nullable = False
            elif self.at("NOT") and self.peek().upper == "FOR":
                self.advance()
                self.advance()
                self.expect("REPLICATION")
            elif self.accept("IDENTITY"):
                seed, step = 1, 1
                if self.accept("("):
                    seed = self.integer()
                    self.expect(",")
                    step = self.integer()
                    self.expect(")")
                column.identity = (seed, step)
            elif self.accept("DEFAULT"):
                start = self.token.start
                column.default = self.expression()
                column.default_text = self.text[start : self.tokens[self.position - 1].end]
                column.default_name = constraint_name
                column.with_values = self.accept_sequence("WITH", "VALUES")
            elif self.accept("COLLATE"):
                column.collation = self.name()
            elif self.accept("ROWGUIDCOL"):
                column.rowguid = True
            elif self.accept("SPARSE"):
                pass
            elif self.at("PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "FOREIGN", "INDEX"):
                constraints.append(self.table_constraint(constraint_name, column.name))
            elif self.at("MASKED", "ENCRYPTED", "GENERATED", "HIDDEN", "FILESTREAM"):
                raise not_implemented(f"column option {self.token.upper}", line)
            else:
                if constraint_name:
                    raise self.syntax_error()
                return column

    def table_constraint(self, name: str = "", column: str = "") -> st.ConstraintSpec:
        """[CONSTRAINT name] PRIMARY KEY | UNIQUE | CHECK | FOREIGN KEY | INDEX"""
        line = self.token.line
        if self.accept("CONSTRAINT"):
            name = self.name()
        if self.at("PRIMARY", "UNIQUE", "INDEX"):
            return self._key_constraint(line, name, column)
        if self.accept("CHECK"):
            if self.accept("NOT"):
                self.expect("FOR")
                self.expect("REPLICATION")
            self.expect("(")
            start = self.token.start
            condition = self.condition()
            text = self.text[start : self.tokens[self.position - 1].end]
            self.expect(")")
            return st.ConstraintSpec(
                line, "CHECK", name, [(column, False)] if column else [], expression=condition, text=f"({text})"
            )
        if self.accept("DEFAULT"):
            start = self.token.start
            value = self.expression()
            text = self.text[start : self.tokens[self.position - 1].end]
            target = column
            if self.accept("FOR"):
                target = self.name()
            if self.at("WITH") and self.peek().upper == "VALUES":
                self.advance()
                self.advance()
            return st.ConstraintSpec(line, "DEFAULT", name, [(target, False)], expression=value, text=text)
        columns = [(column, False)] if column else []
        if self.accept("FOREIGN"):
            self.expect("KEY")
            if self.at("("):
                columns = [(item, False) for item in self.name_list()]
        self.expect("REFERENCES")
        constraint = st.ConstraintSpec(line, "FOREIGN KEY", name, columns, referenced=self.multipart())
        if self.at("("):
            constraint.referenced_columns = self.name_list()
        while self.at("ON", "NOT"):
            if self.accept("NOT"):
                self.expect("FOR")
                self.expect("REPLICATION")
                continue
            self.advance()
            event = self.expect("DELETE", "UPDATE").upper
            if self.accept("NO"):
                self.expect("ACTION")
                action = "NO_ACTION"
            elif self.accept("SET"):
                action = f"SET_{self.expect('NULL', 'DEFAULT').upper}"
            else:
                self.expect("CASCADE")
                action = "CASCADE"
            if event == "DELETE":
                constraint.on_delete = action
            else:
                constraint.on_update = action
        return constraint

    def _key_constraint(self, line: int, name: str, column: str) -> st.ConstraintSpec:
        if self.accept("PRIMARY"):
            self.expect("KEY")
            kind = "PRIMARY KEY"
        elif self.accept("UNIQUE"):
            kind = "UNIQUE"
        else:
            self.advance()
            kind = "INDEX"
            name = self.name()
        constraint = st.ConstraintSpec(line, kind, name, [(column, False)] if column else [])
        if kind == "INDEX":
            constraint.unique = self.accept("UNIQUE")
        if self.accept("CLUSTERED"):
            constraint.clustered = True
        elif self.accept("NONCLUSTERED"):
            constraint.clustered = False
        if self.accept("HASH"):
            constraint.clustered = False
            constraint.options["HASH"] = True
        if self.at("("):
            constraint.columns = self.index_columns()
        self._index_tail("CREATE TABLE constraint", constraint.options, constraint.included)
        return constraint

    def index_columns(self) -> list[tuple[str, bool]]:
        """(column [ASC|DESC], ...)"""
        self.expect("(")
        columns: list[tuple[str, bool]] = []
        while True:
            name = self.name()
            descending = self.accept("DESC")
            if not descending:
                self.accept("ASC")
            columns.append((name, descending))
            if not self.accept(","):
                break
        self.expect(")")
        return columns

    def _index_tail(self, statement: str, options: dict[str, Any], included: list[str]) -> ast.Node | None:
        where = None
        while True:
            if self.accept("INCLUDE"):
                included += self.name_list()
            elif self.at("WHERE"):
                self.advance()
                where = self.condition()
            elif self.at("WITH") and self.peek().value == "(":
                self.advance()
                options.update(self.options_of(statement))
            elif self.at("WITH") and self.peek().upper == "FILLFACTOR":
                line = self.advance().line
                self.advance()
                self.expect("=")
                options["FILLFACTOR"] = self.integer()
                check_options(statement, {"FILLFACTOR": options["FILLFACTOR"]}, line)
            elif self.at("ON") and self.peek().kind in (NAME, 1) and self.peek().upper not in ("DELETE", "UPDATE"):
                self.advance()
                options["ON"] = self.storage()
            else:
                return where

    def _create_index(self, line: int) -> st.Statement:
        unique = self.accept("UNIQUE")
        clustered = self.accept("CLUSTERED")
        if not clustered:
            self.accept("NONCLUSTERED")
        if self.at("COLUMNSTORE"):
            raise not_implemented("columnstore indexes", line)
        self.expect("INDEX")
        name = self.name()
        self.expect("ON")
        table = self.multipart()
        index = st.CreateIndex(line, name, table, self.index_columns(), unique, clustered)
        index.where = self._index_tail("CREATE INDEX", index.options, index.included)
        return index

    def _alter_table(self, line: int) -> st.Statement:
        table = st.AlterTable(line, self.multipart(), "")
        checked = False
        if self.at("WITH") and self.peek().upper in ("CHECK", "NOCHECK"):
            self.advance()
            checked = True
            table.options["CHECK"] = self.advance().upper == "CHECK"
        if self.accept("ADD"):
            table.action = "ADD"
            while True:
                if self.at("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "DEFAULT"):
                    table.constraints.append(self.table_constraint())
                else:
                    table.columns.append(self.column(table.constraints))
                if not self.accept(","):
                    return table
        if self.at("CHECK", "NOCHECK") and (checked or self.peek().upper == "CONSTRAINT"):
            table.action = self.advance().upper
            self.expect("CONSTRAINT")
            if self.accept("ALL"):
                table.names = ["ALL"]
                return table
            table.names = [self.name()]
            while self.accept(","):
                table.names.append(self.name())
            return table
        if self.accept("DROP"):
            if self.accept("COLUMN"):
                table.action = "DROP COLUMN"
            else:
                self.accept("CONSTRAINT")
                table.action = "DROP CONSTRAINT"
            table.if_exists = self.accept_sequence("IF", "EXISTS")
            table.names = [self.name()]
            while self.accept(","):
                self.accept("COLUMN", "CONSTRAINT")
                table.names.append(self.name())
            if self.at("WITH") and self.peek().value == "(":
                self.advance()
                self.options_of("DROP INDEX")
            return table
        if self.at("ALTER") and self.peek().upper == "COLUMN":
            self.advance()
            self.advance()
            table.action = "ALTER COLUMN"
            table.columns.append(self.column(table.constraints))
            return table
        if self.accept("REBUILD"):
            table.action = "REBUILD"
            if self.accept("PARTITION"):
                self.expect("=")
                if not self.accept("ALL"):
                    raise not_implemented("ALTER TABLE ... REBUILD PARTITION = n", line)
            if self.at("WITH"):
                self.advance()
                table.options.update(self.options_of("ALTER TABLE REBUILD"))
            return table
        if self.accept("SWITCH"):
            return self.switch(table)
        if self.at("SET", "ENABLE", "DISABLE"):
            raise not_implemented(f"ALTER TABLE ... {self.token.upper}", line)
        raise self.syntax_error()

    def _alter_index(self, line: int) -> st.Statement:
        name = self.any_word() if self.at("ALL") else self.name()
        self.expect("ON")
        index = st.AlterIndex(line, name, self.multipart(), "")
        index.action = self.expect("REBUILD", "REORGANIZE", "DISABLE", "PAUSE", "RESUME", "ABORT", "SET").upper
        if self.accept("PARTITION"):
            self.expect("=")
            index.options["PARTITION"] = self.any_word() if self.at("ALL") else self.expression()
        if index.action == "SET":
            index.options.update(self.options_of("ALTER INDEX SET"))
        elif index.action in ("REBUILD", "REORGANIZE", "RESUME") and self.at("WITH") and self.peek().value == "(":
            self.advance()
            single = index.action == "REBUILD" and index.options.get("PARTITION", "ALL") != "ALL"
            index.options.update(self.options_of(f"ALTER INDEX {index.action}{' PARTITION' if single else ''}"))
        return index
