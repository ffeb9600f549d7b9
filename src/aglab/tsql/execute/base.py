"""What every statement needs: compiling with a cache, running with locks, transactions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

from aglab.core.sqltypes import Column
from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Columns, Done, Effect, EnvChange, Rows, Wait
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error, info
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.memory import changed_since, conflict
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import CompileContext, Frame, Scope
from aglab.tsql.runtime import LockNeeded, Runtime
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.table import Row, Table
from aglab.tsql.transactions import Entry, Transaction, row_log_bytes
from aglab.tsql.types import DATES, EXACTS, FLOATS, INTEGERS

if TYPE_CHECKING:
    from aglab.tsql.session import Session

T = TypeVar("T")
Effects = Generator[Effect, Any, T]
CHUNK = 500  # rows of a result that are handed on at a time
SHORT = INTEGERS | FLOATS | EXACTS | DATES | {"uniqueidentifier"}  # types of which a value takes 17 bytes at most
CHUNK_CELLS = 5000  # of results in which every value is short: as many bytes or so, and less work for each row
PLANS_PER_STATEMENT = 8
MAX_LOCK_RETRIES = 100_000
ESCALATION_ROWS = 5000  # SQL Server escalates to a table lock at about this many row locks


def chunk_rows(columns: list[Any]) -> int:
    """How many rows of a result are handed on at a time."""
    return max(CHUNK, CHUNK_CELLS // len(columns)) if columns and all(c.type.name in SHORT for c in columns) else CHUNK


class BaseExecutor:
    """State of one running batch, procedure or function body."""

    def __init__(self, runtime: Runtime, interpreter: Any) -> None:
        self.runtime = runtime
        self.session: Session = runtime.session
        self.interpreter = interpreter
        self.in_procedure = bool(runtime.procedure)
        self.line = 0  # of the statement that runs

    # --- compiling ----------------------------------------------------------------------------------------------------------

    def context(self) -> CompileContext:
        """A fresh compile context."""
        return CompileContext(
            self.runtime.host,
            self.session,
            self.runtime.database,
            self.runtime.variables,
            procedure=self.runtime.procedure,
            chained=self.runtime.procedure_id != 0,
        )

    def cached(self, statement: st.Statement, build: Callable[[CompileContext], T], part: str = "") -> T:
        """Compile once per statement, database schema and variable types."""
        session, instance = self.session, self.runtime.instance
        key = (
            part,
            id(instance),
            session.database,
            instance.schema_version(),
            self.runtime.variables.signature(),
            (session.serial, session.temp_version) if session.temp_tables else 0,
        )
        plans = statement.plan
        if plans is None:
            plans = statement.plan = {}
        found = plans.get(key) if session.is_sysadmin else None  # what others may do is asked each time
        if found is None:
            try:
                found = build(self.context())
            except TsqlError as problem:
                problem.compile_scope = self  # type: ignore[attr-defined]
                raise
            except RecursionError:
                raise error(191, line=statement.line) from None
            while len(plans) >= PLANS_PER_STATEMENT:
                plans.pop(next(iter(plans)))
            plans[key] = found
        return found

    def evaluate(self, statement: st.Statement, node: ast.Node, target: Any = None, part: str = "value") -> Effects[Any]:
        """The value of an expression outside a query (it may hold subqueries, hence locks)."""

        def build(context: CompileContext) -> Any:
            compiler = ExpressionCompiler(context, Scope(), Planner(context))
            expr = compiler.value(node)
            if target is not None:
                expr = compiler.convert(expr, target)
            return context, expr

        context, expr = self.cached(statement, build, f"{part}{id(node)}")
        value = yield from self.guarded(lambda: expr.fn(context.frame(self.runtime)))
        return value

    def test(self, statement: st.Statement, node: ast.Node) -> Effects[bool]:
        """Whether a condition outside a query is true."""

        def build(context: CompileContext) -> Any:
            return context, ExpressionCompiler(context, Scope(), Planner(context)).condition(node)

        context, expr = self.cached(statement, build, f"test{id(node)}")
        value = yield from self.guarded(lambda: expr.fn(context.frame(self.runtime)))
        return value is True

    # --- locks --------------------------------------------------------------------------------------------------------------

    def guarded(self, work: Callable[[], T]) -> Effects[T]:
        """Run work to its end; when it meets a lock, wait for the lock and run it again."""
        transaction = self.session.transaction
        mark = transaction.mark() if transaction is not None else 0
        tracking = self.session.options.isolation in (3, 4)
        for _ in range(MAX_LOCK_RETRIES):
            self.runtime.tracked = []
            try:
                result = work()
            except LockNeeded as need:
                if transaction is not None:
                    transaction.rollback_to(mark)
                yield from self.acquire(need.resource, need.mode, need.nowait)
                if not need.keep:
                    self.runtime.instance.locks.release(self.session.spid, need.resource)
                continue
            tracked, self.runtime.tracked = self.runtime.tracked, None
            waited = False
            for table, row_id, mode in tracked:
                waited = (yield from self.lock_row(table, row_id, mode)) or waited
            if waited:
                continue
            _ = tracking
            return result
        raise error(59003, "lock retries", MAX_LOCK_RETRIES)

    def acquire(self, resource: Resource, mode: str, nowait: bool = False) -> Effects[bool]:
        """Take a lock; True when it had to wait. Errors 1205 and 1222."""
        locks, session = self.runtime.instance.locks, self.session
        session.frame = (self.runtime.procedure, self.line)
        request = locks.request(session.spid, resource, mode)
        if request.state == "granted":
            return False
        if request.state == "waiting":
            timeout = 0 if nowait else session.options.lock_timeout_ms
            if timeout == 0:
                locks.cancel(session.spid)
                raise error(1222)
            until = self.runtime.host.now_s() + timeout / 1000 if timeout > 0 else None
            wait_type = "LCK_M_" + mode.upper().replace("-", "_")
            try:
                yield from self.wait(
                    Wait("lock", until, wait_type, resource.description(), request.settled, {"request": request})
                )
            except BaseException:
                locks.cancel(session.spid)
                raise
            if request.state == "waiting":
                locks.cancel(session.spid)
                raise error(1222)
        if request.state == "victim":
            problem = error(1205, session.spid, "lock")
            problem.dooms = True
            raise problem
        return True

    def wait(self, wait: Wait) -> Effects[None]:
        """Yield a wait and show it in the session while it lasts."""
        session = self.session
        session.status, session.wait_type, session.wait_resource = "suspended", wait.wait_type, wait.resource
        session.wait_started_s = self.runtime.host.now_s()
        try:
            yield wait
        finally:
            session.status, session.wait_type, session.wait_resource = "running", "", ""
        self.runtime.moment = None

    def lock_row(self, table: Table, row_id: int, mode: str) -> Effects[bool]:
        """Lock a row (temporary tables need none)."""
        database_id = self.database_id_of(table)
        if database_id == 2:
            return False
        kind = "KEY" if table.clustered else "RID"
        return (yield from self.acquire(Resource(kind, database_id, table.id, row_id), mode))

    def database_id_of(self, table: Table) -> int:
        """The database a table is in (2, tempdb, for private tables)."""
        return getattr(table, "database_id", 2)

    # --- transactions -------------------------------------------------------------------------------------------------------

    def begin(self, explicit: bool, name: str = "") -> Transaction:
        """Open a transaction."""
        session = self.session
        transaction = Transaction(
            self.runtime.instance.next_transaction_id(), session.spid, self.runtime.host.now_s(), explicit, name
        )
        transaction.began_after = self.runtime.instance.commit_serial
        session.transaction = transaction
        if explicit:
            session.trancount = 1
        return transaction

    def in_transaction(self, work: Callable[[], Effects[T]], writes: bool = True) -> Effects[T]:
        """Run a statement in the session's transaction, or in one of its own that commits at its end."""
        session = self.session
        if session.transaction is not None:  # explicit, or of the statement that encloses this one
            transaction = session.transaction
            if writes and transaction.doomed:
                raise error(3930)
            mark = transaction.mark()
            try:
                return (yield from work())
            except BaseException:
                transaction.rollback_to(mark)
                raise
        if session.options.implicit_transactions:
            transaction = self.begin(True)
            yield EnvChange("begin_tran", transaction.id.to_bytes(8, "little"))
            try:
                return (yield from work())
            except BaseException:
                transaction.rollback_to(0)
                raise
        transaction = self.begin(False)
        try:
            result = yield from work()
            yield from self.harden(transaction)
            return result
        except BaseException:
            transaction.rollback_to(0)
            raise
        finally:
            if session.transaction is transaction:
                session.transaction = None
            self.runtime.instance.locks.release_all(session.spid)

    def harden(self, transaction: Transaction, delayed: bool = False) -> Effects[None]:
        """Let the node make the changes durable: it may wait for the log and for synchronous secondaries."""
        for record in transaction.records():
            record.delayed = delayed
            effects = self.runtime.host.commit(record, self.session)
            if effects is not None:
                yield from effects
        if transaction.in_memory:
            self._note_versions(transaction)

    def _note_versions(self, transaction: Transaction) -> None:
        """Rows of memory-optimized tables have a new version: writers that began before meet 41302."""
        instance = self.runtime.instance
        others = any(one.transaction not in (None, transaction) for one in instance.sessions.values())
        if not others:
            instance.memory_commits.clear()  # nobody is left who began before
        instance.commit_serial += 1
        for entry in transaction.entries if others else ():
            if entry.table is not None and is_memory(entry.table):
                key = (self.database_id_of(entry.table), entry.table.id, entry.row_id)
                instance.memory_commits[key] = instance.commit_serial

    def end_transaction(self) -> None:
        """Release the locks of a transaction that ended."""
        session = self.session
        session.transaction = None
        session.trancount = 0
        if session.options.cursor_close_on_commit:
            for cursor in list(session.every_cursor.values()):
                if cursor.is_open:
                    cursor.close(self)
        self.runtime.instance.locks.release_all(session.spid)

    def rollback_all(self) -> bytes | None:
        """Roll the session's transaction back; its id for the environment change, None when there was none."""
        transaction = self.session.transaction
        if transaction is None:
            return None
        transaction.rollback_to(0, statement=False)
        number = transaction.id.to_bytes(8, "little")
        explicit = self.session.trancount > 0
        self.end_transaction()
        return number if explicit else None

    def change_row(self, table: Table, database: str, row_id: int, after: Row | None) -> None:
        """Change a row and note how to undo it."""
        before = table.rows.get(row_id)
        if table.options and is_memory(table):
            self._write_version(table, row_id)
        table.put(row_id, after)
        if self.session.reads_now is not None:
            self.session.reads_now.write(table, before, after)
        transaction = self.session.transaction
        assert transaction is not None
        transaction.add(Entry(database, table, row_id, before, after, log_bytes=row_log_bytes(before, after)))

    def _write_version(self, table: Table, row_id: int) -> None:
        """A change of a memory-optimized row. Error 41302 where another transaction committed it since this one began."""
        assert self.session.transaction is not None
        self.session.transaction.in_memory = True
        if changed_since(self.runtime, table, self.database_id_of(table), row_id):
            raise conflict(self.runtime)

    # --- results ------------------------------------------------------------------------------------------------------------

    def send(
        self, columns: list[Any], rows: list[Row], command: str = "SELECT", finish: Callable[[list[Row]], list[Row]] | None = None
    ) -> Effects[None]:
        """A result set in chunks, and its count; ``finish`` makes what is sent of each chunk of ``rows``."""
        yield Columns(tuple(Column(c.name, c.type, c.nullable, c.identity) for c in columns))
        size = chunk_rows(columns)
        for start in range(0, len(rows), size):
            chunk = rows[start : start + size]
            yield Rows(finish(chunk) if finish else chunk)
        self.session.row_count = len(rows)
        yield self.done(len(rows), command)

    def done(self, count: int | None, command: str) -> Done:
        """The end of a statement; no count with NOCOUNT."""
        return Done(None if self.session.options.nocount else count, command, self.in_procedure)

    def warnings(self) -> Effects[None]:
        """Warning 8153 where an aggregate met NULL."""
        if self.session.null_eliminated:
            self.session.null_eliminated = False
            if self.session.options.ansi_warnings:
                yield info(8153)

    def new_frame(self, context: CompileContext) -> Frame:
        """A frame for a compiled statement."""
        return context.frame(self.runtime)
