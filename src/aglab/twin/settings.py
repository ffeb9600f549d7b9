"""Settings that drive the engine: startup options, database and server options, administrative statements.

A setting with a mechanism reaches the flow at once; one without is kept and shown where SQL Server shows it.
Startup options: "Database Engine Service startup options" (SQL Server documentation). ``-k`` limits checkpoint writes in
MB per second; it is not a trace flag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.core.errors import UsageError, field_error
from aglab.tsql import Change, Command, Session
from aglab.tsql.execute.options import DATABASE_OPTIONS
from aglab.tsql.messages import KNOWLEDGE_PAGE, error
from aglab.twin import (
    agent,
    contained,
    encryption,
    endpoint_statements,
    governor_limits,
    governor_statements,
    group_statements,
    logins,
    permissions,
    rebuilds,
    roles,
    security_statements,
)
from aglab.twin.backups import backup, headers, restore, restores
from aglab.twin.database_access import settle_users
from aglab.twin.persistent_memory import access_changed, files_changed, recover, server_configuration, tell
from aglab.twin.traces import statements as trace_statements

if TYPE_CHECKING:
    from aglab.twin.node import Node

BASE_PARAMETERS = ["-d /var/opt/mssql/data/master.mdf", "-l /var/opt/mssql/data/mastlog.ldf", "-e /var/opt/mssql/log/errorlog"]
K_MB_S_MAX = 100_000
TRACE_FLAG_MAX = 32767
OPTIONS_MAX = 64
_OPTION = re.compile(r"-(?:(k)\s*(\d+)|(T)\s*(\d+)|([Ex]))")
SIMPLE = 3  # sys.databases.recovery_model
FORCED = 2  # sys.databases.delayed_durability
# ALTER DATABASE options and configurations that the flow knows: name there -> the flow's word and value
_DATABASE_SETTINGS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "target_recovery_time_in_seconds": lambda seconds: {"target_recovery_s": seconds},
    "recovery_model": lambda model: {"simple_recovery": model == SIMPLE},
    "delayed_durability": lambda mode: {"delayed_durability": mode == FORCED},
}
_LOCAL_OPTIONS = ("state", "user_access", "is_read_only", "replica_id", "group_database_id", "log_reuse_wait")  # not in the log
_CONFIGURATIONS = ("max server memory (mb)", "recovery interval (min)")


def split_options(text: str | None) -> list[str]:
    """Startup options as typed in one string, apart.

    >>> split_options("-k750 -T1204;-T1222")
    ['-k750', '-T1204', '-T1222']
    """
    return [one for one in re.split(r"[\s;,]+(?=-)", (text or "").strip().rstrip(";, ")) if one]


def checked_options(options: list[str]) -> list[str]:
    """Startup options in their plain form.

    Raises
    ------
    UsageError
        An unknown option, a throttle or trace flag out of range, or more than :data:`OPTIONS_MAX`.
    """
    if len(options) > OPTIONS_MAX:
        raise field_error(
            "startup_options", len(options), f"must be at most {OPTIONS_MAX} options", "twin.restart_node", "leave some out"
        )
    plain: list[str] = []
    for option in options:
        match = _OPTION.fullmatch(str(option).strip())
        if match is None:
            raise UsageError(
                f"startup option {option!r} is not known to the twin", "use -kN (checkpoint MB/s), -TN (trace flag), -E or -x"
            )
        if match.group(1):
            if not 1 <= int(match.group(2)) <= K_MB_S_MAX:
                raise field_error(
                    "-k", int(match.group(2)), f"must be 1 to {K_MB_S_MAX} MB/s", "startup option", "leave -k out for no throttle"
                )
            plain.append(f"-k{int(match.group(2))}")
        elif match.group(3):
            if not 1 <= int(match.group(4)) <= TRACE_FLAG_MAX:
                raise field_error(
                    "-T", int(match.group(4)), f"must be 1 to {TRACE_FLAG_MAX}", "startup option", "for example -T1204"
                )
            plain.append(f"-T{int(match.group(4))}")
        else:
            plain.append(f"-{match.group(5)}")
    return plain


def trace_flags(options: list[str]) -> set[int]:
    """Trace flags that startup options turn on."""
    return {int(one[2:]) for one in options if one.startswith("-T")}


def k_mb_s(options: list[str]) -> int:
    """The checkpoint throttle, MB/s; 0 for none. The last -k counts."""
    return next((int(one[2:]) for one in reversed(options) if one.startswith("-k")), 0)


def apply_all(node: Node) -> None:
    """Tell the engine everything that this node has set: at start, and after the machines were changed."""
    plant = node.cluster.plant
    plant.change(node.name, k_mb_s=k_mb_s(node.startup_options))
    database = node.instance.database(node.database_name)
    if database is not None:
        for option, told in _DATABASE_SETTINGS.items():
            plant.change(node.name, **told(database.options[option]))
    tell(node.cluster)
    recover(node)
    for name in _CONFIGURATIONS:
        _configure(node, name)
    governor_limits.apply(node)


def _configure(node: Node, name: str) -> None:
    """A configuration of the primary reaches the machines; other nodes' have nothing to act on."""
    if node.name == node.cluster.primary:
        plant = node.cluster.plant
        if name == "max server memory (mb)":
            plant.tune(memory=node.memory_mb() / 1024)
        else:
            plant.tune(recovery_interval_min=node.instance.configuration(name))


