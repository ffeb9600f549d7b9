"""Batches: control of flow, variables, SET, transactions, and the dispatch to every other statement."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import END, NAME, NATIONAL, OPERATOR, STRING, VARIABLE
from aglab.tsql.messages import error
from aglab.tsql.parser.admin import AdminParser
from aglab.tsql.parser.ddl import DdlParser
from aglab.tsql.parser.dml import ASSIGNMENT_OPERATORS

ON_OFF_OPTIONS = frozenset(
    """ANSI_DEFAULTS ANSI_NULLS ANSI_NULL_DFLT_OFF ANSI_NULL_DFLT_ON ANSI_PADDING ANSI_WARNINGS ARITHABORT ARITHIGNORE
    CONCAT_NULL_YIELDS_NULL CURSOR_CLOSE_ON_COMMIT FIPS_FLAGGER FMTONLY FORCEPLAN IMPLICIT_TRANSACTIONS NOCOUNT NOEXEC
    NUMERIC_ROUNDABORT PARSEONLY QUOTED_IDENTIFIER REMOTE_PROC_TRANSACTIONS SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML
    XACT_ABORT NO_BROWSETABLE""".split()
)
CURSOR_OPTIONS = tuple(
    "LOCAL GLOBAL FORWARD_ONLY SCROLL STATIC KEYSET DYNAMIC FAST_FORWARD READ_ONLY SCROLL_LOCKS OPTIMISTIC TYPE_WARNING".split()
)
VALUE_OPTIONS = frozenset(
    """DATEFIRST DATEFORMAT DEADLOCK_PRIORITY LANGUAGE LOCK_TIMEOUT QUERY_GOVERNOR_COST_LIMIT ROWCOUNT TEXTSIZE
    CONTEXT_INFO""".split()
)


class Parser(AdminParser, DdlParser):
    """Reads a whole batch."""

    def batch(self) -> list[st.Statement]:
        """All statements of the text. A first word that is no statement calls a procedure, as in T-SQL."""
        statements: list[st.Statement] = []
        first = True
        while True:
            while self.accept(";"):
                pass
            if self.token.kind == END:
                return statements
            if first and self._bare_call():
                line, start = self.token.line, self.token.start
                call = st.Execute(line, self.multipart())
                self.arguments(call)
                call.start, call.end = start, self.tokens[self.position - 1].end
                statements.append(call)
            else:
                statements.append(self.statement())
            first = False

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
            return st.Label(token.line, token.value)
        raise self.syntax_error()

    # --- queries and data ---------------------------------------------------------------------------------------------------

    def _do_select(self, line: int) -> st.Statement:
        return st.QueryStatement(line, self.query(nested=False))

    def _do_with(self, line: int) -> st.Statement:
        if self.peek().upper == "XMLNAMESPACES":
            from aglab.tsql.messages import not_implemented

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

    def _do_truncate(self, line: int) -> st.Statement:
        self.advance()
        self.expect("TABLE")
        truncate = st.Truncate(line, self.multipart())
        if self.at("WITH") and self.peek().value == "(":
            self.advance()
            truncate.partitions = self.partition_ranges()
        return truncate

    # --- control of flow ----------------------------------------------------------------------------------------------------

    def _do_begin(self, line: int) -> st.Statement:
        self.advance()
        if self.at("TRAN", "TRANSACTION") or self.at("DISTRIBUTED"):
            self.accept("DISTRIBUTED")
            self.advance()
            return self._transaction(line, "BEGIN")
        if self.accept("TRY"):
            body = self.statements_until("END")
            self.expect("END")
            self.expect("TRY")
            self.accept(";")
            self.expect("BEGIN")
            self.expect("CATCH")
            handler = self.statements_until("END")
            self.expect("END")
            self.expect("CATCH")
            return st.TryCatch(line, body, handler)
        if self.at("DIALOG", "CONVERSATION"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented("Service Broker (BEGIN DIALOG)", line)
        if self.at("ATOMIC"):
            raise self.syntax_error()
        body = self.statements_until("END")
        if not body:
            raise self.syntax_error()
        self.expect("END")
        return st.Block(line, body)

    def _do_if(self, line: int) -> st.Statement:
        self.advance()
        condition = self.condition()
        then = self._branch()
        otherwise = None
        if self.accept("ELSE"):
            otherwise = self._branch()
        return st.If(line, condition, then, otherwise)

    def _branch(self) -> st.Statement:
        if self.token.kind == END or self.at(";"):
            raise self.syntax_error()
        return self.statement()

    def _do_while(self, line: int) -> st.Statement:
        self.advance()
        condition = self.condition()
        return st.While(line, condition, self._branch())

    def _do_break(self, line: int) -> st.Statement:
        self.advance()
        return st.Break(line)

    def _do_continue(self, line: int) -> st.Statement:
        self.advance()
        return st.Continue(line)

    def _do_return(self, line: int) -> st.Statement:
        self.advance()
        value = None
        if (
            self.token.kind in (VARIABLE, 3, 4, 5, 6, 7, 8, 9)
            or self.at("(", "-", "+", "NULL", "CASE", "CONVERT", "COALESCE", "NULLIF", "LEFT", "RIGHT")
            or (self.is_name() and self.peek().value in ("(", "."))
        ):
            value = self.expression()
        return st.Return(line, value)

    def _do_goto(self, line: int) -> st.Statement:
        self.advance()
        return st.Goto(line, self.name())

    def _do_throw(self, line: int) -> st.Statement:
        self.advance()
        if self.at(";", "END") or self.token.kind == END:
            return st.Throw(line, None, None, None)
        number = self._primary()
        self.expect(",")
        text = self._primary()
        self.expect(",")
        return st.Throw(line, number, text, self._primary())

    def _do_raiserror(self, line: int) -> st.Statement:
        self.advance()
        self.expect("(")
        message = self.expression()
        self.expect(",")
        severity = self.expression()
        self.expect(",")
        state = self.expression()
        args: list[ast.Node] = []
        while self.accept(","):
            args.append(self.expression())
        self.expect(")")
        options: set[str] = set()
        if self.at("WITH"):
            self.advance()
            options.add(self.expect("LOG", "NOWAIT", "SETERROR").upper)
            while self.accept(","):
                options.add(self.expect("LOG", "NOWAIT", "SETERROR").upper)
        return st.RaisError(line, message, severity, state, args, options)

    def _do_print(self, line: int) -> st.Statement:
        self.advance()
        return st.Print(line, self.expression())

    def _do_waitfor(self, line: int) -> st.Statement:
        self.advance()
        if self.at("("):
            from aglab.tsql.messages import not_implemented

            raise not_implemented("WAITFOR (RECEIVE ...)", line)
        kind = self.expect("DELAY", "TIME").upper
        if self.token.kind in (STRING, NATIONAL, VARIABLE):
            return st.WaitFor(line, kind, self._primary())
        raise self.syntax_error()

    def _do_use(self, line: int) -> st.Statement:
        self.advance()
        return st.Use(line, self.name())

    # --- variables and SET --------------------------------------------------------------------------------------------------

    def _do_declare(self, line: int) -> st.Statement:
        self.advance()
        if self.is_name() or (self.token.kind == VARIABLE and self.peek().upper == "CURSOR"):
            return self.declare_cursor(line)
        start = self.position
        name = self.variable()
        self.accept("AS")
        if self.accept("TABLE"):
            columns, constraints = self.table_elements()
            return st.DeclareTable(line, name, columns, constraints)
        self.seek(start)
        items: list[tuple[str, Any, ast.Node | None]] = []
        while True:
            if self.token.kind != VARIABLE or self.token.value.startswith("@@"):
                raise self.syntax_error()
            name = self.variable()
            self.accept("AS")
            if self.at("TABLE"):
                raise self.syntax_error()
            sql_type = self.data_type(len(items) + 1)
            if sql_type.name in ("text", "ntext", "image"):
                raise error(2739, line=line)
            items.append((name, sql_type, self.expression() if self.accept("=") else None))
            if not self.accept(","):
                return st.Declare(line, items)

    def _do_set(self, line: int) -> st.Statement:
        self.advance()
        if self.token.kind == VARIABLE:
            name = self.variable()
            if self.at("."):
                raise self.syntax_error()
            op = self.expect(*ASSIGNMENT_OPERATORS).value
            if self.at("CURSOR"):
                from aglab.tsql.messages import not_implemented

                raise not_implemented("cursor variables (SET @c = CURSOR)", line)
            return st.SetVariable(line, name, op, self.expression())
        if self.accept("TRANSACTION"):
            self.expect("ISOLATION")
            self.expect("LEVEL")
            words = [self.any_word()]
            if words[0] in ("READ", "REPEATABLE"):
                words.append(self.expect("UNCOMMITTED", "COMMITTED", "READ").upper)
            return st.SetIsolation(line, " ".join(words))
        if self.accept("IDENTITY_INSERT"):
            table = self.multipart()
            return st.IdentityInsert(line, table, self.expect("ON", "OFF").upper == "ON")
        if self.accept("STATISTICS"):
            names = [f"STATISTICS {self.expect('IO', 'TIME', 'XML', 'PROFILE').upper}"]
            while self.accept(","):
                names.append(f"STATISTICS {self.expect('IO', 'TIME', 'XML', 'PROFILE').upper}")
            return st.SetOption(line, names, self.expect("ON", "OFF").upper == "ON")
        token = self.token
        word = self.any_word()
        if word in ON_OFF_OPTIONS:
            names = [word]
            while self.accept(","):
                names.append(self.any_word())
                if names[-1] not in ON_OFF_OPTIONS:
                    raise error(195, self.tokens[self.position - 1].value, "SET option", line=line, state=5)
            return st.SetOption(line, names, self.expect("ON", "OFF").upper == "ON")
        if word in VALUE_OPTIONS:
            return st.SetOption(line, [word], self._set_value())
        if word == "OFFSETS":
            from aglab.tsql.messages import not_implemented

            raise not_implemented("SET OFFSETS", line)
        raise error(195, token.value, "SET option", line=line, state=5)

    def _set_value(self) -> Any:
        if self.token.kind == NAME and self.token.upper in ("LOW", "NORMAL", "HIGH", "MDY", "DMY", "YMD", "YDM", "MYD", "DYM"):
            return self.advance().upper
        if self.is_name():
            return self.advance().value
        return self.expression()

    # --- transactions -------------------------------------------------------------------------------------------------------

    def _transaction(self, line: int, kind: str) -> st.Statement:
        statement = st.TransactionStatement(line, kind)
        if self.token.kind == VARIABLE:
            statement.variable = self.variable()
        elif self.is_name() and not self._begins_label() and not self.at("THROW"):
            statement.name = self.name()
        if kind == "BEGIN" and self.at("WITH") and self.peek().upper == "MARK":
            self.advance()
            self.advance()
            said = self.advance().value if self.token.kind in (STRING, NATIONAL) else ""
            statement.options["MARK"] = said
        elif kind == "COMMIT" and self.at("WITH") and self.peek().value == "(":
            self.advance()
            statement.options.update(self.options_of("COMMIT"))
        return statement

    def _do_commit(self, line: int) -> st.Statement:
        self.advance()
        if self.accept("WORK"):
            return st.TransactionStatement(line, "COMMIT")
        if self.accept("TRAN", "TRANSACTION"):
            return self._transaction(line, "COMMIT")
        if self.at("WITH") and self.peek().value == "(":
            return self._transaction(line, "COMMIT")
        return st.TransactionStatement(line, "COMMIT")

    def _do_rollback(self, line: int) -> st.Statement:
        self.advance()
        if self.accept("WORK"):
            return st.TransactionStatement(line, "ROLLBACK")
        if self.accept("TRAN", "TRANSACTION"):
            return self._transaction(line, "ROLLBACK")
        return st.TransactionStatement(line, "ROLLBACK")

    def _do_save(self, line: int) -> st.Statement:
        self.advance()
        self.expect("TRAN", "TRANSACTION")
        return self._transaction(line, "SAVE")

    # --- cursors ------------------------------------------------------------------------------------------------------------

    def declare_cursor(self, line: int) -> st.Statement:
        """DECLARE name [INSENSITIVE] [SCROLL] CURSOR [options] FOR query"""
        if self.token.kind == VARIABLE:
            from aglab.tsql.messages import not_implemented

            raise not_implemented("cursor variables (DECLARE @c CURSOR)", line)
        name = self.name()
        options: set[str] = set()
        while self.at("INSENSITIVE", "SCROLL"):
            options.add(self.advance().upper)
        self.expect("CURSOR")
        while not self.at("FOR"):
            options.add(self.expect(*CURSOR_OPTIONS).upper)
        self.expect("FOR")
        query = self.query(nested=False)
        if self.accept("FOR"):
            self.expect("READ", "UPDATE")
            if self.accept("ONLY", "OF"):
                while self.is_name():
                    self.name()
                    self.accept(",")
        return st.DeclareCursor(line, name, query, options)

    def _cursor_name(self) -> str:
        self.accept("GLOBAL")
        return self.variable() if self.token.kind == VARIABLE else self.name()

    def _do_open(self, line: int) -> st.Statement:
        self.advance()
        if self.at("SYMMETRIC", "MASTER"):
            from aglab.tsql.messages import not_implemented

            raise not_implemented(f"OPEN {self.token.upper} KEY", line)
        return st.CursorStatement(line, "OPEN", self._cursor_name())

    def _do_close(self, line: int) -> st.Statement:
        self.advance()
        return st.CursorStatement(line, "CLOSE", self._cursor_name())

    def _do_deallocate(self, line: int) -> st.Statement:
        self.advance()
        return st.CursorStatement(line, "DEALLOCATE", self._cursor_name())

    def _do_fetch(self, line: int) -> st.Statement:
        self.advance()
        statement = st.CursorStatement(line, "FETCH", "")
        if self.at("NEXT", "PRIOR", "FIRST", "LAST"):
            statement.direction = self.advance().upper
            self.expect("FROM")
        elif self.at("ABSOLUTE", "RELATIVE"):
            statement.direction = self.advance().upper
            statement.offset = self._unary()
            self.expect("FROM")
        else:
            self.accept("FROM")
        statement.name = self._cursor_name()
        if self.accept("INTO"):
            statement.into.append(self.variable())
            while self.accept(","):
                statement.into.append(self.variable())
        return statement


def parse_batch(text: str) -> list[st.Statement]:
    """The statements of a batch. Raises TsqlError (102, 156, ...) at the first thing that is not T-SQL.

    >>> [type(s).__name__ for s in parse_batch("set nocount on select 1 print 'x'")]
    ['SetOption', 'QueryStatement', 'Print']
    """
    try:
        return Parser(text).batch()
    except RecursionError:
        raise error(191, line=1) from None
