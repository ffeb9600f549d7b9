"""``aglab up --mode docker`` and what follows it: status and down of the containers."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any

import typer

from aglab.cli import shell
from aglab.core.errors import AglabError, UsageError, unknown_name
from aglab.core.paths import bundle_path

PROFILE = "profile"  # --limit profile: the limits that --profile comes to here
ROLE = "SELECT MAX(role_desc) AS role FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"


@dataclass(frozen=True)
class Place:
    """Where a container's node is reached."""

    name: str
    host: str
    port: int


class Attached:
    """The containers that run, as the other commands want them."""

    def __init__(self, containers: Any) -> None:
        from aglab.live.choices import NODES

        self.containers = containers
        self.nodes = [Place(name, "127.0.0.1", containers.port(name)) for name in NODES]

    def password(self) -> str:
        """sa's password."""
        return str(self.containers.password())


def attached() -> Attached | None:
    """The containers that ``aglab up --mode docker`` started and that are still there."""
    from aglab.live.project import STATE_FILE
    from aglab.live.remembered import containers_home

    if not (containers_home() / STATE_FILE).is_file():
        return None
    from aglab.live.remembered import remembered

    found = remembered()
    return Attached(found) if found is not None and found.states() else None


def up(
    profile: str | None,
    pace: str | None,
    bare: bool,
    port_base: int,
    cluster_type: str | None,
    limits: list[str] | None,
    startup: list[str] | None,
    as_json: bool,
) -> None:
    """Start three containers and form the group; does only what is missing."""
    from aglab.hardware import Profile
    from aglab.lab.cluster import checked_options
    from aglab.live.choices import NODES, Choices
    from aglab.live.containers import Containers
    from aglab.live.limits import read_back
    from aglab.live.remembered import containers_home

    folder = bundle_path("docker")
    known = sorted(path.stem for path in (folder / "overlays").glob("*.yaml"))
    for name in limits or []:
        if name not in (*known, PROFILE):
            raise unknown_name("limit", name, [*known, PROFILE])
    if PROFILE in (limits or []) and not profile:
        raise UsageError("--limit profile takes its values from a profile", "name it with --profile NAME or FILE")
    if profile:
        Profile.load(profile)  # a name or a field that is wrong is said before anything starts
    options = tuple(checked_options([word for one in startup or [] for word in one.split()]))
    choices = Choices.of_environment(
        profile=profile,
        pace=pace,
        bare=bare,
        port_base=port_base or None,
        cluster_type=cluster_type.upper() if cluster_type else None,
        overlays=tuple(name for name in limits or () if name != PROFILE) or None,
        startup=dict.fromkeys(NODES, options) if options else None,
    )
    project = Containers(folder, containers_home(), choices)
    parts: list[dict[str, str]] = []
    if profile and (PROFILE in (limits or []) or not project.is_twin):  # a twin of that profile needs no limits to behave like it
        project, parts = _limited(project, Profile.load(profile))
    with shell.progress_bar("containers") as progress:
        project.up(progress)
    if pace and not project.is_twin:
        shell.note("--pace is for a twin: SQL Server runs on the wall's clock")
    found = described(Attached(project))
    found["profile_limits"] = parts
    found["limits"] = [asdict(limit) for limit in read_back(project)]
    found["startup"] = [asdict(one) for one in _options_taken(project)]
    show(found, as_json)
    if not as_json:
        if parts:
            rows = [[part[key] for key in ("name", "asked", "given", "how", "why")] for part in parts]
            shell.print_table(f"Profile {profile} on this machine", ("what", "profile", "here", "how", "why"), rows)
        for limit in found["limits"]:
            shell.say(f"limit {limit['name']}: {'in force' if limit['applied'] else 'NOT in force'}: {limit['found']}")
        for one in _options_taken(project):
            shell.say(f"startup option, {one}")
        shell.say('Try: aglab sql sql1 "SELECT @@VERSION"     End: aglab down')