def changed(node: Node, change: Change, session: Session) -> None:
    """A statement changed a setting."""
    name = change.name.lower()
    source = f"spid{session.spid}"
    if change.scope == "configuration":
        if name in _CONFIGURATIONS:
            _configure(node, name)
    elif change.scope == "database":
        _database_changed(node, change, name)
        text = f"Setting database option {change.name} to {change.value} for database '{change.database}'."
        node.errorlog.write(node, text, source)
    elif change.scope == "file":
        files_changed(node, change)
    elif change.scope == "trace_flag":
        word = "ON" if change.value else "OFF"
        node.errorlog.write(node, f"DBCC TRACE{word} {change.name}, server process ID (SPID) {session.spid}.", source)


def _database_changed(node: Node, change: Change, name: str) -> None:
    cluster = node.cluster
    holders = [node]
    group = cluster.groups.of(change.database)
    if name == "recovery" and change.value == SIMPLE:
        database = node.instance.database(change.database)
        assert database is not None
        database.options["log_chain_since_s"] = node.now_s()  # a full backup from before does not count any more
    if group is not None and node.name == group.primary:
        holders = list(cluster.nodes.values())
    column = DATABASE_OPTIONS[name.upper()][0] if name.upper() in DATABASE_OPTIONS else name
    here = node.instance.database(change.database)
    for holder in holders:
        database = holder.instance.database(change.database)
        if database is None or here is None or column not in here.options:
            continue
        if holder is not node and column not in _LOCAL_OPTIONS:
            database.options[column] = here.options[column]
        if column in _DATABASE_SETTINGS and database.name == holder.database_name:
            cluster.plant.change(holder.name, **_DATABASE_SETTINGS[column](database.options[column]))
    if column == "user_access" and here is not None:
        access_changed(node, here)


def administer(node: Node, command: Command, session: Session) -> Any:
    """Carry out an administrative statement; None where the twin does not know it (yet)."""
    command = contained.translated(command, session)
    permissions.check(node, command, session)
    handler = _COMMANDS.get(command.name.upper())
    if handler is None:
        return None
    effects = handler(node, command, session)
    return governor_limits.contend(node, session, effects) if command.name.upper() in governor_limits.CONTENDERS else effects


def _checkpoint(node: Node, command: Command, session: Session) -> Iterator[Any]:
    database = command.target or session.database
    if database.lower() == node.database_name.lower():
        node.cluster.plant.change(node.name, checkpoint=True)
    node.lazy.flush(database)
    node.page_writes.checkpoint(node, database)
    yield from ()


def _clear_waits(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)."""
    node.waits.clear()
    node.waits_cleared = {key: value for key, value in node.totals().items() if key.startswith("wait_")}
    yield from ()


def _shrink_log(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DBCC SHRINKFILE of a log file: not of the one that the machines write the load's log to."""
    if command.target.lower() == node.database_name.lower():
        why = "the machines write the load's log to it and its size is theirs"
        raise error(59005, f"DBCC SHRINKFILE of {command.options['FILE']}", why, KNOWLEDGE_PAGE)
    yield from ()


def _flush_log(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """sp_flush_log: what delayed durability holds back in the session's database goes to disk."""
    node.lazy.flush(command.target)
    yield from ()


def _shutdown(node: Node, command: Command, session: Session) -> Iterator[Any]:
    node.restart(caller=session)
    yield from ()


_COMMANDS = {
    "ALTER INDEX": rebuilds.alter_index,
    "CHECKPOINT": _checkpoint,
    **governor_statements.COMMANDS,
    **encryption.COMMANDS,
    **group_statements.COMMANDS,
    **security_statements.COMMANDS,
    **endpoint_statements.COMMANDS,
    **logins.COMMANDS,
    **permissions.COMMANDS,
    **roles.COMMANDS,
    **trace_statements.COMMANDS,
    "ALTER DATABASE SET ACCESS": settle_users,
    "ALTER SERVER CONFIGURATION": server_configuration,
    **restores.COMMANDS,
    **agent.COMMANDS,
    "BACKUP DATABASE": backup,
    "BACKUP LOG": backup,
    "RESTORE DATABASE": restore,
    "RESTORE LOG": restore,
    "RESTORE HEADERONLY": headers,
    "RESTORE FILELISTONLY": headers,
    "RESTORE LABELONLY": headers,
    "RESTORE VERIFYONLY": headers,
    "DBCC SQLPERF CLEAR": _clear_waits,
    "DBCC SHRINKFILE": _shrink_log,
    "SHUTDOWN": _shutdown,
    "SP_FLUSH_LOG": _flush_log,
}
