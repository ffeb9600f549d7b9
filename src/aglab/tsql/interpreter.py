"""The interpreter: batches, RPC calls and transaction requests as generators of effects.

Every error that leaves a generator is a message: whatever text comes in, the client gets T-SQL's errors or one of the
twin's own (59000 and up), never an exception of Python's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Cancelled, Columns, Done, Effect, EnvChange, ReturnStatus, ReturnValue, Rows, Wait
from aglab.tsql.execute.bulk import unannounced
from aglab.tsql.execute.calls import Argument, declare, type_of
from aglab.tsql.execute.executor import BatchAborted, Executor
from aglab.tsql.host import Host
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.parser.statements import parse_batch
from aglab.tsql.runtime import Runtime, Variables
from aglab.tsql.session import Session
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.user_types import TypeBook

Effects = Generator[Effect, Any, None]
PARSE_CACHE_SIZE = 500
MAX_BATCH_CHARACTERS = 64 * 1024 * 1024
MAX_STEPS = 50_000_000  # statements of one batch; a loop without end ends here (attention ends it sooner)
RPC_NAMES = {
    1: "sp_cursor",
    2: "sp_cursoropen",
    3: "sp_cursorprepare",
    4: "sp_cursorexecute",
    5: "sp_cursorprepexec",
    6: "sp_cursorunprepare",
    7: "sp_cursorfetch",
    8: "sp_cursoroption",
    9: "sp_cursorclose",
    10: "sp_executesql",
    11: "sp_prepare",
    12: "sp_execute",
    13: "sp_prepexec",
    14: "sp_prepexecrpc",
    15: "sp_unprepare",
}

_parsed: OrderedDict[str, list[st.Statement]] = OrderedDict()


def known(text: str) -> list[st.Statement] | None:
    """The statements of a text that was parsed lately, or None."""
    return _parsed.get(text)


class Interpreter:
    """Runs what one session sends.

    Parameters
    ----------
    host : Host
        The node.
    session : Session
        The connection's state, from ``host.instance.open_session(...)``.
    """

    def __init__(self, host: Host, session: Session) -> None:
        self.host = host
        self.session = session
        self.try_depth = 0
        self.loop_depth = 0
        self.steps = 0
        self.steps_max = MAX_STEPS
        self.captured: list[Any] | None = None

    # --- what the node calls ------------------------------------------------------------------------------------------------

    def run_batch(self, text: str, parameters: Iterable[Any] | None = None) -> Effects:
        """Run a batch; ``parameters`` (with .name, .value, .type) become declared variables."""

        def work() -> Effects:
            variables = Variables()
            for parameter in parameters or ():
                key = parameter.name.lower()
                variables.types[key] = parameter.type or type_of(parameter.value)
                variables.values[key] = parameter.value
            body = self.parse(text)
            declare(body, variables)
            executor = self.executor(Runtime(self.host, self.session, variables, text=text))
            if self.session.options.statistics_time:
                return self._timed(executor.run_body(body))
            return executor.run_body(body)

        return self._request(text, work)

    @staticmethod
    def _timed(effects: Effects) -> Effects:
        """SET STATISTICS TIME: what parsing took (no virtual time), before anything that the batch sends."""
        yield info(3613, 0, 0)
        return (yield from effects)

    def run_rpc(self, name_or_id: str | int, parameters: Iterable[Any]) -> Effects:
        """Run a procedure by name or well-known id; parameters have .name, .value, .type (SqlType), .is_output."""
        name = RPC_NAMES.get(name_or_id, str(name_or_id)) if isinstance(name_or_id, int) else name_or_id
        given = list(parameters)

        def work() -> Effects:
            from aglab.tsql.functions.names import split_name

            arguments = [Argument(p.name or "", p.value, p.type or type_of(p.value), bool(p.is_output)) for p in given]
            executor = self.executor(Runtime(self.host, self.session, Variables()))
            status: int | None = None
            try:
                status = yield from executor.call(tuple(split_name(name)), arguments, 1)
            except TsqlError as problem:
                yield from executor._failed(st.Execute(1, ()), problem)
                status = -6
            yield ReturnStatus(status or 0)
            for ordinal, argument in enumerate(arguments):
                if argument.output:
                    sql_type = (argument.result_type if argument.assigned else argument.type) or SqlType("int")
                    yield ReturnValue(argument.name, sql_type, argument.result if argument.assigned else argument.value, ordinal)
            yield Done(None, "EXECUTE", True)

        return self._request(name, work)

    def transaction_request(self, kind: str, name: str = "", isolation: int = 0, begin_after: bool = False) -> Effects:
        """A transaction manager request: "begin", "commit", "rollback", "save"."""

        def work() -> Effects:
            executor = self.executor(Runtime(self.host, self.session, Variables()))
            if isolation:
                self.session.options.isolation = isolation
            try:
                if kind == "begin":
                    yield from executor.begin_transaction(name)
                elif kind == "commit":
                    yield from executor.commit_transaction()
                elif kind == "rollback":
                    yield from executor.rollback_transaction(name)
                else:
                    yield from executor._transactionstatement(st.TransactionStatement(1, "SAVE", name))
                if begin_after and kind != "begin":
                    yield from executor.begin_transaction()
            except TsqlError as problem:
                yield from executor._failed(st.TransactionStatement(1, kind.upper()), problem)
                return
            yield Done(None, "")

        return self._request(f"{kind} transaction", work)

    def bulk_load(self, load: Any) -> Effects:
        """Rows (``load.columns``, ``load.rows``) of the INSERT BULK that the session has just run; or ``load.problem``."""
        plan = self.session.bulk

        def work() -> Effects:
            executor = self.executor(Runtime(self.host, self.session, Variables()))
            problem = load.problem and TsqlError(
                load.problem.number, load.problem.severity, load.problem.state, load.problem.text
            )
            statement = plan.statement if plan is not None else st.Execute(1, ())
            try:
                if plan is None:
                    raise unannounced()
                yield from executor.load_bulk(plan, load.columns, load.rows, problem)
                self.session.error = 0
            except TsqlError as found:
                yield from executor._failed(statement, found)

        return self._request("INSERT BULK", work)

    def reset(self) -> Effects:
        """RESETCONNECTION: roll back and forget the session's state."""
        executor = self.executor(Runtime(self.host, self.session, Variables()))
        executor.rollback_all()
        self.session.reset()
        yield EnvChange("reset")

    def close(self) -> None:
        """The client left: roll back and forget the session."""
        self.host.instance.close_session(self.session)

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _request(self, text: str, work: Any) -> Effects:
        session = self.session
        now = self.host.now()
        session.status, session.command, session.current_text = "running", "SELECT", text
        session.last_request_start = now
        self.try_depth = self.loop_depth = self.steps = 0
        self.captured = None
        session.bulk = None  # rows come right after their INSERT BULK, or not at all
        self.host.batch_started(session, text)
        try:
            yield from work()
        except BatchAborted:
            pass
        except TsqlError as problem:
            if not getattr(problem, "seen", False):
                session.error = problem.number
                yield problem.message()
        except (Cancelled, GeneratorExit):
            self._abandon()
            raise
        except RecursionError:
            yield error(191, line=1).message()
        except MemoryError:
            self._abandon()
            yield error(701, "default").message()
        except Exception as failure:  # noqa: BLE001  a defect of the twin must not take the node down
            self._abandon()
            self.host.error_log(f"The twin failed on a statement: {failure!r}")
            yield error(59004, type(failure).__name__).message()
        finally:
            session.status, session.command = "sleeping", "AWAITING COMMAND"
            session.last_request_end = self.host.now()
            session.wait_type = session.wait_resource = ""
        transaction = session.transaction
        if transaction is not None and transaction.doomed and session.trancount:
            executor = self.executor(Runtime(self.host, session, Variables()))
            number = executor.rollback_all()
            yield error(3998, line=1).message()
            if number is not None:
                yield EnvChange("rollback_tran", b"", number)

    def _abandon(self) -> None:
        """After a cancel: roll back a statement's own transaction; an explicit one stays unless XACT_ABORT is on."""
        session = self.session
        self.host.instance.locks.cancel(session.spid)
        if session.transaction is not None and (not session.trancount or session.options.xact_abort):
            session.transaction.rollback_to(0)
            session.transaction = None
            session.trancount = 0
            self.host.instance.locks.release_all(session.spid)

    def executor(self, runtime: Runtime) -> Executor:
        """An executor for a scope."""
        return Executor(runtime, self)

    def step(self) -> None:
        """Count a statement; error 59003 beyond the limit."""
        self.steps += 1
        if self.steps > self.steps_max:
            raise error(59003, "the number of statements in a batch", self.steps_max)

    def parse(self, text: str) -> list[st.Statement]:
        """The statements of a text, from the cache where it has been seen."""
        found = _parsed.get(text)
        if found is not None:
            _parsed.move_to_end(text)
            return found
        if len(text) > MAX_BATCH_CHARACTERS:
            raise error(59003, "the length of the batch", MAX_BATCH_CHARACTERS)
        types = TypeBook(self.host.instance, self.session.database)
        body = parse_batch(text, types)
        if types.used:  # another database, or the same one later, may have others of these names
            return body
        _parsed[text] = body
        while len(_parsed) > PARSE_CACHE_SIZE:
            _parsed.popitem(last=False)
        return body

    def capture(self, executor: Any, call: st.Execute) -> Generator[Effect, Any, tuple[list[Any], list[Any]]]:
        """INSERT ... EXEC: run a procedure and keep its rows instead of sending them."""
        saved, self.captured = self.captured, []
        columns: list[Any] = []
        rows: list[Any] = []
        try:
            yield from _swallow(executor._execute(call), columns, rows)
            for found, batch in self.captured:
                columns = columns or found
                rows += batch
        finally:
            self.captured = saved
        return columns, rows


