"""The containers that a command of before started; light, for commands that only ask whether there are any."""

from __future__ import annotations

from pathlib import Path

from aglab.core.paths import bundle_path, user_home
from aglab.live.containers import Containers


def containers_home() -> Path:
    """Where state file and password of the containers lie."""
    return user_home() / "docker"


def remembered() -> Containers | None:
    """The containers that ``aglab up --mode docker`` started, or None."""
    return Containers.remembered(bundle_path("docker"), containers_home())