def _limited(project: Any, profile: Any) -> tuple[Any, list[dict[str, str]]]:
    """The project with the overlays that a profile comes to on this machine, those named by hand before them; and its parts."""
    from aglab.live.choices import QUEUES
    from aglab.live.containers import Containers
    from aglab.live.profile_limits import derive, host_of

    chosen = project.choices
    derived = derive(profile, host_of(project.docker.engine()))
    queued = any(name in QUEUES for name in chosen.overlays)
    added = [name for name in derived.overlays if name not in chosen.overlays and not (queued and name in QUEUES)]
    choices = replace(chosen, overlays=(*chosen.overlays, *added), variables=dict(derived.variables))
    return Containers(project.folder, project.home, choices, project.docker), [asdict(part) for part in derived.parts]


def _options_taken(project: Any) -> list[Any]:
    """What each node says of its startup options."""
    from aglab.lab.driver import Connection
    from aglab.lab.startup_options import Option, read_back

    found: list[Any] = []
    for node, options in project.choices.startup.items():
        if not options:
            continue
        try:
            with Connection("127.0.0.1", project.port(node), "sa", project.password(), node=node) as connection:
                found += read_back(node, options, connection.run)
        except AglabError as error:
            found += [Option(node, option, False, f"the node was not reached: {error}") for option in options]
    return found


def show(found: dict[str, Any], as_json: bool) -> None:
    """Nodes, roles, connection strings."""
    if as_json:
        shell.print_json(found)
        return
    print_nodes(found["label"], found)


def print_nodes(title: str, found: dict[str, Any]) -> None:
    """Nodes of any kind as a table, then what somebody copies: whole lines, which a table of 80 columns would break."""
    columns = {"name": "node", "role": "role", "state": "container", "server": "server"}
    shown = [key for key in columns if key in found["nodes"][0]]
    rows = [[node[key] for key in shown] for node in found["nodes"]]
    shell.print_table(title, [columns[key] for key in shown], rows)
    for node in found["nodes"]:
        shell.say(node["connection_string"])
    shell.say(f"Login sa; the password is in {found['password_file']}")


def described(running: Attached) -> dict[str, Any]:
    """What ``status --json`` prints."""
    from aglab.lab.driver import Connection

    states = running.containers.states()
    nodes, label, profile = [], "containers", None
    for place in running.nodes:
        state = states.get(place.name, {"state": "missing", "health": ""})
        role = None
        # a node that does not answer has no role that anybody knows
        with contextlib.suppress(AglabError), Connection(place.host, place.port, "sa", running.password()) as connection:
            role = connection.run(ROLE).value or "STANDALONE"
            if profile is None:
                profile = str(connection.run("SELECT @@VERSION AS version").value).splitlines()[0]
                label = profile
        server = f"{place.host},{place.port}"
        nodes.append(
            {
                "name": place.name,
                "server": server,
                "port": place.port,
                "role": role,
                "state": " ".join(word for word in (state["state"], state["health"]) if word),
                "connection_string": f"Server={server};UID=sa;TrustServerCertificate=yes;Encrypt=yes",
            }
        )
    choices = running.containers.choices
    return {
        "mode": "docker",
        "profile": profile,
        "label": f"{label}, CLUSTER_TYPE = {choices.cluster_type}" if not choices.bare else label,
        "simulated": running.containers.is_twin,
        "nodes": nodes,
        "password_file": str(running.containers.password_file),
        "startup_options": {node: list(options) for node, options in choices.startup.items()},
    }


def down(delete_data: bool | None, as_json: bool) -> None:
    """Remove the containers; the databases only when the user says so."""
    from aglab.live.choices import Choices
    from aglab.live.containers import Containers
    from aglab.live.remembered import containers_home, remembered

    project = remembered() or Containers(bundle_path("docker"), containers_home(), Choices.of_environment())
    volumes = project.volumes()
    if delete_data is None:
        delete_data = bool(volumes) and _asked(as_json)
    ended = project.down(delete_data)
    if as_json:
        shell.print_json({"ended": ended, "data_deleted": delete_data})
    elif not ended:
        shell.say("No containers were up.")
    else:
        shell.say(f"The containers are gone; the databases are {'deleted' if delete_data else 'kept for the next aglab up'}.")


def _asked(as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        return False
    return typer.confirm("Delete the databases too? They cannot be brought back", default=False)


__all__ = ["Attached", "attached", "described", "down", "print_nodes", "show", "up"]
