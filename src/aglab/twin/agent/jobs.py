"""Jobs, steps, schedules and history of one instance's Agent: plain values, kept with the node's state."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from aglab.twin.agent import runs, schedules
from aglab.twin.availability import identifier
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.clock import Timer
    from aglab.twin.node import Node

Row = dict[str, Any]
HISTORY_KEPT = 1000  # the default of the Agent's job history log, in rows
CATEGORIES = {
    0: "[Uncategorized (Local)]",
    1: "Jobs from MSX",
    2: "[Uncategorized (Multi-Server)]",
    3: "Database Maintenance",
    98: "[Uncategorized]",
    99: "Data Collector",
}


class Agent:
    """What msdb knows of jobs, and the runs in progress."""

    def __init__(self) -> None:
        self.jobs: list[Row] = []
        self.schedules: list[Row] = []
        self.history: list[Row] = []
        self.categories: dict[int, str] = dict(CATEGORIES)
        self.serial = 0
        self.changes = 0  # tells a newer state from an older one
        self.replayed = False  # came from the journal: newer than the state file, unless that counts more changes
        self.activity: dict[str, Row] = {}  # job_id -> when it was asked for, by whom, how far it is
        self.running: dict[str, runs.Run] = {}
        self._timer: Timer | None = None

    def to_dict(self) -> Row:
        """For the state file."""
        plain = ("jobs", "schedules", "history", "serial", "changes", "activity")
        return {name: getattr(self, name) for name in plain} | {"categories": list(self.categories.items())}

    def put(self, node: Node, content: Row | None) -> None:
        """The inverse; what ran then runs no more."""
        replayed, self.replayed = self.replayed, False
        if replayed and self.changes > (content or {}).get("changes", 0):
            self.arm(node)
            return
        for run in list(self.running.values()):
            run.cancel()
        self.running.clear()
        fresh = Agent()
        for name in ("jobs", "schedules", "history", "serial", "changes", "activity"):
            setattr(self, name, (content or {}).get(name, getattr(fresh, name)))
        self.categories = {int(number): name for number, name in (content or {}).get("categories", CATEGORIES.items())}
        self.arm(node)

    # -- finding ---------------------------------------------------------------------------------------------------------------
    def job(self, name: str | None, job_id: str | None) -> Row | None:
        """A job by name or id."""
        for one in self.jobs:
            if one["id"] == job_id if job_id else one["name"].lower() == (name or "").lower():
                return one
        return None

    def schedules_of(self, job: Row) -> list[Row]:
        """The schedules attached to a job."""
        return [one for one in self.schedules if one["id"] in job["schedules"]]

    def new_id(self, node: Node, kind: str) -> tuple[int, str]:
        """A number and a uniqueidentifier."""
        self.serial += 1
        return self.serial, str(identifier(f"agent {kind}", f"{node.name}:{self.serial}"))

    # -- schedules ---------------------------------------------------------------------------------------------------------------
    def next_of(self, job: Row, after: dt.datetime) -> tuple[dt.datetime, int] | None:
        """When a job is due next and by which schedule."""
        if not job["enabled"] or not job["server"]:
            return None
        found = [(moment, one["id"]) for one in self.schedules_of(job) if (moment := schedules.next_run(one, after)) is not None]
        return min(found) if found else None

    def arm(self, node: Node) -> None:
        """Have the next due job started when its time comes."""
        if self._timer is not None:
            self._timer.cancelled = True
            self._timer = None
        if node.ended:
            return
        now = node.now()
        due = [found[0] for one in self.jobs if (found := self.next_of(one, now)) is not None]
        if due:
            at_us = round((min(due) - EPOCH).total_seconds() * 1e6)
            before = min(due) - dt.timedelta(microseconds=1)
            self._timer = node.cluster.clock.call_in_passing(at_us, lambda: self._due(node, before))

    def _due(self, node: Node, before: dt.datetime) -> None:
        self._timer = None
        if node.ended:
            return
        moment = before + dt.timedelta(microseconds=1)
        for job in list(self.jobs):
            found = self.next_of(job, before)
            if found is not None and found[0] == moment and job["id"] not in self.running:
                schedule = next(one for one in self.schedules if one["id"] == found[1])
                self.start(node, job, f"Schedule {schedule['id']} ({schedule['name']})", 3)
        self.arm(node)

    def instance_started(self, node: Node) -> None:
        """Jobs scheduled for the Agent's start run; nothing of the time before is running."""
        self.running.clear()
        for job in list(self.jobs):
            if job["enabled"] and job["server"]:
                for one in self.schedules_of(job):
                    if one["enabled"] and one["freq_type"] == schedules.AT_START:
                        self.start(node, job, f"Start Sequence {one['id']}", 2)
        self.arm(node)

    # -- running -----------------------------------------------------------------------------------------------------------------
    def start(self, node: Node, job: Row, invoked_by: str, source: int, step: int = 0) -> None:
        """Run a job; ``source`` as sysjobactivity.run_requested_source (2 startup, 3 schedule, 4 user)."""
        activity = {"requested_s": node.now_s(), "source": source, "started_s": node.now_s(), "step": 0, "stopped_s": None}
        self.activity[job["id"]] = {**activity, "step_s": None, "history": None}
        run = runs.Run(node, self, job, invoked_by, step or job["start_step"])
        self.running[job["id"]] = run
        run.begin()

    def note(self, node: Node, row: Row) -> int:
        """A row of sysjobhistory; its instance_id."""
        number = (self.history[-1]["id"] if self.history else 0) + 1
        self.history.append({"id": number, "server": node.name, **row})
        del self.history[:-HISTORY_KEPT]
        self.changes += 1
        node.cluster.dirty = True
        return number
