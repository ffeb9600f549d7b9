"""One run of a job: its steps in a session of the job's owner, their outcome in msdb's history."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator
from itertools import count
from typing import TYPE_CHECKING, Any

from aglab.tsql.effects import Message, Wait
from aglab.tsql.permissions import is_sysadmin, user_of
from aglab.twin.clients import Client

if TYPE_CHECKING:
    from aglab.twin.agent.jobs import Agent
    from aglab.twin.node import Node

Row = dict[str, Any]
FAILED, SUCCEEDED, RETRY, CANCELED = 0, 1, 2, 3
QUIT_SUCCESS, QUIT_FAILURE, NEXT, GO_TO = 1, 2, 3, 4
STEPS_MAX = 1000  # steps in one run: a job that goes round in circles ends
MESSAGE_MAX = 1024
_GO = re.compile(r"(?im)^[ \t]*GO[ \t]*;?[ \t]*$")
_SERIALS = count(1)


class _Sink:
    """Where a job's results go: nowhere."""

    wire = None
    peer = ("", 0)

    def __init__(self) -> None:
        self.session: Any = None
        self.serial = f"agent {next(_SERIALS)}"

    def post(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        """See :class:`aglab.twin.task.Sink`: a run sends nothing but its end."""

    def attention_done(self) -> None:
        """See :class:`aglab.twin.task.Sink`."""

    def hang_up(self) -> None:
        """See :class:`aglab.twin.task.Sink`."""


class Run:
    """A run in progress."""

    def __init__(self, node: Node, agent: Agent, job: Row, invoked_by: str, first: int) -> None:
        self.node, self.agent, self.job, self.invoked_by, self.first = node, agent, job, invoked_by, first
        self.began_s = node.now_s()
        self.stopped_by = ""
        self.client: Client | None = None
        self.last: Row | None = None

    def begin(self) -> None:
        """Open the owner's session and let the world run it."""
        node, owner = self.node, self.job["owner"]
        if owner.lower() not in node.instance.logins:
            text = f"The job failed.  The owner ({owner}) of job {self.job['name']} does not have server access."
            self._outcome(FAILED, text)
            return
        session = node.instance.open_session(
            login=owner,
            database="master",
            host_name=node.name,
            program_name=f"SQLAgent - TSQL JobStep (Job 0x{self.job['id'].replace('-', '').upper()} : Step {self.first})",
            client_interface="ODBC",
            is_sysadmin=is_sysadmin(node.instance, owner),
        )
        sink = _Sink()
        self.client = sink.session = Client(node, sink, session, node.cluster.world.wall())  # type: ignore[arg-type]
        session.login_time = node.now()  # type: ignore[attr-defined]
        node.clients[session.spid] = self.client
        node.cluster.world.begin(self.client, self._steps(), self._finished)

    def cancel(self, by: str = "") -> None:
        """sp_stop_job."""
        self.stopped_by = by or "the system"
        if self.client is not None and self.client.task is not None:
            self.client.task.cancel()

    def _finished(self) -> None:
        client = self.client
        if client is not None and self.node.clients.pop(client.session.spid, None) is not None:
            client.interpreter.close()
        if self.agent.running.get(self.job["id"]) is self:
            step = self.last
            where = f"  The last step to run was step {step['number']} ({step['name']})." if step else ""
            who = f"  The Job was stopped prior to completion by {self.stopped_by or 'the system'}."
            self._outcome(CANCELED, f"The job failed.{who}  The Job was invoked by {self.invoked_by}.{where}")

    def _outcome(self, status: int, text: str) -> None:
        agent, job = self.agent, self.job
        agent.running.pop(job["id"], None)
        seconds = self.node.now_s() - self.began_s
        number = agent.note(
            self.node,
            {"job": job["id"], "step": 0, "name": "(Job outcome)", "status": status, "at_s": self.began_s, "seconds": seconds}
            | {"message": text, "number": 0, "severity": 0, "retries": 0},
        )
        agent.activity.setdefault(job["id"], {}).update(stopped_s=self.node.now_s(), history=number)
        job["last"] = {"status": status, "at_s": self.began_s, "seconds": seconds, "message": text}
        if job["delete_level"] == 3 or job["delete_level"] == (1 if status == SUCCEEDED else 2):
            agent.jobs.remove(job)

    # -- the steps -----------------------------------------------------------------------------------------------------------
    def _steps(self) -> Generator[Any, Any, None]:
        number, status = self.first, FAILED
        for _ in range(STEPS_MAX):
            step = next((one for one in self.job["steps"] if one["number"] == number), None)
            if step is None:
                break
            self.last = step
            self.agent.activity[self.job["id"]].update(step=number, step_s=self.node.now_s())
            status = yield from self._tried(step)
            action, target = (step["success"], step["success_step"]) if status == SUCCEEDED else (step["fail"], step["fail_step"])
            if action in (QUIT_SUCCESS, QUIT_FAILURE):
                status = SUCCEEDED if action == QUIT_SUCCESS else FAILED
                break
            number = target if action == GO_TO else number + 1
        word = "succeeded" if status == SUCCEEDED else "failed"
        where = f"  The last step to run was step {self.last['number']} ({self.last['name']})." if self.last else ""
        self._outcome(status, f"The job {word}.  The Job was invoked by {self.invoked_by}.{where}")

    def _tried(self, step: Row) -> Generator[Any, Any, int]:
        """A step with its retries."""
        for retry in range(step["retries"] + 1):
            began_s = self.node.now_s()
            problem, said = yield from self._run(step)
            again = problem is not None and retry < step["retries"]
            status = SUCCEEDED if problem is None else RETRY if again else FAILED
            end = "The step succeeded." if problem is None else "The step failed."
            seconds = self.node.now_s() - began_s
            text = f"Executed as user: {self._user(step)}. {said}{end}"
            row = {"job": self.job["id"], "step": step["number"], "name": step["name"], "status": status, "at_s": began_s}
            facts = (problem.number, problem.severity) if problem is not None else (0, 0)
            row |= {"seconds": seconds, "message": text, "number": facts[0], "severity": facts[1], "retries": retry}
            self.agent.note(self.node, row)
            step["last"] = {"status": status, "at_s": began_s, "seconds": seconds, "retries": retry}
            if not again:
                return status
            yield Wait("time", self.node.now_s() + max(step["retry_minutes"], 0) * 60.0)
        return FAILED

    def _user(self, step: Row) -> str:
        database = self.node.instance.database(step["database"])
        found = user_of(self.node.instance, database, self.job["owner"]) if database is not None else None
        return found or self.job["owner"]

    def _run(self, step: Row) -> Generator[Any, Any, tuple[Message | None, str]]:
        """Run a step's batches: the error that failed it, and what it printed."""
        assert self.client is not None
        session, interpreter, instance = self.client.session, self.client.interpreter, self.node.instance
        deque(interpreter.reset(), maxlen=0)
        said: list[str] = []
        database = instance.database(step["database"])
        if database is None or user_of(instance, database, session.login) is None:
            why = Message(916, 14, 1, f"Unable to connect to database '{step['database']}' as login '{session.login}'.")
            return why, f"{why.text} [SQLSTATE 08004] (Error 916).  "
        session.database = database.name
        problem: Message | None = None
        for batch in _GO.split(step["command"] or ""):
            if not batch.strip() or problem is not None:
                continue
            effects = interpreter.run_batch(batch)
            for effect in effects:
                if isinstance(effect, Wait):
                    yield effect
                elif isinstance(effect, Message) and effect.text and sum(map(len, said)) < MESSAGE_MAX:
                    state = "42000" if effect.severity > 10 else "01000"
                    kind = "Error" if effect.severity > 10 else "Message"
                    said.append(f"{effect.text} [SQLSTATE {state}] ({kind} {effect.number}).  ")
                if isinstance(effect, Message) and effect.severity > 10 and problem is None:
                    problem = effect
        return problem, "".join(said)[:MESSAGE_MAX]
