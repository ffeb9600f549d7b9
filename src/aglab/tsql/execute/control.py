"""Control of flow, variables, messages, WAITFOR, USE."""

from __future__ import annotations

import datetime
import re
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.dates import BadDate, parse
from aglab.tsql.effects import Done, EnvChange, Message, Wait
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.messages_format import format_message
from aglab.tsql.execute.set_options import SetMixin
from aglab.tsql.execute.transaction_statements import TransactionMixin
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.messages_table import MESSAGES

TEXT = nvarchar()
ROUNDS_A_TURN = 100  # rounds of a loop before other sessions get a turn
# Accepted and kept without effect: the twin's answers do not depend on them. Named on the page of what the twin knows.


class ControlMixin(SetMixin, TransactionMixin):
    """Statements that steer."""

    def run_statements(self, body: list[st.Statement]) -> Effects[Any]:
        raise NotImplementedError
        yield

    def run_statement(self, statement: st.Statement) -> Effects[Any]:
        raise NotImplementedError
        yield

    # --- flow ---------------------------------------------------------------------------------------------------------------

    def _block(self, s: st.Block) -> Effects[Any]:
        return (yield from self.run_statements(s.body))

    def _if(self, s: st.If) -> Effects[Any]:
        chosen = yield from self.test(s, s.condition)
        self.session.row_count = 0
        if chosen:
            return (yield from self.run_statement(s.then))
        if s.otherwise is not None:
            return (yield from self.run_statement(s.otherwise))
        return None

    def _while(self, s: st.While) -> Effects[Any]:
        self.interpreter.loop_depth += 1
        rounds = 0
        try:
            while (yield from self.test(s, s.condition)):
                self.runtime.moment = None
                self.session.row_count = 0
                self.interpreter.step()
                rounds += 1
                if rounds % ROUNDS_A_TURN == 0:
                    yield Wait("time", self.runtime.host.now_s())  # takes no time: others get a turn, an attention gets through
                signal = yield from self.run_statement(s.body)
                if signal is None or signal[0] == "continue":
                    continue
                if signal[0] == "break":
                    break
                return signal
        finally:
            self.interpreter.loop_depth -= 1
        return None

    def _break(self, s: st.Break) -> Effects[Any]:
        return ("break",)
        yield

    def _continue(self, s: st.Continue) -> Effects[Any]:
        return ("continue",)
        yield

    def _return(self, s: st.Return) -> Effects[Any]:
        value = None
        if s.value is not None:
            returns = getattr(self, "returns", None)
            if not self.in_procedure and returns is None:
                raise error(178, line=s.line)
            value = yield from self.evaluate(s, s.value, returns or INT)
        return ("return", value)

    def _goto(self, s: st.Goto) -> Effects[Any]:
        return ("goto", s.label.lower())
        yield

    def _label(self, s: st.Label) -> Effects[Any]:
        return None
        yield

    def _trycatch(self, s: st.TryCatch) -> Effects[Any]:
        interpreter = self.interpreter
        interpreter.try_depth += 1
        try:
            signal = yield from self.run_statements(s.body)
            interpreter.try_depth -= 1
            return signal
        except TsqlError as problem:
            interpreter.try_depth -= 1
            if getattr(problem, "compile_scope", None) is self or problem.severity >= 20 or problem.severity <= 10:
                raise
            self._doom(problem)
            self.session.error = problem.number
            self.runtime.catching.append(problem)
        except BaseException:
            interpreter.try_depth -= 1
            raise
        try:
            return (yield from self.run_statements(s.handler))
        finally:
            self.runtime.catching.pop()

    def _doom(self, problem: TsqlError) -> None:
        transaction = self.session.transaction
        if (
            transaction is not None
            and self.session.trancount
            and (problem.dooms or problem.aborts_batch or self.session.options.xact_abort)
            and not getattr(problem, "raised_by_user", False)
        ):
            transaction.doomed = True

    def _throw(self, s: st.Throw) -> Effects[Any]:
        if s.number is None:
            if not self.runtime.catching:
                raise error(10704, line=s.line)
            caught = self.runtime.catching[-1]
            problem = TsqlError(caught.number, caught.severity, caught.state, caught.text, caught.line, caught.procedure)
        else:
            assert s.text is not None and s.state is not None
            number = yield from self.evaluate(s, s.number, INT)
            text = yield from self.evaluate(s, s.text, nvarchar(2048))
            state = yield from self.evaluate(s, s.state, INT)
            if number is None or not 50000 <= number <= 2147483647:
                raise error(35100, number, line=s.line)
            problem = TsqlError(number, 16, state or 0, (text or "").replace("%%", "%"), s.line)
        problem.aborts_batch = True
        problem.thrown = True  # type: ignore[attr-defined]
        raise problem

    def _raiserror(self, s: st.RaisError) -> Effects[Any]:
        message = yield from self.evaluate(s, s.message)
        severity = yield from self.evaluate(s, s.severity, INT)
        state = yield from self.evaluate(s, s.state, INT)
        args = []
        for arg in s.args:
            args.append((yield from self.evaluate(s, arg)))
        severity = 0 if severity is None or severity < 0 else severity
        if severity > 18 and "LOG" not in s.options:
            raise error(2754, line=s.line)
        number = 50000
        if isinstance(message, int):
            number = message
            if number < 13000:
                raise error(2732, number, line=s.line)
            if number not in MESSAGES:
                raise error(18054, number, severity, 1 if state is None else state, line=s.line)
            text = re.sub(r"\{\d\}", "%s", MESSAGES[number][2])
        else:
            text = "" if message is None else str(message)
        text = format_message(text, args)[:2047]
        state = 1 if state is None or state < 0 else min(state, 255)
        self.session.row_count = 0
        if severity <= 10:
            self.session.error = number if "SETERROR" in s.options else 0
            yield Message(number, 0 if severity == 10 else severity, state, text, s.line, self.runtime.procedure)
            return None
        problem = TsqlError(number, severity, state, text, s.line)
        problem.raised_by_user = True  # type: ignore[attr-defined]
        raise problem

    def _print(self, s: st.Print) -> Effects[Any]:
        text = yield from self.evaluate(s, s.expression, TEXT)
        self.session.row_count = 0
        yield Message(0, 0, 1, "" if text is None else text[:4000] or " ", s.line, self.runtime.procedure)
        return None

    def _waitfor(self, s: st.WaitFor) -> Effects[Any]:
        seconds = yield from self._waitfor_seconds(s)
        host = self.runtime.host
        if s.kind == "TIME":
            now = host.now()
            since_midnight = now.hour * 3600 + now.minute * 60 + now.second + now.microsecond / 1e6
            seconds = (seconds - since_midnight) % 86400
        if seconds > 0:
            self.session.command = "WAITFOR"
            yield from self.wait(Wait("time", host.now_s() + seconds, "WAITFOR"))
        yield Done(None, "", self.in_procedure)
        return None

    def _waitfor_seconds(self, s: st.WaitFor) -> Effects[float]:
        value = yield from self.evaluate(s, s.value)
        if isinstance(value, str):
            if not re.fullmatch(r"\s*\d{1,2}(:\d{1,2}(:\d{1,2}([.:]\d{1,3})?)?)?\s*", value) or ":" not in value:
                raise error(148, value, line=s.line)
            try:
                value = parse(value)
            except BadDate:
                raise error(149, value, line=s.line) from None
        if isinstance(value, datetime.datetime):
            value = value.time()
        if isinstance(value, datetime.time):
            return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        if value is None:
            return 0.0
        raise error(9815, line=s.line)

    # --- variables ----------------------------------------------------------------------------------------------------------

    def _declare(self, s: st.Declare) -> Effects[Any]:
        variables = self.runtime.variables
        for name, _, initial in s.items:
            key = name.lower()
            value = None
            if initial is not None:
                value = yield from self.evaluate(s, initial, variables.types[key])
            elif key in variables.values and self.interpreter.loop_depth:
                continue  # DECLARE in a loop declares once and does not reset
            variables.values[key] = value
        for table in s.tables:
            yield from self._declaretable(table)
        return None

    def _declaretable(self, s: st.DeclareTable) -> Effects[Any]:
        from aglab.tsql.execute.definitions import build_table

        table = build_table(self.runtime, s.columns, s.constraints, "", s.name, 0)
        table.type_name = s.type_name
        self.runtime.variables.tables[s.name.lower()] = table
        return None
        yield

    def _setvariable(self, s: st.SetVariable) -> Effects[Any]:
        key = s.name.lower()
        variables = self.runtime.variables
        sql_type = variables.types.get(key)
        if sql_type is None:
            if key in self.runtime.cursor_variables and self.assign_cursor(key, s):  # type: ignore[attr-defined]
                return None
            raise error(137, s.name, line=s.line)
        node = s.expression if s.op == "=" else self._compound(s)
        variables.values[key] = yield from self.evaluate(s, node, sql_type)
        self.session.row_count = 1
        return None

    @staticmethod
    def _compound(s: st.SetVariable) -> ast.Node:
        plans = s.plan if s.plan is not None else {}
        node = plans.get("compound")
        if node is None:
            node = ast.Binary(s.line, s.op[:-1], ast.Variable(s.line, s.name), s.expression)
            s.plan = plans
            plans["compound"] = node
        return node

    # --- SET ----------------------------------------------------------------------------------------------------------------

    def _use(self, s: st.Use) -> Effects[Any]:
        yield from self.change_database(s.database, s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def change_database(self, name: str, line: int) -> Effects[None]:
        """USE: error 911, the database's own refusal, or message 5701."""
        database = self.runtime.instance.database(name)
        if database is None:
            raise error(911, name, line=line)
        if database.options["state"] == 6:
            raise error(942, database.name, line=line)
        if database.options["state"] == 3:
            raise error(945, database.name, line=line)
        if database.options["state"] == 1:
            raise error(927, database.name, line=line)
        self.runtime.host.check_access(database.name, self.session, False)
        old = self.session.database
        self.session.database = database.name
        self.session.row_count = 0
        name = self.runtime.instance.shown(database)[0]
        yield EnvChange("database", name, old)
        yield info(5701, name, line=line)

    # --- transactions -------------------------------------------------------------------------------------------------------


_ = (BIGINT, SqlType)
