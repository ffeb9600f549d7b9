"""Sessions, requests, connections, locks, transactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import define, provide
from aglab.tsql.store.database import Database

BACKGROUND = "background tasks"  # what the host is asked for: rows of system tasks


def _sessions_of(runtime: Any) -> list[Any]:
    return [runtime.instance.sessions[spid] for spid in sorted(runtime.instance.sessions)]


def _database_id(runtime: Any, session: Any) -> int:
    database = runtime.instance.database(session.database)
    return runtime.instance.shown(database)[1] if database is not None else 1


@provide(
    """sys.dm_exec_sessions: session_id smallint!, login_time datetime!, host_name nvarchar(128), program_name nvarchar(128),
    host_process_id int, client_version int, client_interface_name nvarchar(32), security_id varbinary(85)!, login_name nvarchar(128)!,
    nt_domain nvarchar(128), nt_user_name nvarchar(128), status nvarchar(30)!, context_info varbinary(128), cpu_time int!,
    memory_usage int!, total_scheduled_time int!, total_elapsed_time int!, endpoint_id int!, last_request_start_time datetime!,
    last_request_end_time datetime, reads bigint!, writes bigint!, logical_reads bigint!, is_user_process bit!, text_size int!,
    language nvarchar(128), date_format nvarchar(3), date_first smallint!, quoted_identifier bit!, arithabort bit!,
    ansi_null_dflt_on bit!, ansi_defaults bit!, ansi_warnings bit!, ansi_padding bit!, ansi_nulls bit!, concat_null_yields_null bit!,
    transaction_isolation_level smallint!, lock_timeout int!, deadlock_priority int!, row_count bigint!, prev_error int!,
    original_security_id varbinary(85)!, original_login_name nvarchar(128)!, last_successful_logon datetime,
    last_unsuccessful_logon datetime, unsuccessful_logons bigint, group_id int!, database_id smallint!, authenticating_database_id int,
    open_transaction_count int!, page_server_reads bigint!, contained_availability_group_id uniqueidentifier"""
)
def _dm_exec_sessions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    now = runtime.now()
    for s in _sessions_of(runtime):
        o = s.options
        login_time = s.login_time or now
        yield {
            "session_id": s.spid,
            "login_time": login_time,
            "host_name": s.host_name,
            "program_name": s.program_name,
            "host_process_id": 1,
            "client_version": 7,
            "client_interface_name": s.client_interface,
            "security_id": b"\x01",
            "login_name": s.login,
            "nt_domain": "",
            "nt_user_name": "",
            "status": s.status,
            "context_info": s.context_info,
            "contained_availability_group_id": s.environment.group_id if s.environment is not None else None,
            "cpu_time": 0,
            "memory_usage": 4,
            "total_scheduled_time": 0,
            "total_elapsed_time": 0,
            "endpoint_id": 4,
            "last_request_start_time": s.last_request_start or login_time,
            "last_request_end_time": s.last_request_end or login_time,  # the login is taken for a request that ended
            "reads": s.reads,
            "writes": s.writes,
            "logical_reads": s.logical_reads,
            "is_user_process": True,
            "text_size": o.textsize,
            "language": o.language,
            "date_format": o.dateformat,
            "date_first": o.datefirst,
            "quoted_identifier": o.quoted_identifier,
            "arithabort": o.arithabort,
            "ansi_null_dflt_on": o.ansi_null_dflt_on,
            "ansi_defaults": False,
            "ansi_warnings": o.ansi_warnings,
            "ansi_padding": o.ansi_padding,
            "ansi_nulls": o.ansi_nulls,
            "concat_null_yields_null": o.concat_null_yields_null,
            "transaction_isolation_level": o.isolation,
            "lock_timeout": o.lock_timeout_ms,
            "deadlock_priority": o.deadlock_priority,
            "row_count": s.row_count,
            "prev_error": s.error,
            "original_security_id": b"\x01",
            "original_login_name": s.login,
            "group_id": s.group_id,
            "database_id": _database_id(runtime, s),
            "authenticating_database_id": 1,
            "open_transaction_count": s.trancount,
            "page_server_reads": 0,
        }


@provide(
    """sys.dm_exec_requests: session_id smallint!, request_id int!, start_time datetime!, status nvarchar(30)!, command nvarchar(32)!,
    sql_handle varbinary(64), statement_start_offset int, statement_end_offset int, plan_handle varbinary(64), database_id smallint!,
    user_id int!, connection_id uniqueidentifier, blocking_session_id smallint, wait_type nvarchar(60), wait_time int!,
    last_wait_type nvarchar(60)!, wait_resource nvarchar(256)!, open_transaction_count int!, open_resultset_count int!,
    transaction_id bigint!, context_info varbinary(128), percent_complete real!, estimated_completion_time bigint!, cpu_time int!,
    total_elapsed_time int!, scheduler_id int, task_address varbinary(8), reads bigint!, writes bigint!, logical_reads bigint!,
    text_size int!, language nvarchar(128), date_format nvarchar(3), date_first smallint!, quoted_identifier bit!, arithabort bit!,
    ansi_null_dflt_on bit!, ansi_defaults bit!, ansi_warnings bit!, ansi_padding bit!, ansi_nulls bit!, concat_null_yields_null bit!,
    transaction_isolation_level smallint!, lock_timeout int!, deadlock_priority int!, row_count bigint!, prev_error int!, nest_level int!,
    granted_query_memory int!, executing_managed_code bit!, group_id int!, query_hash binary(8), query_plan_hash binary(8),
    statement_sql_handle varbinary(64), statement_context_id bigint, dop int!, parallel_worker_count int,
    external_script_request_id uniqueidentifier, is_resumable bit!, page_resource binary(8), page_server_reads bigint!, dist_statement_id uniqueidentifier!"""
)
def _dm_exec_requests(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    import uuid

    now = runtime.now()
    for s in _sessions_of(runtime):
        if s.status == "sleeping":
            continue
        o = s.options
        started = s.last_request_start or now
        done, left_ms = s.progress() if s.progress is not None else (0.0, 0.0)
        yield {
            "session_id": s.spid,
            "request_id": 0,
            "start_time": started,
            "status": s.status,
            "command": s.command,
            "sql_handle": s.spid.to_bytes(20, "big"),
            "statement_start_offset": 0,
            "statement_end_offset": -1,
            "database_id": _database_id(runtime, s),
            "user_id": 1,
            "blocking_session_id": runtime.instance.locks.blocker(s.spid),
            "wait_type": s.wait_type or None,
            "wait_time": int((runtime.host.now_s() - s.wait_started_s) * 1000) if s.wait_type else 0,
            "last_wait_type": s.wait_type or "MISCELLANEOUS",
            "wait_resource": s.wait_resource,
            "open_transaction_count": s.trancount,
            "open_resultset_count": 1,
            "transaction_id": s.transaction.id if s.transaction else 0,
            "percent_complete": done,
            "estimated_completion_time": int(left_ms),
            "cpu_time": 0,
            "total_elapsed_time": int((now - started).total_seconds() * 1000),
            "scheduler_id": 0,
            "reads": s.reads,
            "writes": s.writes,
            "logical_reads": s.logical_reads,
            "text_size": o.textsize,
            "language": o.language,
            "date_format": o.dateformat,
            "date_first": o.datefirst,
            "quoted_identifier": o.quoted_identifier,
            "arithabort": o.arithabort,
            "ansi_null_dflt_on": True,
            "ansi_defaults": False,
            "ansi_warnings": o.ansi_warnings,
            "ansi_padding": o.ansi_padding,
            "ansi_nulls": o.ansi_nulls,
            "concat_null_yields_null": True,
            "transaction_isolation_level": o.isolation,
            "lock_timeout": o.lock_timeout_ms,
            "deadlock_priority": o.deadlock_priority,
            "row_count": s.row_count,
            "prev_error": s.error,
            "nest_level": 0,
            "granted_query_memory": 0,
            "executing_managed_code": False,
            "group_id": s.group_id,
            "dop": 1,
            "parallel_worker_count": 0,
            "is_resumable": False,
            "page_server_reads": 0,
            "dist_statement_id": uuid.UUID(int=0),
        }
    for task in runtime.host.view_rows(BACKGROUND, (), runtime.session) or ():
        yield _background_request(task, now)


def _background_request(task: dict[str, Any], now: Any) -> dict[str, Any]:
    """A system task of the node: what it has no value for is zero, as SQL Server shows it."""
    import uuid

    zeros = (
        "request_id user_id wait_time open_transaction_count open_resultset_count transaction_id estimated_completion_time "
        "total_elapsed_time writes logical_reads text_size date_first quoted_identifier arithabort ansi_null_dflt_on ansi_defaults "
        "ansi_warnings ansi_padding ansi_nulls concat_null_yields_null transaction_isolation_level lock_timeout deadlock_priority "
        "row_count prev_error nest_level granted_query_memory executing_managed_code group_id dop is_resumable page_server_reads"
    )
    return dict.fromkeys(zeros.split(), 0) | {
        "session_id": task["session_id"],
        "start_time": now,
        "status": "background",
        "command": task["command"],
        "database_id": task["database_id"],
        "wait_type": task["wait_type"] or None,
        "last_wait_type": task["last_wait_type"],
        "wait_resource": "",
        "percent_complete": 0.0,
        "cpu_time": task["cpu_ms"],
        "reads": task["reads"],
        "dist_statement_id": uuid.UUID(int=0),
    }


@provide(
    """sys.dm_exec_connections: session_id int, most_recent_session_id int, connect_time datetime!, net_transport nvarchar(40)!,
    protocol_type nvarchar(40), protocol_version int, endpoint_id int, encrypt_option nvarchar(40)!, auth_scheme nvarchar(40)!,
    node_affinity smallint!, num_reads int, num_writes int, last_read datetime, last_write datetime, net_packet_size int,
    client_net_address nvarchar(48), client_tcp_port int, local_net_address nvarchar(48), local_tcp_port int,
    connection_id uniqueidentifier!, parent_connection_id uniqueidentifier, most_recent_sql_handle varbinary(64)"""
)
def _dm_exec_connections(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    import uuid

    for s in _sessions_of(runtime):
        yield {
            "session_id": s.spid,
            "most_recent_session_id": s.spid,
            "connect_time": s.login_time or runtime.now(),
            "net_transport": "TCP",
            "protocol_type": "TSQL",
            "protocol_version": 0x74000004,
            "endpoint_id": 4,
            "encrypt_option": "TRUE",
            "auth_scheme": "SQL",
            "node_affinity": 0,
            "num_reads": 0,
            "num_writes": 0,
            "net_packet_size": 4096,
            "client_net_address": "127.0.0.1",
            "local_net_address": "127.0.0.1",
            "connection_id": uuid.uuid5(uuid.NAMESPACE_OID, f"{runtime.instance.name}/{s.spid}"),
            "most_recent_sql_handle": s.spid.to_bytes(20, "big"),
        }


@provide("""sys.dm_exec_input_buffer(smallint, int): event_type nvarchar(256), parameters smallint, event_info nvarchar(max)""")
def _input_buffer(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    session = runtime.instance.sessions.get(arguments[0])
    if session is not None:
        yield "Language Event", 0, session.current_text


define(
    """sys.dm_xe_sessions: address varbinary(8)!, name nvarchar(256)!, pending_buffers int!, total_regular_buffers int!,
    regular_buffer_size bigint!, total_large_buffers int!, large_buffer_size bigint!, total_buffer_size bigint!, buffer_policy_flags int!,
    buffer_policy_desc nvarchar(256)!, flags int!, flag_desc nvarchar(256)!, dropped_event_count int!, dropped_buffer_count int!,
    blocked_event_fire_time int!, create_time datetime!, largest_event_dropped_size int!, session_source nvarchar(256)!"""
)
define(
    """sys.dm_xe_session_targets: event_session_address varbinary(8)!, target_name nvarchar(60)!, target_package_guid uniqueidentifier!,
    execution_count bigint!, execution_duration_ms bigint!, target_data nvarchar(max)"""
)


@provide(
    """sys.dm_tran_locks: resource_type nvarchar(60)!, resource_subtype nvarchar(60)!, resource_database_id int!,
    resource_description nvarchar(256)!, resource_associated_entity_id bigint, resource_lock_partition int!, request_mode nvarchar(60)!,
    request_type nvarchar(60)!, request_status nvarchar(60)!, request_reference_count smallint!, request_lifetime int!,
    request_session_id int!, request_exec_context_id int!, request_request_id int!, request_owner_type nvarchar(60)!,
    request_owner_id bigint, request_owner_guid uniqueidentifier, request_owner_lockspace_id nvarchar(32), lock_owner_address varbinary(8)!"""
)
def _dm_tran_locks(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    import uuid

    for s in _sessions_of(runtime):
        yield _lock_row("DATABASE", _database_id(runtime, s), "", 0, "S", "GRANT", s.spid, "SHARED_TRANSACTION_WORKSPACE")
    for spid, resource, mode, status in runtime.instance.locks.rows():
        text = (
            f"({resource.key:012x})"
            if resource.kind == "KEY"
            else f"1:{resource.key // 100 + 312}:{resource.key % 100}"
            if resource.kind == "RID"
            else ""
        )
        entity = resource.object_id if resource.kind == "OBJECT" else 72057594000000000 + resource.object_id
        yield _lock_row(resource.kind, resource.database_id, text, entity, mode, status, spid, "TRANSACTION")
    yield from _page_locks(runtime)
    _ = uuid


def _page_locks(runtime: Any) -> Iterator[dict[str, Any]]:
    """The intent locks on the pages of locked rows. A page holds as many rows as fit, in the order in which they came."""
    intent = {"S": "IS", "U": "IU", "X": "IX"}
    databases = {database.id: database for database in runtime.instance.databases.values()}
    tables: dict[tuple[int, int], int] = {}  # (database, object) -> rows on a page
    seen: set[tuple[int, int, int, int, str]] = set()
    for spid, resource, mode, status in runtime.instance.locks.rows():
        if resource.kind not in ("KEY", "RID") or status != "GRANT" or mode not in intent:
            continue
        where = (resource.database_id, resource.object_id)
        if where not in tables:
            found = next((t for t in databases[resource.database_id].tables() if t.id == resource.object_id), None)
            tables[where] = found.rows_per_page() if found is not None else 1
        page = int(resource.key) // tables[where]
        one = (spid, *where, page, intent[mode])
        if one not in seen:
            seen.add(one)
            entity = 72057594000000000 + resource.object_id
            text = f"1:{312 + page}"
            yield _lock_row("PAGE", resource.database_id, text, entity, intent[mode], status, spid, "TRANSACTION")


def _lock_row(
    kind: str, database_id: int, text: str, entity: int, mode: str, status: str, spid: int, owner: str
) -> dict[str, Any]:
    import uuid

    return {
        "resource_type": kind,
        "resource_subtype": "",
        "resource_database_id": database_id,
        "resource_description": text,
        "resource_associated_entity_id": entity,
        "resource_lock_partition": 0,
        "request_mode": mode,
        "request_type": "LOCK",
        "request_status": status,
        "request_reference_count": 1,
        "request_lifetime": 0,
        "request_session_id": spid,
        "request_exec_context_id": 0,
        "request_request_id": 0,
        "request_owner_type": owner,
        "request_owner_id": 0,
        "request_owner_guid": uuid.UUID(int=0),
        "lock_owner_address": b"\0" * 8,
    }


@provide(
    """sys.dm_tran_session_transactions: session_id int!, transaction_id bigint!, transaction_descriptor binary(8)!, enlist_count int!,
    is_user_transaction bit!, is_local bit!, is_enlisted bit!, is_bound bit!, open_transaction_count int!"""
)
def _session_transactions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for s in _sessions_of(runtime):
        if s.transaction is not None and s.trancount:
            yield s.spid, s.transaction.id, s.transaction.id.to_bytes(8, "little"), 1, True, True, False, False, s.trancount


@provide(
    """sys.dm_tran_active_transactions: transaction_id bigint!, name nvarchar(32)!, transaction_begin_time datetime!, transaction_type int!,
    transaction_uow uniqueidentifier, transaction_state int!, transaction_status int!, transaction_status2 int!, dtc_state int!,
    dtc_status int!, dtc_isolation_level int!, filestream_transaction_id varbinary(128)"""
)
def _active_transactions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    import datetime

    start = runtime.now() - datetime.timedelta(seconds=runtime.host.now_s())
    for s in _sessions_of(runtime):
        t = s.transaction
        if t is not None and s.trancount:
            yield {
                "transaction_id": t.id,
                "name": t.name or "user_transaction",
                "transaction_type": 1,
                "transaction_state": 2,
                "transaction_begin_time": start + datetime.timedelta(seconds=t.began_s),
                "transaction_status": 0,
                "transaction_status2": 258,
                "dtc_state": 0,
                "dtc_status": 0,
                "dtc_isolation_level": -1,
            }


@provide(
    """sys.dm_tran_database_transactions: transaction_id bigint!, database_id int!, database_transaction_begin_time datetime,
    database_transaction_type int!, database_transaction_state int!, database_transaction_log_record_count bigint!,
    database_transaction_log_bytes_used bigint!, database_transaction_log_bytes_reserved bigint!,
    database_transaction_log_bytes_used_system int!, database_transaction_log_bytes_reserved_system int!,
    database_transaction_begin_lsn numeric(25,0), database_transaction_last_lsn numeric(25,0),
    database_transaction_most_recent_savepoint_lsn numeric(25,0), database_transaction_commit_lsn numeric(25,0),
    database_transaction_last_rollback_lsn numeric(25,0), database_transaction_next_undo_lsn numeric(25,0)"""
)
def _database_transactions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for s in _sessions_of(runtime):
        t = s.transaction
        if t is None:
            continue
        for name in dict.fromkeys(entry.database for entry in t.entries):
            item = runtime.instance.database(name)
            entries = [entry for entry in t.entries if entry.database == name]
            yield {
                "transaction_id": t.id,
                "database_id": item.id if item else 0,
                "database_transaction_type": 1,
                "database_transaction_state": 4,
                "database_transaction_log_record_count": len(entries),
                "database_transaction_log_bytes_used": sum(entry.log_bytes for entry in entries),
                "database_transaction_log_bytes_reserved": 0,
            }