def _swallow(effects: Any, columns: list[Any], rows: list[Any]) -> Iterable[Any]:
    """Pass on everything but results that a Python procedure sends."""
    from aglab.tsql.query.scope import OutColumn

    for effect in effects:
        if isinstance(effect, Columns):
            columns[:] = [OutColumn(c.name, c.type, c.nullable) for c in effect.columns]
        elif isinstance(effect, Rows):
            rows += effect.rows
        elif not isinstance(effect, Done):
            yield effect


def _a_turn(effect: Effect) -> bool:
    """A loop offers others a turn; a function cannot take it: it is part of a statement."""
    return isinstance(effect, Wait) and effect.kind == "time" and not effect.wait_type


def run_function(runtime: Runtime, module: Module, database: Database, values: list[Any], steps_max: int = MAX_STEPS) -> Any:
    """Run a user-defined function's body to its end; it may not wait or send anything."""
    definition = module.definition
    variables = Variables()
    for parameter, value in zip(definition.parameters, values, strict=True):
        variables.types[parameter.name.lower()] = parameter.type
        variables.values[parameter.name.lower()] = value
    interpreter = Interpreter(runtime.host, runtime.session)
    interpreter.steps_max = steps_max
    interpreter.try_depth = 1  # errors go up to the calling statement
    inner = replace(
        runtime,
        variables=variables,
        procedure=module.name,
        procedure_id=module.object_id,
        function_depth=runtime.function_depth + 1,
    )
    executor = interpreter.executor(inner)
    executor.returns = definition.returns  # type: ignore[attr-defined]
    declare(definition.body, variables)
    if definition.returns_table is not None:
        from aglab.tsql.execute.definitions import build_table

        name, specs = definition.returns_table
        variables.tables[name.lower()] = build_table(runtime, specs, [], "", name, 0)
    session = runtime.session
    saved = (session.database, session.row_count, session.error)
    session.database = database.name
    signal = None
    try:
        generator = executor.run_body(definition.body)
        while True:
            try:
                effect = next(generator)
            except StopIteration as end:
                signal = end.value
                break
            if not isinstance(effect, Done) and not _a_turn(effect):
                generator.close()
                raise error(443, type(effect).__name__)
    finally:
        session.database, session.row_count, session.error = saved
    if definition.returns_table is not None:
        return list(variables.tables[definition.returns_table[0].lower()].rows.values())
    return signal[1] if signal is not None and signal[0] == "return" else None
