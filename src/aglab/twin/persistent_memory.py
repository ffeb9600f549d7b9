"""Persistent memory of a node: the direct-access (DAX) volume, log buffers on it, the hybrid buffer pool, single-user mode.

A machine whose profile has persistent memory shows it as one volume formatted for direct access, mounted at :data:`DAX_MOUNT`
(where "Configure persistent memory for SQL Server on Linux" mounts it). A log buffer there reaches the engine as the time of a
copy to memory; on the primary of an availability group it does not, as "Add persistent log buffer to a database" says:
secondaries only. A stand-alone database whose log buffer is gone when the instance starts is RECOVERY PENDING until it is back;
in a group that is left out. Hybrid buffer pool is kept and shown, and has no mechanism in the engine.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Change, Command, Session
from aglab.tsql.execute.log_buffer import LOG, SINGLE_USER, buffer_of
from aglab.tsql.messages import not_implemented
from aglab.twin.governor_limits import process_affinity
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

DAX_MOUNT = "/mnt/dax"
ONLINE, RECOVERY_PENDING, OFFLINE = 0, 3, 6  # sys.databases.state
_DRIVE = re.compile(r"([A-Za-z]):[\\/]")
_HYBRID = ["SET", "MEMORY_OPTIMIZED", "HYBRID_BUFFER_POOL", "="]


def volume_kind(node: Node, path: str) -> str | None:
    """``dax``, ``block``, or None where the server has no such volume (on Linux a drive letter other than C: names none)."""
    if path.startswith(f"{DAX_MOUNT}/"):
        return "dax" if node.profile.persistent_memory.capacity_gb > 0 else None
    drive = _DRIVE.match(path)
    return None if drive and drive[1].upper() != "C" else "block"


def tell(cluster: Cluster) -> None:
    """Tell the engine how each node hardens the load's log: by a copy to persistent memory, or by a write to the log volume."""
    for node in cluster.nodes.values():
        database = node.instance.database(node.database_name)
        file = buffer_of(database) if database is not None else None
        serves = cluster.replicates(node.database_name) and node.name == cluster.primary
        copy_us = node.profile.persistent_memory.copy_us if file is not None and not serves else 0.0
        if file is not None and volume_kind(node, file.physical_name) != "dax":
            copy_us = 0.0  # the machine was changed for one without persistent memory
        if cluster.plant.node_settings.get((node.name, "tail_of_log_us"), 0.0) != copy_us:
            cluster.plant.change(node.name, tail_of_log_us=copy_us)


def recover(node: Node) -> None:
    """The instance starts: a database whose log buffer is not there stays RECOVERY PENDING; with it, it comes online again."""
    for database in node.instance.databases.values():
        file = buffer_of(database)
        if file is None or node.cluster.replicates(database.name) or database.options["state"] not in (ONLINE, RECOVERY_PENDING):
            continue
        gone = volume_kind(node, file.physical_name) != "dax"
        database.options["state"] = RECOVERY_PENDING if gone else ONLINE
        if gone:
            text = "FileMgr::StartLogFiles: Operating system error 2(The system cannot find the file specified.) occurred while "
            text += (
                f"creating or opening file '{file.physical_name}'. Diagnose and correct the operating system error, and retry "
            )
            node.errorlog.write(node, text + "the operation.", "spid9s")
        access_changed(node, database)


def files_changed(node: Node, change: Change) -> None:
    """Files came or went: replicas get the log files of their primary, and the engine hears of a log buffer."""
    cluster = node.cluster
    here = node.instance.database(change.database)
    if here is None:
        return
    if cluster.replicates(change.database) and cluster.group is not None and node.name == cluster.group.primary:
        for other in cluster.nodes.values():
            there = other.instance.database(change.database)
            if other is not node and there is not None:
                data = [file for file in there.files if file.type != LOG]
                there.files = data + [dataclasses.replace(file) for file in here.files if file.type == LOG]
                there.files.sort(key=lambda file: file.file_id)
    file = buffer_of(here)
    if change.name == "ADD LOG FILE" and file is not None and file.name == change.detail["FILES"][-1].get("NAME"):
        text = f"aglab twin: database '{here.name}' has the persistent log buffer '{file.physical_name}', 20 MB."
        node.errorlog.write(node, text)
    tell(cluster)


def access_changed(node: Node, database: Database) -> None:
    """The load's users are shut out of a database in single-user mode, and of one that is not open."""
    if database.name.lower() == node.database_name.lower() and node.name == node.cluster.primary:
        node.cluster.plant.bar(database.options["user_access"] == SINGLE_USER or database.options["state"] == RECOVERY_PENDING)


def server_configuration(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER SERVER CONFIGURATION SET: HYBRID_BUFFER_POOL and SOFTNUMA from the next start, PROCESS AFFINITY at once."""
    words = [str(token.value).upper() for token in command.options.get("TOKENS", ())]
    if words[:2] == ["SET", "SOFTNUMA"] and words[2:] in (["ON"], ["OFF"]):
        node.soft_numa = (words[2] == "ON", node.soft_numa[1])
        node.cluster.dirty = True
        return
    if words[:3] == ["SET", "PROCESS", "AFFINITY"]:
        reader = clauses_of(command)
        reader.place = 3
        process_affinity(node, reader)
        return
    if words[:4] != _HYBRID or len(words) != 5 or words[4] not in ("ON", "OFF"):
        raise not_implemented("ALTER SERVER CONFIGURATION " + " ".join(words[:3]))
    node.hybrid_buffer_pool = (words[4] == "ON", node.hybrid_buffer_pool[1])
    node.cluster.dirty = True
    yield from ()


def hybrid_buffer_pool(node: Node, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """sys.server_memory_optimized_hybrid_buffer_pool_configuration"""
    configured, enabled = node.hybrid_buffer_pool
    yield {"is_configured": configured, "is_enabled": enabled}
