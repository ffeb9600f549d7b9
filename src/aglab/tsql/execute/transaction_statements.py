"""BEGIN, COMMIT, ROLLBACK, SAVE TRANSACTION."""

from __future__ import annotations

from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.effects import Done, EnvChange
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.messages import TsqlError, error


class TransactionMixin(BaseExecutor):
    """BEGIN, COMMIT, ROLLBACK, SAVE TRANSACTION."""

    def _transactionstatement(self, s: st.TransactionStatement) -> Effects[Any]:
        name = s.name
        if s.variable:
            key = s.variable.lower()
            if key not in self.runtime.variables.types:
                raise error(137, s.variable, line=s.line)
            name = str(self.runtime.variables.values.get(key) or "")
        self.session.row_count = 0
        if s.kind == "BEGIN":
            yield from self.begin_transaction(name, s.options.get("MARK"))
        elif s.kind == "COMMIT":
            yield from self.commit_transaction(s.options.get("DELAYED_DURABILITY") == "ON")
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

    def begin_transaction(self, name: str = "", mark: str | None = None) -> Effects[None]:
        """BEGIN TRANSACTION: nested ones only count. ``mark``: WITH MARK, its description."""
        session = self.session
        if session.trancount and session.transaction is not None:
            session.trancount += 1
            return
        transaction = self.begin(True, name)
        transaction.log_mark = None if mark is None else (name, mark)
        yield EnvChange("begin_tran", transaction.id.to_bytes(8, "little"))

    def commit_transaction(self, delayed: bool = False) -> Effects[None]:
        """COMMIT: the outermost one hardens; error 3902 without a transaction, 3930 when it is doomed.

        ``delayed``: WITH (DELAYED_DURABILITY = ON), which counts where the database allows it.
        """
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
            yield from self.harden(transaction, delayed)
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
                    transaction.rollback_to(mark, statement=False)
                    del transaction.savepoints[position + 1 :]
                    return
            raise error(6401, name)
        number = self.rollback_all()
        if number is not None:
            yield EnvChange("rollback_tran", b"", number)
