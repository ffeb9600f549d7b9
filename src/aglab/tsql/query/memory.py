"""How statements reach memory-optimized tables: row versions instead of locks, and the isolation levels that are allowed.

Readers see the last committed version; a writer that meets a row which another transaction changed, open or committed since this
transaction began, ends with 41302. Source: "Transactions with memory-optimized tables" (SQL Server documentation). Left out:
a transaction's reads see what is committed when each statement runs, not when the transaction began, and nothing is validated at
commit; two transactions that insert the same key meet 41325 when the second inserts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql.messages import TsqlError, error

if TYPE_CHECKING:
    from aglab.tsql.runtime import Runtime
    from aglab.tsql.store.table import Table

_LEVEL_HINTS = frozenset({"SNAPSHOT", "REPEATABLEREAD", "SERIALIZABLE", "HOLDLOCK"})
READ_COMMITTED, REPEATABLE, SERIALIZABLE, SNAPSHOT = 2, 3, 4, 5


def check_isolation(runtime: Runtime, hints: frozenset[str], database_id: int) -> None:
    """Errors 41332, 41333, 41368: session isolation levels that memory-optimized tables cannot be reached with."""
    if runtime.native:
        return
    session = runtime.session
    if session.options.isolation == SNAPSHOT:
        raise error(41332)
    database = next((one for one in runtime.instance.databases.values() if one.id == database_id), None)
    elevated = database is not None and database.options["is_memory_optimized_elevate_to_snapshot_on"]
    if session.options.isolation in (REPEATABLE, SERIALIZABLE) and not ("SNAPSHOT" in hints or elevated):
        raise error(41333)
    if session.trancount and session.options.isolation <= READ_COMMITTED and not (hints & _LEVEL_HINTS or elevated):
        raise error(41368)


def conflict(runtime: Runtime) -> TsqlError:
    """Error 41302; an explicit transaction cannot be committed any more."""
    if runtime.session.transaction is not None and runtime.session.trancount:
        runtime.session.transaction.doomed = True
    return error(41302)


def changed_since(runtime: Runtime, table: Table, database_id: int, row_id: int) -> bool:
    """Whether a row was committed by another transaction after this one began."""
    transaction = runtime.session.transaction
    if transaction is None:
        return False
    return runtime.instance.memory_commits.get((database_id, table.id, row_id), 0) > transaction.began_after
