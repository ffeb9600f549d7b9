"""Other hardware for the twin's node containers: machines of their own, with databases of their own, and the first ones back.

Real servers have the hardware they have. The twin's world can be started with another profile; it then gets a state folder of its
own, as another machine room has disks of its own, and what it held goes with it.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from aglab.core.errors import AglabError
from aglab.live.choices import NODES, Choices
from aglab.live.containers import Containers

STOP_S_MAX, START_S_MAX = 120.0, 180.0
WHERE = "other hardware"


def have(containers: Containers, profile: str, label: str) -> bool:
    """Whether the nodes have that hardware: the name on their label, or the very file they were given."""
    if not profile.endswith(".toml"):
        return profile == label
    copy = containers.profile_copy(Path(profile))
    with contextlib.suppress(OSError):
        return containers.choices.profile.endswith(f"/{copy.name}") and copy.read_bytes() == Path(profile).read_bytes()
    return False


def equip(containers: Containers, profile: str) -> Choices:
    """Start machines with that hardware in place of those that run; the choices that bring the first ones back.

    Raises
    ------
    AglabError
        The nodes did not start; the first ones were asked to come back.
    """
    before = containers.choices
    try:
        containers.choose(replace(before, profile=profile, twin_state=f"other-{containers.profile_copy(Path(profile)).stem}"))
        containers.hand_over_profile()
        _stop(containers)
        _clear(containers, containers.choices.twin_state)
        _start(containers)
        if not before.bare:
            containers.form()
        containers.remember()
    except BaseException:
        with contextlib.suppress(AglabError, OSError):
            bring_back(containers, before)
        raise
    return before


def bring_back(containers: Containers, before: Choices) -> None:
    """The machines of ``before`` and their databases; what the others held is deleted."""
    other = containers.choices.twin_state
    _stop(containers)
    containers.choose(before)
    _start(containers)
    containers.remember()
    if other != before.twin_state:
        with contextlib.suppress(AglabError):  # what is left is deleted before the next use, and by aglab down
            _clear(containers, other)


def _stop(containers: Containers) -> None:
    containers.docker.ask(*containers.compose("stop", *NODES, "world"), timeout_s=STOP_S_MAX, where=WHERE)


def _start(containers: Containers) -> None:
    containers.docker.ask(*containers.compose("up", "--detach", "world", *NODES), timeout_s=START_S_MAX, where=WHERE)
    containers.wait_healthy(NODES)


def _clear(containers: Containers, state: str) -> None:
    """Delete the state of the other machines; an attempt that was cut short may have left some."""
    words = ["run", "--rm", "--no-deps", "--no-TTY", "--entrypoint", "/bin/rm", "world", "-rf", f"/var/lib/aglab/{state}"]
    containers.docker.ask(*containers.compose(*words), timeout_s=STOP_S_MAX, where=WHERE)
