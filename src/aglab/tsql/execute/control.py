"""Control of flow, variables, messages, WAITFOR, SET, USE, transactions."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.dates import BadDate, parse
from aglab.tsql.effects import Done, EnvChange, Message, Wait
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.messages_table import MESSAGES
from aglab.tsql.session import ISOLATION_BY_NAME

TEXT = nvarchar()
ATTRIBUTES = {
    "ANSI_NULLS": "ansi_nulls",
    "ANSI_PADDING": "ansi_padding",
    "ANSI_WARNINGS": "ansi_warnings",
    "ANSI_NULL_DFLT_ON": "ansi_null_dflt_on",
    "ARITHABORT": "arithabort",
    "CONCAT_NULL_YIELDS_NULL": "concat_null_yields_null",
    "QUOTED_IDENTIFIER": "quoted_identifier",
    "NUMERIC_ROUNDABORT": "numeric_roundabort",
    "IMPLICIT_TRANSACTIONS": "implicit_transactions",
    "CURSOR_CLOSE_ON_COMMIT": "cursor_close_on_commit",
    "NOCOUNT": "nocount",
    "XACT_ABORT": "xact_abort",
    "NOEXEC": "noexec",
    "PARSEONLY": "parseonly",
    "FMTONLY": "fmtonly",
    "STATISTICS IO": "statistics_io",
    "STATISTICS TIME": "statistics_time",
}
# Accepted and kept without effect: the twin's answers do not depend on them. Named on the page of what the twin knows.
WITHOUT_EFFECT = frozenset(
    {
        "ANSI_DEFAULTS",
        "ANSI_NULL_DFLT_OFF",
        "ARITHIGNORE",
        "FIPS_FLAGGER",
        "FORCEPLAN",
        "REMOTE_PROC_TRANSACTIONS",
        "NO_BROWSETABLE",
        "QUERY_GOVERNOR_COST_LIMIT",
    }
)
_FORMAT = re.compile(r"%(-?\+?0?#? ?)(\*|\d+)?(?:\.(\*|\d+))?(I64|h|l)?([diouxXs%])")


class ControlMixin(BaseExecutor):
    """Statements that steer."""

    def run_statements(self, body: list[st.Statement]) -> Effects[Any]:
        raise NotImplementedError
        yield

    def run_statement(self, statement: st.Statement) -> Effects[Any]:
        raise NotImplementedError
        yield

    if TYPE_CHECKING:

        def target(self, node: ast.TableSource) -> Any: ...

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
        try:
            while (yield from self.test(s, s.condition)):
                self.runtime.moment = None
                self.session.row_count = 0
                self.interpreter.step()
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
            if number not in MESSAGES or number < 13000:
                raise error(2758 if number not in MESSAGES else 2732, number, line=s.line)
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
        return None

    def _declaretable(self, s: st.DeclareTable) -> Effects[Any]:
        from aglab.tsql.execute.ddl import build_table

        table = build_table(self.runtime, s.columns, s.constraints, "", s.name, 0)
        self.runtime.variables.tables[s.name.lower()] = table
        return None
        yield

    def _setvariable(self, s: st.SetVariable) -> Effects[Any]:
        key = s.name.lower()
        variables = self.runtime.variables
        sql_type = variables.types.get(key)
        if sql_type is None:
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

    def _setoption(self, s: st.SetOption) -> Effects[Any]:
        options = self.session.options
        value = s.value
        if isinstance(value, ast.Node):
            value = yield from self.evaluate(s, value)
        self.session.row_count = 0
        for name in s.names:
            if name in ATTRIBUTES:
                setattr(options, ATTRIBUTES[name], bool(value))
            elif name == "ANSI_DEFAULTS":
                for attribute in (
                    "ansi_nulls",
                    "ansi_padding",
                    "ansi_warnings",
                    "ansi_null_dflt_on",
                    "quoted_identifier",
                    "implicit_transactions",
                    "cursor_close_on_commit",
                ):
                    setattr(options, attribute, bool(value))
            elif name == "ROWCOUNT":
                options.rowcount = int(value or 0)
            elif name == "TEXTSIZE":
                options.textsize = int(value or 0) or 4096
            elif name == "LOCK_TIMEOUT":
                options.lock_timeout_ms = int(value if value is not None else -1)
            elif name == "DEADLOCK_PRIORITY":
                options.deadlock_priority = self._priority(value, s.line)
            elif name == "DATEFIRST":
                if not isinstance(value, int) or not 1 <= value <= 7:
                    raise error(2742, value, line=s.line)
                options.datefirst = value
            elif name == "DATEFORMAT":
                text = str(value).lower()
                if text not in ("mdy", "dmy", "ymd", "ydm", "myd", "dym"):
                    raise error(2741, value, line=s.line)
                options.dateformat = text
            elif name == "LANGUAGE":
                yield from self._language(str(value), s.line)
            elif name == "CONTEXT_INFO":
                self.session.context_info = value if isinstance(value, bytes) else str(value).encode()
            elif name not in WITHOUT_EFFECT and value is not False:
                from aglab.tsql.messages import not_implemented

                raise not_implemented(f"SET {name} ON", s.line)
        return None

    @staticmethod
    def _priority(value: Any, line: int) -> int:
        named = {"LOW": -5, "NORMAL": 0, "HIGH": 5}
        if isinstance(value, str) and value.upper() in named:
            return named[value.upper()]
        if isinstance(value, int) and -10 <= value <= 10:
            return value
        raise error(102, str(value), line=line)

    def _language(self, name: str, line: int) -> Effects[None]:
        known = {"us_english": "us_english", "english": "us_english", "british": "British"}
        language = known.get(name.lower())
        if language is None:
            raise error(2720, name, line=line)
        old = self.session.options.language
        self.session.options.language = language
        yield EnvChange("language", language, old)
        yield info(5703, language)

    def _identityinsert(self, s: st.IdentityInsert) -> Effects[Any]:
        target = self.target(ast.TableSource(s.line, parts=s.table))
        table = target.table
        if table.identity_next is None:
            raise error(8106, ".".join(s.table), line=s.line)
        name = f"{target.database.name if target.database else 'tempdb'}.{table.full_name}"
        current = self.session.options.identity_insert
        if s.on and current and current != name.lower():
            raise error(8107, current, name, line=s.line)
        self.session.options.identity_insert = name.lower() if s.on else ""
        return None
        yield

    def _setisolation(self, s: st.SetIsolation) -> Effects[Any]:
        level = ISOLATION_BY_NAME.get(s.level)
        if level is None:
            raise error(102, s.level.split()[-1], line=s.line)
        self.session.options.isolation = level
        return None
        yield

    def _use(self, s: st.Use) -> Effects[Any]:
        yield from self.change_database(s.database, s.line)
        return None

    def change_database(self, name: str, line: int) -> Effects[None]:
        """USE: error 911, the database's own refusal, or message 5701."""
        database = self.runtime.instance.database(name)
        if database is None:
            raise error(911, name, line=line)
        if database.options["state"] == 6:
            raise error(942, database.name, line=line)
        if database.options["state"] == 1:
            raise error(927, database.name, line=line)
        self.runtime.host.check_access(database.name, self.session, False)
        old = self.session.database
        self.session.database = database.name
        self.session.row_count = 0
        yield EnvChange("database", database.name, old)
        yield info(5701, database.name, line=line)

    # --- transactions -------------------------------------------------------------------------------------------------------

    def _transactionstatement(self, s: st.TransactionStatement) -> Effects[Any]:
        name = s.name
        if s.variable:
            key = s.variable.lower()
            if key not in self.runtime.variables.types:
                raise error(137, s.variable, line=s.line)
            name = str(self.runtime.variables.values.get(key) or "")
        self.session.row_count = 0
        if s.kind == "BEGIN":
            yield from self.begin_transaction(name)
        elif s.kind == "COMMIT":
            yield from self.commit_transaction()
        elif s.kind == "ROLLBACK":
            yield from self.rollback_transaction(name)
        else:
            session = self.session
            if session.transaction is None or not session.trancount:
                raise error(628, line=s.line)
            if session.transaction.doomed:
                raise error(3931, line=s.line)
            session.transaction.savepoints.append((name.lower(), session.transaction.mark()))
        yield Done(None, "", self.in_procedure)
        return None

    def begin_transaction(self, name: str = "") -> Effects[None]:
        """BEGIN TRANSACTION: nested ones only count."""
        session = self.session
        if session.trancount and session.transaction is not None:
            session.trancount += 1
            return
        transaction = self.begin(True, name)
        yield EnvChange("begin_tran", transaction.id.to_bytes(8, "little"))

    def commit_transaction(self) -> Effects[None]:
        """COMMIT: the outermost one hardens; error 3902 without a transaction, 3930 when it is doomed."""
        session = self.session
        transaction = session.transaction
        if transaction is None or not session.trancount:
            raise error(3902)
        if transaction.doomed:
            raise error(3930)
        if session.trancount > 1:
            session.trancount -= 1
            return
        try:
            yield from self.harden(transaction)
        except TsqlError:
            self.rollback_all()
            raise
        self.end_transaction()
        yield EnvChange("commit_tran", b"", transaction.id.to_bytes(8, "little"))

    def rollback_transaction(self, name: str = "") -> Effects[None]:
        """ROLLBACK: everything, or to a savepoint."""
        session = self.session
        transaction = session.transaction
        if transaction is None or not session.trancount:
            raise error(3903)
        if name and name.lower() != transaction.name.lower():
            for position in range(len(transaction.savepoints) - 1, -1, -1):
                saved, mark = transaction.savepoints[position]
                if saved == name.lower():
                    if transaction.doomed:
                        raise error(3931)
                    transaction.rollback_to(mark)
                    del transaction.savepoints[position + 1 :]
                    return
            raise error(6401, name)
        number = self.rollback_all()
        if number is not None:
            yield EnvChange("rollback_tran", b"", number)


