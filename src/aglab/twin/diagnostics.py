"""sp_server_diagnostics: the health of an instance by component, as the plant has it, and what it does to availability groups.

Five components of the instance and one row for each of its availability groups. ``system``, ``resource`` and ``query_processing``
tell failures: a class makes one ill with twin.sicken, and the group fails over where its FAILURE_CONDITION_LEVEL takes that for a
failure (an error of system counts from level 3 on, of resource from 4, of query_processing at 5; an instance that gives no answer
for HEALTH_CHECK_TIMEOUT from 2). ``io_subsystem`` warns, ``events`` has no state. Columns, states and the attributes of ``data``:
"sp_server_diagnostics", "Configure a flexible automatic failover policy" (SQL Server documentation). What a group's row
has in ``data`` is not documented: NULL here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
UNKNOWN, CLEAN, WARNING, ERROR = range(4)
DESCRIPTIONS = ("unknown", "clean", "warning", "error")
LEVELS = {"system": 3, "resource": 4, "query_processing": 5, "unresponsive": 2}  # FAILURE_CONDITION_LEVEL that takes note
COMPONENTS = ("system", "resource", "query_processing", "io_subsystem", "events")
SLOW_IO_MS = 15_000  # a read or write that takes longer is reported ("long I/O")
WAITS_SHOWN = 10


def rows(node: Node) -> Iterator[Row]:
    """One result set; nothing from an instance that does not answer."""
    now = node.now()
    texts = {"system": _system, "resource": _resource, "query_processing": _query_processing, "io_subsystem": _io}
    for name in COMPONENTS:
        state = state_of(node, name)
        make = texts.get(name)
        yield _row(now, "instance", name, state, make(node) if make is not None else "<events/>")
    for group in node.cluster.groups.here(node.name):
        sound = group.rules.nodes[node.name].has_quorum and group.role(node.name) != "RESOLVING"
        yield _row(now, "Always On:AvailabilityGroup", group.name, CLEAN if sound else ERROR, None)


def state_of(node: Node, component: str) -> int:
    """0 to 3 of a component."""
    if component in node.ill:
        return ERROR
    if component == "events":
        return UNKNOWN
    return WARNING if component == "io_subsystem" and _slow_ms(node) >= SLOW_IO_MS else CLEAN


def _row(now: Any, kind: str, name: str, state: int, data: str | None) -> Row:
    return {
        "create_time": now,
        "component_type": kind,
        "component_name": name,
        "state": state,
        "state_desc": DESCRIPTIONS[state],
        "data": data,
    }


def event_fields(row: Row) -> dict[str, object]:
    """The fields of sp_server_diagnostics_component_result."""
    kinds = {"instance": (0, "INSTANCE")}
    return {
        "component_type": kinds.get(row["component_type"], (1, "AVAILABILITY_GROUP")),
        "component_name": row["component_name"],
        "state": (row["state"], str(row["state_desc"]).upper()),
        "data": row["data"] or "",
    }


# -- data --------------------------------------------------------------------------------------------------------------------
def _element(name: str, attributes: Row, inside: str = "") -> str:
    written = " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{name} {written}>{inside}</{name}>"


def _system(node: Node) -> str:
    busy = int(node.cluster.plant.gauges(node.name).get("cpu_percent", 0.0))
    ill = int("system" in node.ill)
    return _element(
        "system",
        {
            "spinlockBackoffs": 0,
            "sickSpinlockType": "none",
            "sickSpinlockTypeAfterAv": "none",
            "latchWarnings": 0,
            "isAccessViolationOccurred": ill,
            "writeAccessViolationCount": ill,
            "totalDumpRequests": ill,
            "intervalDumpRequests": ill,
            "nonYieldingTasksReported": 0,
            "pageFaults": 0,
            "systemCpuUtilization": busy,
            "sqlCpuUtilization": busy,
            "BadPagesDetected": 0,
            "BadPagesFixed": 0,
        },
    )


def _resource(node: Node) -> str:
    total_bytes = node.profile.memory.installed_mb * 2**20
    used_bytes = node.memory_mb() * 2**20
    entries = {
        "Available Physical Memory": int(max(0.0, total_bytes - used_bytes)),
        "Working Set": int(used_bytes),
    }
    inside = "".join(_element("entry", {"description": key, "value": value}) for key, value in entries.items())
    report = _element("memoryReport", {"name": "Process/System Counts", "unit": "Value"}, inside)
    ill = int("resource" in node.ill)
    note = "RESOURCE_MEMPHYSICAL_LOW" if ill else "RESOURCE_MEMPHYSICAL_HIGH"
    attributes = {
        "lastNotification": note,
        "outOfMemoryExceptions": ill,
        "isAnyPoolOutOfMemory": ill,
        "processOutOfMemoryPeriod": 0,
    }
    return _element("resource", attributes, report)


def _query_processing(node: Node) -> str:
    from aglab.twin.views_server import wait_stats

    waits = sorted(wait_stats(node, ()), key=lambda row: -row["wait_time_ms"])[:WAITS_SHOWN]
    inside = "".join(
        _element(
            "wait",
            {
                "waitType": row["wait_type"],
                "waits": row["waiting_tasks_count"],
                "averageWaitTime": row["wait_time_ms"] // max(1, row["waiting_tasks_count"]),
                "maxWaitTime": row["max_wait_time_ms"],
            },
        )
        for row in waits
        if row["waiting_tasks_count"]
    )
    ill = int("query_processing" in node.ill)
    running = sum(1 for one in node.clients.values() if one.task is not None)
    attributes = {
        "workersCreated": len(node.clients),
        "workersIdle": len(node.clients) - running,
        "tasksCompletedWithinInterval": 0,
        "pendingTasks": 0,
        "oldestPendingTaskWaitingTime": 0,
        "hasUnresolvableDeadlockOccurred": ill,
        "hasDeadlockedSchedulersOccurred": ill,
        "trackingNonYieldingScheduler": "0x0",
    }
    top = f"<topWaits><nonPreemptive><byDuration>{inside}</byDuration></nonPreemptive></topWaits>"
    return _element("queryProcessing", attributes, top)


def _slow_ms(node: Node) -> float:
    """Mean time of a read or a write of the data volume since the start."""
    totals = node.totals()
    pairs = (("data_read_stall_ms", "data_reads"), ("data_write_stall_ms", "data_writes"))
    return max(totals.get(stall, 0.0) / max(1.0, totals.get(count, 0.0)) for stall, count in pairs)


def _io(node: Node) -> str:
    long = int(_slow_ms(node) >= SLOW_IO_MS)
    return _element("ioSubsystem", {"ioLatchTimeouts": 0, "intervalLongIos": long, "totalLongIos": long})
