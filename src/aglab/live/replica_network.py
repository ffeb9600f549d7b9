"""The replicas' network of the containers: a node cut off from it and put back, and the distance between the nodes.

Clients have a network of their own, so a node that is cut off can still be looked at. Delay and rate are services of
``overlays``; they are set again where a container or its network device is new.
"""

from __future__ import annotations

import json
from dataclasses import replace

from aglab.live.choices import NODES, QUEUES
from aglab.live.engine import PULL_S_MAX
from aglab.live.project import Project

SUBNET = "10.177.77"  # compose.yaml's own


def cut(project: Project, node: str) -> None:
    """Take a node off the replicas' network; clients still reach it."""
    project.docker.ask("network", "disconnect", f"{project.choices.project}_ag", project.container(node), where=f"cut {node}")


def heal(project: Project, node: str) -> None:
    """Put a node back on the replicas' network, under its address and name; nothing to do where it is on it."""
    network = f"{project.choices.project}_ag"
    joined = project.docker.ask(
        "inspect", "--format", "{{json .NetworkSettings.Networks}}", project.container(node), where="heal"
    )
    if network in json.loads(joined or "{}"):
        return
    address = f"{project.choices.subnet or SUBNET}.{11 + NODES.index(node)}"
    words = ["network", "connect", "--ip", address, "--alias", f"{node}-ag", "--alias", node]
    project.docker.ask(*words, network, project.container(node), where=f"heal {node}")
    shape(project, node)


def shape(project: Project, node: str) -> None:
    """Delay and rate again, where they were asked for: a new container or a new network device begins without them."""
    for name in project.choices.overlays:
        if name in QUEUES:
            words = ["up", "--no-deps", "--force-recreate", f"{name}{NODES.index(node) + 1}"]
            project.docker.ask(*project.compose(*words), timeout_s=120.0, where=f"limit {name}")


def delay(project: Project, rtt_us: float) -> dict[str, str]:
    """Put this round trip between the nodes that run, as ``overlays/delay.yaml`` does; it is kept like a limit of ``up``.

    Returns
    -------
    dict
        Node -> what its service said when it could not; empty where every delay was read back.
    """
    before = project.choices
    overlays = [{"rate": "network"}.get(name, name) for name in before.overlays]  # a device has one queue
    queue = next((name for name in overlays if name in QUEUES), "delay")
    told = {**before.variables, "AGLAB_LIMIT_DELAY_US": f"{rtt_us / 2:g}"}  # half of it each way
    project.choose(replace(before, overlays=tuple(dict.fromkeys((*overlays, queue))), variables=told))
    states = project.states()
    services = {f"{queue}{node[-1]}": node for node in NODES if states.get(node, {}).get("state") == "running"}
    up = project.compose("up", "--no-deps", "--force-recreate", *services)
    project.docker.ask(*up, timeout_s=PULL_S_MAX, where="delay")
    said = {node: project.logs(service) for service, node in services.items()}
    refused = {node: text.strip() for node, text in said.items() if "qdisc netem" not in text}
    if refused:
        project.choose(before)
    else:
        project.remember()
    return refused
