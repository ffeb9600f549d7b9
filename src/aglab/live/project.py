"""The compose project as commands and labs see it: what Compose is told, what runs, where passwords and the state file lie.

A file in the user's folder remembers what was started, so that later commands find it. The twin's node image brings its own
overlay; nothing else here knows which image runs. Starting, waiting and ending are :mod:`aglab.live.containers`.
"""

from __future__ import annotations

import json
import os
import re
import socket
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from aglab.core.errors import MissingError
from aglab.live.choices import NODES, Choices
from aglab.live.engine import Docker

STATE_FILE = "cluster.json"
PASSWORD_FILE = "sa_password.txt"
TWIN_LABEL = "org.aglab.twin"
PROFILES = "/aglab/profiles"  # where the world container finds profiles that are files of yours


class Project:
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
    def remembered(cls, folder: Path, home: Path) -> Self | None:
        """The project that ``aglab up`` started, or None."""
        try:
            content = json.loads((home / STATE_FILE).read_text(encoding="utf-8"))
            content["overlays"] = tuple(content["overlays"])
            content["startup"] = {node: tuple(options) for node, options in content["startup"].items()}
            return cls(folder, home, Choices(**content))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def remember(self) -> None:
        """Write the state file."""
        self.home.mkdir(parents=True, exist_ok=True)
        temporary = self.home / f"{STATE_FILE}.new"
        temporary.write_text(json.dumps(asdict(self.choices), indent=1), encoding="utf-8")
        temporary.replace(self.home / STATE_FILE)

    def choose(self, choices: Choices) -> None:
        """From now on these; the state file learns of it with :meth:`remember`."""
        self.choices = choices
        self.docker.environment = self._environment()

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
            "AGLAB_TWIN_STATE": chosen.twin_state,
        }
        if (self.home / "profiles").is_dir():  # also for another profile later: the state that is there names the first one
            told["AGLAB_TWIN_PROFILES"] = str(self.home / "profiles")
        for number, node in enumerate(NODES):
            told[f"AGLAB_PORT_{node.upper()}"] = str(chosen.port_base + number)
            told[f"AGLAB_STARTUP_{node.upper()}"] = " ".join(chosen.startup.get(node, ()))
        if self._image and self.is_twin and "AGLAB_NET_IMAGE" not in os.environ:
            told["AGLAB_NET_IMAGE"] = self.sql_image  # it has the tools that the network's overlays want
        return {**told, **chosen.variables}

    def hand_over_profile(self) -> None:
        """A profile that is a file of yours is copied to where the world container sees it; it has that file's name there."""
        path = Path(self.choices.profile)
        if path.suffix != ".toml" or self.choices.profile.startswith(PROFILES) or not self.is_twin:
            return
        copy = self.profile_copy(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.parent.chmod(0o755)  # the world's user is not you
        temporary = copy.with_suffix(".new")
        temporary.write_bytes(path.read_bytes())
        temporary.chmod(0o644)
        temporary.replace(copy)
        self.choose(replace(self.choices, profile=f"{PROFILES}/{copy.name}"))

    def profile_copy(self, path: Path) -> Path:
        """Where the copy of a profile's file lies."""
        return self.home / "profiles" / (re.sub(r"[^\w.-]+", "-", path.stem) + ".toml")

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

    def ports_taken(self) -> dict[str, str]:
        """Node -> why its port cannot be had, for those whose port is taken."""
        taken = {}
        for node in NODES:
            with socket.socket() as probe:
                if os.name != "nt":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", self.port(node)))
                except OSError as error:
                    taken[node] = error.strerror or str(error)
        return taken

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