def format_message(text: str, args: list[Any]) -> str:
    """RAISERROR's and FORMATMESSAGE's substitutions: %s %d %i %u %o %x %X, width, precision, * and %%."""
    remaining = list(args)

    def take() -> Any:
        return remaining.pop(0) if remaining else None

    def replace(match: re.Match[str]) -> str:
        flags, width, precision, _, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(take() or 0) if width == "*" else width
        precision = str(take() or 0) if precision == "*" else precision
        value = take()
        if value is None:
            shown = "(null)"
        elif kind == "s":
            shown = str(value)[: int(precision)] if precision else str(value)
        elif not isinstance(value, int):
            raise error(2786, 1)
        elif kind in "ouxX":
            number = value % 2**32
            shown = {"o": f"{number:o}", "u": str(number), "x": f"{number:x}", "X": f"{number:X}"}[kind]
            if "#" in flags and kind in "xX":
                shown = f"0{kind}{shown}"
        else:
            shown = f"{value:+d}" if "+" in flags else str(value)
        size = min(int(width or 0), 2047)
        if "-" in flags:
            return shown.ljust(size)
        return shown.rjust(size, "0" if "0" in flags and kind != "s" else " ")

    return _FORMAT.sub(replace, text)


_ = (BIGINT, SqlType)
