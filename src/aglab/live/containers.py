"""Three node containers and their availability group: up, status, restart, faults, down. What ``docker compose`` can do by hand.

The compose file and the T-SQL are those of the folder ``docker``; this module adds looking before, waiting with a progress bar,
and causes. A file in the user's folder remembers what was started, so that later commands find it. The twin's node image brings
its own overlay; nothing else here knows which image runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError, MissingError
from aglab.core.progress import Progress, no_progress
from aglab.live.causes import explain, telling_lines
from aglab.live.choices import NODES, QUEUES, Choices
from aglab.live.engine import PULL_S_MAX, Docker

HEALTHY_S_MAX = 420.0
LOOK_S = 0.25
STATE_FILE = "cluster.json"
PASSWORD_FILE = "sa_password.txt"
TWIN_LABEL = "org.aglab.twin"
_STEPS = 6  # of the init service


class Containers:
    """The compose project.

    Parameters
    ----------
    folder : Path
        The folder ``docker`` with compose.yaml.
    home : Path
        Where the state file and the password lie.
    choices : Choices
        What to start.
    """

    def __init__(self, folder: Path, home: Path, choices: Choices, docker: Docker | None = None) -> None:
        self.folder = folder
        self.home = home
        self.choices = choices
        self.docker = docker or Docker()
        self._image: dict[str, Any] | None = None
        self.docker.environment = self._environment()

    @classmethod
    def remembered(cls, folder: Path, home: Path) -> Containers | None:
        """The project that ``aglab up`` started, or None."""
        try:
            content = json.loads((home / STATE_FILE).read_text(encoding="utf-8"))
            content["overlays"] = tuple(content["overlays"])
            content["startup"] = {node: tuple(options) for node, options in content["startup"].items()}
            return cls(folder, home, Choices(**content))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    # -- what Compose is told ----------------------------------------------------------------------------------------
    def _environment(self) -> dict[str, str]:
        chosen = self.choices
        told = {
            "AGLAB_PROJECT": chosen.project,
            "AGLAB_SECRETS": str(self.home),
            "AGLAB_CLUSTER_TYPE": chosen.cluster_type,
            "AGLAB_SQL_IMAGE": chosen.sql_image,
            "AGLAB_HAMMERDB_IMAGE": chosen.hammerdb_image,
            "AGLAB_SUBNET": chosen.subnet,
            "AGLAB_TWIN_PROFILE": chosen.profile,
            "AGLAB_TWIN_PACE": chosen.pace,
        }
        for number, node in enumerate(NODES):
            told[f"AGLAB_PORT_{node.upper()}"] = str(chosen.port_base + number)
            told[f"AGLAB_STARTUP_{node.upper()}"] = " ".join(chosen.startup.get(node, ()))
        if self._image and self.is_twin and "AGLAB_NET_IMAGE" not in os.environ:
            told["AGLAB_NET_IMAGE"] = self.sql_image  # it has the tools that the network's overlays want
        return {**told, **chosen.variables}

    def files(self) -> list[str]:
        """Compose files in order."""
        files = [self.folder / "compose.yaml"]
        if self.is_twin:
            files.append(self.folder / "node" / "world.yaml")
        files += [self.folder / "overlays" / f"{name}.yaml" for name in self.choices.overlays]
        return [str(one) for one in files]

    def compose(self, *words: str) -> list[str]:
        """The words of ``docker compose ...`` for this project."""
        return ["compose", *(part for one in self.files() for part in ("-f", one)), "--ansi", "never", *words]

    def compose_all(self, *words: str) -> list[str]:
        """As :meth:`compose`, with the services that start on demand only: what goes down must include them."""
        return self.compose("--profile", "load", "--profile", "net", *words)

    @property
    def sql_image(self) -> str:
        """The node image's name."""
        if self.choices.sql_image:
            return self.choices.sql_image
        text = (self.folder / "compose.yaml").read_text(encoding="utf-8")
        return text.split("${AGLAB_SQL_IMAGE:-", 1)[1].split("}", 1)[0]

    @property
    def is_twin(self) -> bool:
        """Whether the node image is the twin's."""
        if self._image is None:
            self._image = self.docker.image(self.sql_image)
            self.docker.environment = self._environment()
        return bool(self._image and self._image["labels"].get(TWIN_LABEL))

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
            self._start(progress)
            self._wait_healthy(NODES, progress)
            if not self.choices.bare:
                self._form(progress)
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
        for number, node in enumerate(NODES):
            port = self.choices.port_base + number
            with socket.socket() as probe:
                if os.name != "nt":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    raise MissingError(
                        f"port {port} of node {node} is taken ({error.strerror or error})",
                        "stop what listens there, or choose others with --port-base N",
                    ) from error

    def _fetch(self, progress: Progress) -> None:
        if self.docker.image(self.sql_image) is None:
            progress(1, 10, f"fetching {self.sql_image}")
            self.docker.ask("pull", "--quiet", self.sql_image, timeout_s=PULL_S_MAX, where=f"image {self.sql_image}")
            self._image = None

    def _start(self, progress: Progress) -> None:
        progress(2, 10, "starting the nodes")
        said: list[str] = []
        if self.docker.follow(self.compose("up", "--detach", *NODES), said.append):
            logs = self.logs("prepare") + "\n" + "\n".join(self.logs(node) for node in NODES)
            raise explain("\n".join(said), "starting the nodes", telling_lines(logs) if logs.strip() else ())

    def _wait_healthy(self, nodes: Sequence[str], progress: Progress = no_progress) -> None:
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

    def _form(self, progress: Progress) -> None:
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

    def _undo(self, keep_data: bool) -> None:
        with contextlib.suppress(AglabError, OSError):
            self.docker.ask(*self.compose_all("down", "--remove-orphans", *([] if keep_data else ["--volumes"])), timeout_s=120.0)

    # -- looking -----------------------------------------------------------------------------------------------------
    def states(self) -> dict[str, dict[str, str]]:
        """service -> ``state`` (running, exited ...), ``health``, ``name`` of its container."""
        answer = self.docker.ask(
            "ps",
            "--all",
            "--filter",
            f"label=com.docker.compose.project={self.choices.project}",
            "--filter",
            "label=com.docker.compose.oneoff=False",
            "--format",
            '{{.Label "com.docker.compose.service"}}\t{{.State}}\t{{.Status}}\t{{.Names}}',
            where="Docker",
        )
        states = {}
        for line in answer.splitlines():
            service, state, status, name = line.split("\t")
            health = next((word for word in ("unhealthy", "starting", "healthy") if word in status), "")
            states[service] = {"state": state, "health": health, "name": name}
        return states

    def container(self, node: str) -> str:
        """Name of a node's container."""
        found = self.states().get(node)
        if found is None:
            raise MissingError(f"node {node} has no container", "start it with: aglab up --mode docker")
        return found["name"]

    def volumes(self) -> list[str]:
        """Names of the project's volumes."""
        answer = self.docker.ask(
            "volume", "ls", "--quiet", "--filter", f"label=com.docker.compose.project={self.choices.project}", where="Docker"
        )
        return sorted(answer.split())

    def logs(self, service: str, lines: int = 200) -> str:
        """What a container has printed; a node prints its errorlog."""
        return self.docker.tries(*self.compose("logs", "--no-log-prefix", "--tail", str(lines), service)) or ""

    def port(self, node: str) -> int:
        """The node's published port."""
        return self.choices.port_base + NODES.index(node)

    @property
    def password_file(self) -> Path:
        """Holds sa's password."""
        return self.home / PASSWORD_FILE

    def password(self) -> str:
        """sa's password."""
        try:
            return self.password_file.read_text(encoding="ascii").strip()
        except OSError as error:
            raise MissingError(
                f"{self.password_file} cannot be read ({error.strerror})", "run aglab up --mode docker: it writes the file again"
            ) from error

    # -- changing ----------------------------------------------------------------------------------------------------
    def restart(self, node: str, options: Sequence[str]) -> None:
        """A new container for the node, with these startup options, on its old volume; returns when T-SQL answers."""
        self._choose(replace(self.choices, startup={**self.choices.startup, node: tuple(options)}))
        self.docker.ask(
            *self.compose("up", "--detach", "--no-deps", "--force-recreate", node), timeout_s=120.0, where=f"restart of {node}"
        )
        self._wait_healthy([node])
        self.shape(node)
        self.remember()

    def equip(self, profile: str) -> None:
        """Give the twin's nodes other hardware; their databases stay. The whole of them starts again."""
        self._choose(replace(self.choices, profile=profile))
        self.docker.ask(*self.compose("stop", *NODES, "world"), timeout_s=120.0, where="other hardware")
        self.docker.ask(*self.compose("up", "--detach", "world", *NODES), timeout_s=180.0, where="other hardware")
        self._wait_healthy(NODES)
        self.remember()

    def act(self, word: str, node: str) -> None:
        """``docker word`` on a node's container: kill, stop, start, pause, unpause."""
        self.docker.ask(word, self.container(node), where=f"{word} {node}")
        if word in ("start", "unpause"):
            self._wait_healthy([node])
        if word == "start":
            self.shape(node)

    def cut(self, node: str) -> None:
        """Take a node off the replicas' network; clients still reach it."""
        self.docker.ask("network", "disconnect", f"{self.choices.project}_ag", self.container(node), where=f"cut {node}")

    def heal(self, node: str) -> None:
        """Put a node back on the replicas' network, under its address and name; nothing to do where it is on it."""
        network = f"{self.choices.project}_ag"
        joined = self.docker.ask("inspect", "--format", "{{json .NetworkSettings.Networks}}", self.container(node), where="heal")
        if network in json.loads(joined or "{}"):
            return
        address = f"{self.choices.subnet or '10.177.77'}.{11 + NODES.index(node)}"
        words = ["network", "connect", "--ip", address, "--alias", f"{node}-ag", "--alias", node]
        self.docker.ask(*words, network, self.container(node), where=f"heal {node}")
        self.shape(node)

    def shape(self, node: str) -> None:
        """Delay and rate again, where they were asked for: a new container or a new network device begins without them."""
        for name in self.choices.overlays:
            if name in QUEUES:
                words = ["up", "--no-deps", "--force-recreate", f"{name}{NODES.index(node) + 1}"]
                self.docker.ask(*self.compose(*words), timeout_s=120.0, where=f"limit {name}")

    def delay(self, rtt_us: float) -> dict[str, str]:
        """Put this round trip between the nodes that run, as ``overlays/delay.yaml`` does; it is kept like a limit of ``up``.

        Returns
        -------
        dict
            Node -> what its service said when it could not; empty where every delay was read back.
        """
        before = self.choices
        overlays = [{"rate": "network"}.get(name, name) for name in before.overlays]  # a device has one queue
        queue = next((name for name in overlays if name in QUEUES), "delay")
        told = {**before.variables, "AGLAB_LIMIT_DELAY_US": f"{rtt_us / 2:g}"}  # half of it each way
        self._choose(replace(before, overlays=tuple(dict.fromkeys((*overlays, queue))), variables=told))
        states = self.states()
        services = {f"{queue}{node[-1]}": node for node in NODES if states.get(node, {}).get("state") == "running"}
        up = self.compose("up", "--no-deps", "--force-recreate", *services)
        self.docker.ask(*up, timeout_s=PULL_S_MAX, where="delay")
        said = {node: self.logs(service) for service, node in services.items()}
        refused = {node: text.strip() for node, text in said.items() if "qdisc netem" not in text}
        if refused:
            self._choose(before)
        else:
            self.remember()
        return refused

    def _choose(self, choices: Choices) -> None:
        self.choices = choices
        self.docker.environment = self._environment()

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

    def remember(self) -> None:
        """Write the state file."""
        self.home.mkdir(parents=True, exist_ok=True)
        temporary = self.home / f"{STATE_FILE}.new"
        temporary.write_text(json.dumps(asdict(self.choices), indent=1), encoding="utf-8")
        temporary.replace(self.home / STATE_FILE)
