"""T-SQL: statements, batches, catalogue and messages of one simulated SQL Server instance (sans-IO)."""

from aglab.tsql.effects import Cancelled, Columns, Done, Effect, EnvChange, Message, ReturnStatus, ReturnValue, Rows, Wait
from aglab.tsql.host import AdapterParameter, AdapterProcedure, Change, Command, CommitRecord, Host, RowChange, SchemaChange
from aglab.tsql.instance import Instance
from aglab.tsql.interpreter import Interpreter
from aglab.tsql.messages import TsqlError, error, info, not_implemented
from aglab.tsql.session import Session

__all__ = [
    "AdapterParameter",
    "AdapterProcedure",
    "Cancelled",
    "Change",
    "Columns",
    "Command",
    "CommitRecord",
    "Done",
    "Effect",
    "EnvChange",
    "Host",
    "Instance",
    "Interpreter",
    "Message",
    "ReturnStatus",
    "ReturnValue",
    "RowChange",
    "Rows",
    "SchemaChange",
    "Session",
    "TsqlError",
    "Wait",
    "error",
    "info",
    "not_implemented",
]
