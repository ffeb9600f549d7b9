"""Events and actions that the twin raises, with the fields that each carries.

Names and fields as "SQL Server Extended Events" and "View the Extended Events equivalents to SQL Trace event classes" (SQL Server
documentation) give them: SP:StmtCompleted is ``sp_statement_completed``, SQL:BatchStarting ``sql_batch_starting``,
SQL:BatchCompleted ``sql_batch_completed``, Showplan XML ``query_post_execution_showplan``. Times are those of the node's clock;
processor time of user sessions is not modelled and is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from aglab.tsql import Session
    from aglab.twin.node import Node

_COST = ("duration", "cpu_time", "physical_reads", "logical_reads", "writes", "row_count")
EVENTS: dict[str, tuple[str, ...]] = {
    "sql_batch_starting": ("batch_text",),
    "sql_batch_completed": (*_COST, "result", "batch_text"),
    "rpc_completed": (*_COST, "result", "object_name", "statement"),
    "sql_statement_completed": (*_COST, "statement"),
    "sp_statement_completed": ("object_id", "object_name", *_COST, "statement"),
    "query_post_execution_showplan": ("object_id", "object_name", "duration", "cpu_time", "showplan_xml"),
    "error_reported": ("error_number", "severity", "state", "message"),
}
# attributes that ADD EVENT ... (SET name = value) may name: accepted, and what they ask for is collected anyway
CUSTOMIZABLE = frozenset("collect_batch_text collect_statement collect_object_name collect_database_name".split())


def _database_id(node: Node, session: Session) -> int:
    found = node.instance.database(session.database)
    return found.id if found is not None else 0


ACTIONS: dict[str, Callable[[Node, Session], Any]] = {
    "sql_text": lambda node, session: session.current_text,
    "session_id": lambda node, session: session.spid,
    "client_app_name": lambda node, session: session.program_name,
    "client_hostname": lambda node, session: session.host_name,
    "database_id": _database_id,
    "database_name": lambda node, session: session.database,
    "username": lambda node, session: session.login,
    "server_principal_name": lambda node, session: session.login,
    "session_server_principal_name": lambda node, session: session.login,
    "server_instance_name": lambda node, session: node.name,
    "is_system": lambda node, session: False,
    "session_resource_group_id": lambda node, session: session.group_id,
}
TARGETS: dict[str, tuple[str, ...]] = {
    "ring_buffer": ("max_memory", "max_events_limit", "occurrence_number"),
    "event_file": ("filename", "max_file_size", "max_rollover_files", "increment"),
}
