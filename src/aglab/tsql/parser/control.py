"""Control of flow, errors and transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import END, NATIONAL, STRING, VARIABLE, Token
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.tables import TableParser


class ControlParser(TableParser):
    """Reads BEGIN, IF, WHILE, TRY, THROW, WAITFOR and what begins and ends transactions."""

    loops = 0  # WHILE loops around the current statement
    jumps: list[Token]  # the names that GOTO says

    if TYPE_CHECKING:

        def statements_until(self, *words: str) -> list[st.Statement]: ...
        def statement(self) -> st.Statement: ...

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
        self.loops += 1
        body = self._branch()
        self.loops -= 1
        return st.While(line, condition, body)

    def _do_break(self, line: int) -> st.Statement:
        self.advance()
        if not self.loops:
            raise error(135, line=line)
        return st.Break(line)

    def _do_continue(self, line: int) -> st.Statement:
        self.advance()
        if not self.loops:
            raise error(136, line=line)
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
        self.jumps.append(self.token)
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
        text = self.expression()
        if isinstance(text, ast.Subquery):
            raise error(1046, line=line)
        return st.Print(line, text)

    def _do_waitfor(self, line: int) -> st.Statement:
        self.advance()
        if self.at("("):
            raise not_implemented("WAITFOR (RECEIVE ...)", line)
        kind = self.expect("DELAY", "TIME").upper
        if self.token.kind in (STRING, NATIONAL, VARIABLE):
            return st.WaitFor(line, kind, self._primary())
        raise self.syntax_error()

    def _do_use(self, line: int) -> st.Statement:
        self.advance()
        name = self.name()
        if self.types is not None:
            self.types.use(name)
        return st.Use(line, name)

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
