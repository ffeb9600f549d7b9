"""What a user chose at ``aglab up --mode docker``: images, ports, cluster type, limits, startup options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aglab.core.errors import UsageError

NODES = ("sql1", "sql2", "sql3")
CLUSTER_TYPES = ("NONE", "EXTERNAL")
PORT_BASE = 14331
QUEUES = ("delay", "rate", "network")  # overlays that set the one queue a network device has


@dataclass(frozen=True)
class Choices:
    """What a user chose at ``aglab up``; kept in the state file."""

    project: str = "aglab"
    sql_image: str = ""  # empty: compose.yaml's own
    hammerdb_image: str = ""
    port_base: int = PORT_BASE
    cluster_type: str = "NONE"
    bare: bool = False
    subnet: str = ""
    overlays: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)  # of the overlays, where a profile gives their values
    profile: str = ""
    pace: str = ""
    twin_state: str = ""  # folder of the twin's databases; empty: those that up made, else those of other hardware
    startup: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.cluster_type not in CLUSTER_TYPES:
            raise UsageError(f"cluster type {self.cluster_type!r} is not known", f"use {' or '.join(CLUSTER_TYPES)}")
        if not 1024 <= self.port_base <= 65533:
            raise UsageError(f"port_base={self.port_base} must be 1024 to 65533", f"use for example {PORT_BASE}")
        queues = [name for name in self.overlays if name in QUEUES]
        if len(queues) > 1:
            said = " and ".join(f"--limit {name}" for name in queues)
            raise UsageError(
                f"{said}: a network device has one queue, the later one would replace the other", "use --limit network"
            )

    @classmethod
    def of_environment(cls, **given: Any) -> Choices:
        """Choices of the command line, with what the environment names where it says nothing."""
        names = {
            "project": "AGLAB_PROJECT",
            "sql_image": "AGLAB_SQL_IMAGE",
            "hammerdb_image": "AGLAB_HAMMERDB_IMAGE",
            "subnet": "AGLAB_SUBNET",
            "cluster_type": "AGLAB_CLUSTER_TYPE",
            "profile": "AGLAB_TWIN_PROFILE",
            "pace": "AGLAB_TWIN_PACE",
        }
        found: dict[str, Any] = {key: os.environ[name] for key, name in names.items() if os.environ.get(name)}
        startup = {node: tuple(os.environ.get(f"AGLAB_STARTUP_{node.upper()}", "").split()) for node in NODES}
        found["startup"] = {node: options for node, options in startup.items() if options}
        return cls(**{**found, **{key: value for key, value in given.items() if value is not None}})
