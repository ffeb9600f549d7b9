"""A real Docker Engine, the very compose file a learner uses, the twin as the node image; nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ports import three_ports

ROOT = Path(__file__).parent.parent.parent
PROJECT = "aglab-test"
IMAGE = os.environ.get("AGLAB_SQL_IMAGE", "aglab-twin-node")
COMPOSE = ["compose", "-f", str(ROOT / "docker" / "compose.yaml"), "-f", str(ROOT / "docker" / "node" / "world.yaml")]


class Engine:
    """Docker and aglab as a user calls them, with this test's project, ports and home."""

    def __init__(self, home: Path, port_base: int) -> None:
        self.home = home
        self.port_base = port_base
        ports = {f"AGLAB_PORT_SQL{number + 1}": str(port_base + number) for number in range(3)}
        self.environment = {
            **os.environ,
            **ports,
            "ACCEPT_EULA": "Y",  # of the twin, which has no licence to accept
            "AGLAB_HOME": str(home),
            "AGLAB_SECRETS": str(home / "docker"),
            "AGLAB_PROJECT": PROJECT,
            "AGLAB_SUBNET": "10.177.79",
            "AGLAB_SQL_IMAGE": IMAGE,
            "AGLAB_HAMMERDB_IMAGE": IMAGE,
            "AGLAB_TWIN_PACE": "60x",
            "AGLAB_TIER": "paper",
        }
        (home / "docker").mkdir(parents=True, exist_ok=True)

    def docker(self, *words, check=True, **environment):
        done = subprocess.run(
            ["docker", *words], capture_output=True, text=True, timeout=300, env={**self.environment, **environment}, check=False
        )
        assert not check or done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def compose(self, *words, check=True, **environment):
        return self.docker(*COMPOSE, "--ansi", "never", *words, check=check, **environment)

    def form(self, **environment):
        """What compose.yaml's first line says; the init service's own lines."""
        return self.compose("up", "init", **environment).stdout

    def container(self, node):
        return f"{PROJECT}-{node}-1"

    def sqlcmd(self, node, text):
        """The first value, asked inside the node as a DBA would."""
        command = (
            'SQLCMDPASSWORD=$(cat /run/aglab/sa_password) /opt/mssql-tools18/bin/sqlcmd -C -b -S 127.0.0.1 -U sa -h -1 -W -Q "$0"'
        )
        words = ["exec", self.container(node), "/bin/bash", "-c", command, f"SET NOCOUNT ON; {text}"]
        return self.docker(*words).stdout.strip()

    def words(self, *words):
        """A command of aglab; ``up`` with this test's ports."""
        own = ["--port-base", str(self.port_base)] if words[0] == "up" else []
        return [sys.executable, "-m", "aglab", *words, *own]

    def aglab(self, *words, check=True, **environment):
        done = subprocess.run(
            self.words(*words),
            capture_output=True,
            text=True,
            timeout=300,
            env={**self.environment, **environment},
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def status(self):
        return json.loads(self.aglab("status", "--mode", "docker", "--json").stdout)

    def left(self):
        """Containers, volumes and networks of the project."""
        label = f"label=com.docker.compose.project={PROJECT}"
        containers = self.docker("ps", "--all", "--quiet", "--filter", label).stdout.split()
        volumes = self.docker("volume", "ls", "--quiet", "--filter", label).stdout.split()
        networks = self.docker("network", "ls", "--quiet", "--filter", label).stdout.split()
        return containers + volumes + networks


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    """The engine; what this session made is gone at its end, however it ends."""
    if shutil.which("docker") is None or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.fail("these tests need a Docker Engine: scripts/install_docker.sh brings one on Debian")
    with three_ports() as port_base:
        made = Engine(tmp_path_factory.mktemp("home"), port_base)
        if made.docker("image", "inspect", IMAGE, check=False).returncode:
            pytest.fail(f"image {IMAGE} is not here: scripts/node_image.sh builds it")
        made.compose("--profile", "load", "down", "--volumes", "--remove-orphans", check=False)
        yield made
        made.compose("--profile", "load", "down", "--volumes", "--remove-orphans", check=False)
