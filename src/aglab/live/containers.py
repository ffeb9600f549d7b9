"""Three node containers and their availability group: up, restart, faults, down. What ``docker compose`` can do by hand.

The compose file and the T-SQL are those of the folder ``docker``; this module adds looking before, waiting with a progress bar,
and causes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import replace

from aglab.core.errors import AglabError, MissingError
from aglab.core.progress import Progress, no_progress
from aglab.live.causes import explain, telling_lines
from aglab.live.choices import NODES
from aglab.live.engine import PULL_S_MAX
from aglab.live.project import STATE_FILE, Project
from aglab.live.replica_network import shape

HEALTHY_S_MAX = 420.0
LOOK_S = 0.25
_STEPS = 6  # of the init service


class Containers(Project):
    """The project, with what changes it."""

    # -- up ----------------------------------------------------------------------------------------------------------
    def up(self, progress: Progress = no_progress) -> None:
        """Start what is missing and form what is missing; may be called again at any time.

        Raises
        ------
        AglabError
            With cause, remedy and the node's own words. What this call made is gone again; what was there before stays.
        """
        progress(0, 10, "looking at Docker")
        self.docker.engine()
        self.docker.compose_version()
        self._accept()
        running = self.states()
        if not running:
            self._look_at_ports()
        self.home.mkdir(parents=True, exist_ok=True)
        had_data = bool(self.volumes())
        try:
            self._fetch(progress)
            self.hand_over_profile()
            self._start(progress)
            self.wait_healthy(NODES, progress)
            if not self.choices.bare:
                self.form(progress)
            self.remember()
        except BaseException:
            if not running:
                self._undo(keep_data=had_data)
            raise
        progress(10, 10, "ready")

    def _accept(self) -> None:
        if os.environ.get("ACCEPT_EULA", "").lower() not in ("y", "yes"):
            raise explain("ACCEPT_EULA is not set", "up")

    def _look_at_ports(self) -> None:
        for node, why in self.ports_taken().items():
            raise MissingError(
                f"port {self.port(node)} of node {node} is taken ({why})",
                "stop what listens there, or choose others with --port-base N",
            )

    def _fetch(self, progress: Progress) -> None:
        if self.docker.image(self.sql_image) is None:
            progress(1, 10, f"fetching {self.sql_image}")
            self.docker.ask("pull", "--quiet", self.sql_image, timeout_s=PULL_S_MAX, where=f"image {self.sql_image}")
            self._image = None

    def _start(self, progress: Progress) -> None:
        progress(2, 10, "starting the nodes")
        said: list[str] = []
        if self.docker.follow(self.compose("up", "--detach", *NODES), said.append):
            services = ("prepare", *(("world",) if self.is_twin else ()), *NODES)
            logs = "\n".join(self.logs(service) for service in services)
            raise explain("\n".join(said), "starting the nodes", telling_lines(logs) if logs.strip() else ())

    def wait_healthy(self, nodes: Sequence[str], progress: Progress = no_progress) -> None:
        """Return when T-SQL answers on each; the cause where it does not."""
        deadline = time.monotonic() + HEALTHY_S_MAX
        while True:
            states = self.states()
            healthy = [node for node in nodes if self._answers(states.get(node))]
            progress(2 + len(healthy) / len(nodes), 10, f"waiting for T-SQL to answer ({len(healthy)} of {len(nodes)})")
            if len(healthy) == len(nodes):
                return
            for node in nodes:
                state = states.get(node, {"state": "missing"})["state"]
                if state not in ("running", "created", "restarting", "paused"):
                    raise self._node_error(node, f"node {node} has {state}")
            if time.monotonic() > deadline:
                late = next(node for node in nodes if node not in healthy)
                raise self._node_error(late, f"node {late} does not answer T-SQL after {HEALTHY_S_MAX:.0f} s")
            time.sleep(LOOK_S)

    def _answers(self, state: dict[str, str] | None) -> bool:
        """Whether T-SQL answers: the container's own health check, asked now instead of at its next turn."""
        if state is None or state["state"] != "running":
            return False
        return self.docker.tries("exec", state["name"], "/bin/bash", "/aglab/init/healthy.sh", timeout_s=15.0) is not None

    def _node_error(self, node: str, what: str) -> AglabError:
        log = self.logs(node)
        return explain(log, what, telling_lines(log))

    def form(self, progress: Progress = no_progress) -> None:
        """The availability group, by the init service; does only what is missing."""
        self._end_earlier_attempts()
        said: list[str] = []

        def heard(line: str) -> None:
            said.append(line)
            step = line.partition("init: ")[2]
            if step[:1].isdigit():
                progress(3 + int(step[0]) * 7 / (_STEPS + 1), 10, step.partition(" ")[2])

        if self.docker.follow(self.compose("run", "--rm", "--no-deps", "--no-TTY", "init"), heard):
            logs = [f"{node}: {line}" for node in NODES for line in telling_lines(self.logs(node), 1, any_line=False)]
            quoted = f" [{' | '.join(logs)}]" if logs else ""
            words = " ".join(telling_lines("\n".join(said), 3)) or "no message"
            raise AglabError(
                f"forming the group: {words}{quoted}",
                "aglab up tries again and does only what is missing",
            )

    def _end_earlier_attempts(self) -> None:
        """An init service whose ``aglab up`` was killed still works; two at once would get in each other's way."""
        labels = {"project": self.choices.project, "service": "init", "oneoff": "True"}
        filters = [word for key, value in labels.items() for word in ("--filter", f"label=com.docker.compose.{key}={value}")]
        left = self.docker.ask("ps", "--all", "--quiet", *filters, where="Docker").split()
        if left:
            self.docker.ask("rm", "--force", *left, where="an earlier attempt")

    def _undo(self, keep_data: bool) -> None:
        with contextlib.suppress(AglabError, OSError):
            self.docker.ask(*self.compose_all("down", "--remove-orphans", *([] if keep_data else ["--volumes"])), timeout_s=120.0)

    # -- changing ----------------------------------------------------------------------------------------------------
    def restart(self, node: str, options: Sequence[str]) -> None:
        """A new container for the node, with these startup options, on its old volume; returns when T-SQL answers."""
        self.choose(replace(self.choices, startup={**self.choices.startup, node: tuple(options)}))
        self.docker.ask(
            *self.compose("up", "--detach", "--no-deps", "--force-recreate", node), timeout_s=120.0, where=f"restart of {node}"
        )
        self.wait_healthy([node])
        shape(self, node)
        self.remember()

    def act(self, word: str, node: str) -> None:
        """``docker word`` on a node's container: kill, stop, start, pause, unpause."""
        self.docker.ask(word, self.container(node), where=f"{word} {node}")
        if word in ("start", "unpause"):
            self.wait_healthy([node])
        if word == "start":
            shape(self, node)

    # -- down --------------------------------------------------------------------------------------------------------
    def down(self, delete_data: bool) -> bool:
        """Remove containers and networks, and the databases too if asked; False if nothing was there."""
        was = bool(self.states()) or (delete_data and bool(self.volumes()))
        words = ["down", "--remove-orphans", "--timeout", "20", *(["--volumes"] if delete_data else [])]
        self.docker.ask(*self.compose_all(*words), timeout_s=180.0, where="down")
        if delete_data:
            self.password_file.unlink(missing_ok=True)
        (self.home / STATE_FILE).unlink(missing_ok=True)
        return was
