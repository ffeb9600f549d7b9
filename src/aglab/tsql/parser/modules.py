"""CREATE and ALTER PROCEDURE, FUNCTION, VIEW."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql import ast_statements as st
from aglab.tsql.lexer import END, VARIABLE
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.tables import TableParser

MODULE_OPTIONS = {  # after WITH, by kind; what none of the executor's rules reads is on the page as driving nothing
    "PROCEDURE": frozenset({"ENCRYPTION", "RECOMPILE", "EXECUTE", "EXEC", "NATIVE_COMPILATION", "SCHEMABINDING"}),
    "FUNCTION": frozenset(
        {"ENCRYPTION", "SCHEMABINDING", "RETURNS", "CALLED", "EXECUTE", "EXEC", "INLINE", "NATIVE_COMPILATION"}
    ),
    "VIEW": frozenset({"ENCRYPTION", "SCHEMABINDING", "VIEW_METADATA"}),
}


class ModuleParser(TableParser):
    """CREATE and ALTER PROCEDURE, FUNCTION, VIEW."""

    if TYPE_CHECKING:

        def statements_until(self, *words: str) -> list[st.Statement]: ...
        def statement(self) -> st.Statement: ...
        def _may_follow(self, statements: list[st.Statement]) -> None: ...

    def _module(self, line: int, action: str, start: int) -> st.Statement:
        if self.depth > 1:  # inside IF, BEGIN or another module
            raise self.syntax_error()
        kind = self.advance().upper
        kind = "PROCEDURE" if kind == "PROC" else kind
        name = self.multipart()
        if kind == "TRIGGER":
            raise not_implemented("triggers (CREATE TRIGGER)", line)
        module = st.CreateModule(line, kind, action, name, [], [])
        if kind == "VIEW":
            self._view(module)
        else:
            self._parameters(module)
            if kind == "FUNCTION":
                self._function(module)
            else:
                self._module_options(module)
                if self.at("FOR"):
                    self.advance()
                    self.expect("REPLICATION")
                self.expect("AS")
                module.body = self._body_to_end(module)
        module.text = self.text[start:].rstrip()
        return module

    def _parameters(self, module: st.CreateModule) -> None:
        parenthesis = self.accept("(")
        while self.token.kind == VARIABLE:
            line = self.token.line
            name = self.variable()
            self.accept("AS")
            parameter = st.Parameter(line, name, self.data_type(len(module.parameters) + 1, "parameter"))
            if self.user_type is not None:
                parameter.user_type = self.user_type.full_name
                parameter.table = self.user_type if self.user_type.is_table else None
            if parameter.table is not None:
                self._table_parameter(module, parameter)
                if self.accept(","):
                    continue
                break
            self.accept("VARYING")
            if self.at("NOT") and self.peek().upper == "NULL":
                self.advance()
                self.advance()
            else:
                self.accept("NULL")
            if self.accept("="):
                parameter.default = self._argument_value()
            while self.at("OUTPUT", "OUT", "READONLY"):
                if self.advance().upper == "READONLY":
                    raise error(346, name, line=line)
                parameter.output = True
            module.parameters.append(parameter)
            if not self.accept(","):
                break
        if parenthesis:
            self.expect(")")

    def _table_parameter(self, module: st.CreateModule, parameter: st.Parameter) -> None:
        """READONLY, and nothing else. Error 352."""
        if module.kind != "PROCEDURE":
            raise not_implemented("table-valued parameters of functions", parameter.line)
        if self.at("=", "OUTPUT", "OUT"):
            raise self.syntax_error()
        if not self.accept("READONLY"):
            raise error(352, parameter.name, line=parameter.line)
        parameter.readonly = True
        self.readonly.add(parameter.name.lower())
        module.parameters.append(parameter)

    def _module_options(self, module: st.CreateModule) -> None:
        if not self.accept("WITH"):
            return
        while True:
            token = self.token
            words = [self.any_word()]
            if words[0] not in MODULE_OPTIONS[module.kind]:
                raise error(155, token.value, f"{module.action} {module.kind}", line=token.line, state=1)
            if words[0] in ("EXECUTE", "EXEC"):
                self.expect("AS")
                if self.token.kind in (3, 4):
                    self.advance()
                else:
                    self.any_word()
            elif words[0] == "RETURNS" or words[0] == "CALLED":
                while not self.at("INPUT"):
                    self.any_word()
                self.advance()
            module.options.add(words[0])
            if not self.accept(","):
                return

    def _function(self, module: st.CreateModule) -> None:
        self.expect("RETURNS")
        if self.token.kind == VARIABLE:
            name = self.variable()
            self.expect("TABLE")
            columns, _ = self.table_elements()
            module.returns_table = (name, columns)
        elif self.accept("TABLE"):
            self._module_options(module)
            self.accept("AS")
            self.expect("RETURN")
            parenthesis = self.accept("(")
            module.returns_query = self.query(nested=True)
            if parenthesis:
                self.expect(")")
            return
        else:
            module.returns = self.data_type()
        self._module_options(module)
        self.accept("AS")
        module.body = self._body_to_end(module)

    def _view(self, module: st.CreateModule) -> None:
        if self.at("("):
            module.columns = self.name_list()
        self._module_options(module)
        self.expect("AS")
        module.returns_query = self.query(nested=True)
        if self.at("WITH") and self.peek().upper == "CHECK":
            self.advance()
            self.advance()
            self.expect("OPTION")

    def _body_to_end(self, module: st.CreateModule) -> list[st.Statement]:
        if self.at("EXTERNAL"):
            raise not_implemented("CLR modules (EXTERNAL NAME)", self.token.line)
        if self.at("BEGIN") and self.peek().upper == "ATOMIC":
            self.advance()
            self.advance()
            self.expect("WITH")
            module.atomic = self.options_of("BEGIN ATOMIC")
            body = self.statements_until("END")
            self.expect("END")
            return body
        body = []
        while self.token.kind != END:
            if self.accept(";"):
                continue
            self._may_follow(body)
            body.append(self.statement())
        if not body and module.kind == "FUNCTION":
            raise self.syntax_error()
        return body
