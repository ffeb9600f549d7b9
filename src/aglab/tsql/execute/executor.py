"""The executor of one scope: dispatch, error semantics, GOTO."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Cancelled, Done, EnvChange, Wait
from aglab.tsql.execute.admin import AdminMixin
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.bulk import BulkMixin
from aglab.tsql.execute.calls import CallMixin
from aglab.tsql.execute.control import ROUNDS_A_TURN, ControlMixin
from aglab.tsql.execute.cursors import CursorMixin
from aglab.tsql.execute.ddl import DdlMixin
from aglab.tsql.execute.dml import DmlMixin
from aglab.tsql.execute.merge import MergeMixin
from aglab.tsql.messages import TsqlError, error, info, not_implemented
from aglab.tsql.query.reads import StatementReads
from aglab.tsql.query.statistics import io_messages

# Errors that end the batch (and, outside TRY, roll the transaction back): failed conversions, deadlock victims.
BATCH_ABORTING = frozenset({241, 242, 244, 245, 248, 235, 295, 529, 8114, 8169, 1205})
# Errors after which SQL Server adds message 3621.
TERMINATED = frozenset({515, 547, 2601, 2627, 2628, 8152, 220, 232, 8115, 8134, 512, 517, 1505, 3960})
# Errors found while compiling: TRY in the same scope does not catch them, and the scope ends.
COMPILE = frozenset({207, 208, 209, 4104, 213, 1087, 137})
NOT_RESETTING = (st.If, st.While, st.Block, st.TryCatch, st.Declare, st.Label, st.Goto, st.Break, st.Continue, st.Return)


COMPOUND = (st.Block, st.If, st.TryCatch, st.While, st.Label, st.Declare, st.Break, st.Continue)  # their parts are statements
MEASURED = (st.QueryStatement, st.Insert, st.Update, st.Delete, st.Merge)


class BatchAborted(Exception):
    """The batch must end; its messages have been sent."""


def _label(body: list[st.Statement], name: str) -> int | None:
    """Where a label stands in a body; not in the blocks inside."""
    return next((n for n, one in enumerate(body) if isinstance(one, st.Label) and one.name.lower() == name), None)


class Executor(ControlMixin, MergeMixin, BulkMixin, DmlMixin, DdlMixin, AdminMixin, CallMixin, CursorMixin):
    """Runs the statements of one batch, procedure or function."""

    def run_body(self, body: list[st.Statement]) -> Effects[Any]:
        """Run a whole body. Error 133 for a GOTO whose label is in a block that it is not in."""
        signal = yield from self.run_statements(body)
        if signal is not None and signal[0] == "goto":
            raise error(133, signal[1])
        return signal

    def run_statements(self, body: list[st.Statement]) -> Effects[Any]:
        """Statements one after another until one gives a signal (break, continue, return, goto); GOTO finds its labels."""
        rest, jumps = body, 0
        while True:
            for statement in rest:
                signal = yield from self.run_statement(statement)
                if signal is not None:
                    break
            else:
                return None
            place = _label(body, signal[1]) if signal[0] == "goto" else None
            if place is None:
                return signal
            self.interpreter.step()
            rest, jumps = body[place:], jumps + 1
            if jumps % ROUNDS_A_TURN == 0:
                yield Wait("time", self.runtime.host.now_s())  # as WHILE: others get a turn

    def run_statement(self, statement: st.Statement) -> Effects[Any]:
        """One statement with T-SQL's error handling."""
        self.interpreter.step()
        self.runtime.moment = None
        self.runtime.host.statement_begins()
        self.line = statement.line
        method = getattr(self, "_" + type(statement).__name__.lower(), None)
        ended = None
        try:
            if method is None:
                raise not_implemented(type(statement).__name__, statement.line)
            options = self.session.options
            if (options.noexec or options.parseonly) and not isinstance(statement, st.SetOption):
                return None
            observer = self.runtime.instance.observer
            if observer is not None and not isinstance(statement, COMPOUND):
                ended = observer(self.runtime)
            if isinstance(statement, MEASURED):
                signal = yield from self._measured(statement, method)
            else:
                signal = yield from method(statement)
        except TsqlError as problem:
            if isinstance(statement, NOT_RESETTING) and getattr(problem, "seen", False):
                raise
            yield from self._failed(statement, problem)
            return None
        except RecursionError:
            yield from self._failed(statement, error(191, line=statement.line))
            return None
        if ended is not None:
            ended(statement)
        if not isinstance(statement, NOT_RESETTING):
            self.session.error = 0
        return signal

    def _measured(self, statement: st.Statement, method: Any) -> Effects[Any]:
        """Run a statement and keep what it read: for SET STATISTICS IO, sys.dm_exec_query_stats and the session's totals."""
        session, instance, runtime = self.session, self.runtime.instance, self.runtime
        outer, session.reads_now = session.reads_now, StatementReads(instance.pool)
        visited, session.visited = session.visited, 0
        writes, began_s = session.writes, runtime.host.now_s()
        try:
            signal = yield from method(statement)
            reads = session.reads_now
        finally:
            session.reads_now = outer
            session.visited += visited
        logical = reads.total()
        session.logical_reads += logical
        physical = round(sum(one.physical + one.ahead for one in reads.tables.values()))
        session.reads += physical
        if reads.tables:
            reads.note_uses(instance.index_uses, runtime.host.now())
        if runtime.text:
            entry = instance.statements.note(
                (runtime.database.id, runtime.text, statement.start - runtime.text_start),
                statement.end - runtime.text_start,
                runtime.procedure_id or None,
                runtime.host.now(),
                logical_reads=logical,
                physical_reads=physical,
                logical_writes=session.writes - writes,
                elapsed_time=round((runtime.host.now_s() - began_s) * 1e6),
                worker_time=0,
                rows=max(session.row_count, 0),
            )
            entry.operators = [
                (kind, one.table.name, index, tuple(sorted(numbers)))
                for one in reads.tables.values()
                for (kind, index), numbers in one.operators.items()
            ]
        if session.options.statistics_io:
            yield from io_messages(reads, statement.line)
        if session.options.statistics_time:
            yield info(3612, 0, round((runtime.host.now_s() - began_s) * 1e3), line=statement.line)
        return signal

    def _failed(self, statement: st.Statement, problem: TsqlError) -> Effects[None]:
        if not problem.line:
            problem.line = statement.line
        if self.in_procedure and self.runtime.procedure and not problem.procedure:
            problem.procedure = self.runtime.procedure
        session = self.session
        session.row_count = 0
        if problem.number in BATCH_ABORTING:
            problem.aborts_batch = True
        if self.interpreter.try_depth > 0 or getattr(problem, "seen", False):
            raise problem
        session.error = problem.number
        problem.seen = True  # type: ignore[attr-defined]
        yield problem.message()
        following = getattr(problem, "followed_by", None)
        if following is not None:
            following.line, following.procedure = problem.line, problem.procedure
            session.error = following.number
            yield following.message()
        if (
            problem.number in TERMINATED and isinstance(statement, (st.Insert, st.InsertBulk, st.Update, st.Delete, st.Merge))
        ) or problem.number == 1505:
            yield info(3621, line=problem.line)
        raised = getattr(problem, "raised_by_user", False)
        if (
            problem.number == 1205
            or (problem.aborts_batch and not getattr(problem, "thrown", False))
            or (session.options.xact_abort and not raised)
        ):
            number = self.rollback_all()
            if number is not None:
                yield EnvChange("rollback_tran", b"", number)
            raise BatchAborted
        if problem.aborts_batch or problem.severity >= 20:
            raise BatchAborted
        if problem.number in COMPILE and getattr(problem, "compile_scope", None) is not None:
            if self.runtime.nesting == 0:
                raise BatchAborted
            raise problem
        yield Done(None, "", self.in_procedure)


__all__ = ["BatchAborted", "Cancelled", "Executor"]
