"""The docker client as a subprocess: one place that starts it, with time limits, and turns its failures into causes.

The client is used and not a library of its API: Compose is a plugin of the client, and the user's contexts, credentials and
DOCKER_HOST then hold as they are.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aglab.core.errors import AglabError, MissingError
from aglab.live.causes import TWIN, explain

ASK_S_MAX = 60.0
PULL_S_MAX = 3600.0
COMPOSE_MIN = (2, 20)


class Docker:
    """The docker client.

    Parameters
    ----------
    environment : mapping, optional
        Added to this process's environment.

    Raises
    ------
    MissingError
        There is no docker on the path.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        found = shutil.which("docker")
        if found is None:
            raise MissingError("Docker is not installed", f"install Docker Engine or Docker Desktop; {TWIN}")
        self.client = found
        self.environment = dict(environment or {})

    def _all(self) -> dict[str, str]:
        return {**os.environ, **self.environment}

    def ask(self, *words: str, timeout_s: float = ASK_S_MAX, where: str = "", text: str | None = None) -> str:
        """Standard output of ``docker words``.

        Raises
        ------
        AglabError
            It failed; cause and remedy where they are known.
        """
        try:
            done = subprocess.run(
                [self.client, *words], input=text, capture_output=True, text=True, timeout=timeout_s, env=self._all(), check=False
            )
        except subprocess.TimeoutExpired:
            raise AglabError(
                f"{where or 'docker ' + words[0]}: no answer within {timeout_s:.0f} s",
                "see whether Docker is busy, then try again",
            ) from None
        if done.returncode:
            raise explain(done.stderr.strip() or done.stdout.strip(), where or f"docker {words[0]}")
        return done.stdout

    def tries(self, *words: str, timeout_s: float = ASK_S_MAX) -> str | None:
        """As :meth:`ask`; None where it fails."""
        with contextlib.suppress(AglabError):
            return self.ask(*words, timeout_s=timeout_s)
        return None

    def follow(self, words: Sequence[str], on_line: Callable[[str], None]) -> int:
        """Run ``docker words`` and hand on each line of its output; the exit code. Ctrl-C ends it too."""
        process = subprocess.Popen(
            [self.client, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self._all(),
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                on_line(line.rstrip("\r\n"))
            return process.wait()
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            process.kill()
            process.wait()
            raise
        finally:
            process.stdout.close()

    def engine(self) -> dict[str, Any]:
        """What the engine says of itself (``docker info``); raises its cause where there is no engine."""
        answer = self.ask("info", "--format", "{{json .}}", timeout_s=20.0, where="Docker")
        found: dict[str, Any] = json.loads(answer)
        errors = found.get("ServerErrors") or []
        if errors:
            raise explain("\n".join(errors), "Docker")
        return found

    def compose_version(self) -> str:
        """Version of the Compose plugin.

        Raises
        ------
        MissingError
            It is not installed or older than 2.20.
        """
        version = self.ask("compose", "version", "--short", timeout_s=20.0, where="Docker Compose").strip().lstrip("v")
        numbers = tuple(int(one) for one in version.split("-")[0].split(".")[:2] if one.isdigit())
        if numbers < COMPOSE_MIN:
            raise MissingError(
                f"Docker Compose {version} is older than {'.'.join(map(str, COMPOSE_MIN))}", "install docker-compose-plugin"
            )
        return version

    def image(self, name: str) -> dict[str, Any] | None:
        """Labels, id and size of an image that is here, or None."""
        answer = self.tries("image", "inspect", name)
        if answer is None:
            return None
        found = json.loads(answer)[0]
        return {
            "id": found.get("Id", ""),
            "bytes": int(found.get("Size", 0)),
            "architecture": found.get("Architecture", ""),
            "labels": (found.get("Config") or {}).get("Labels") or {},
        }
