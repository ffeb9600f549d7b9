"""``aglab up``, ``status``, ``down`` and ``sql``: three nodes on loopback, and T-SQL on one of them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import containers, shell
from aglab.core.errors import AglabError, MissingError, UsageError, unknown_name

MODES = ("twin", "docker", "remote")
SCRIPT_BYTES_MAX = 50_000_000


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(up)
    app.command()(status)
    app.command()(down)
    app.command()(sql)


def _chosen(mode: str | None) -> str | None:
    """The mode that was asked for, by option or environment; None where nobody asked."""
    import os

    chosen = mode or os.environ.get("AGLAB_MODE") or None
    if chosen is not None and chosen not in MODES:
        raise unknown_name("mode", chosen, MODES)
    return chosen


def _not_ours(mode: str | None) -> None:
    if _chosen(mode) == "remote":
        raise UsageError(
            "mode remote: aglab neither starts nor ends servers of your own", "aglab status --mode remote looks at them"
        )


def _found(mode: str | None) -> Any:
    """The nodes that run: of the mode that was asked for, else the twin's, else containers; None where none do."""
    from aglab.twin import attach

    chosen = _chosen(mode)
    twin = attach(_state_dir()) if chosen in (None, "twin") else None
    return twin if twin is not None or chosen == "twin" else containers.attached()


def _state_dir() -> Path:
    return shell.home() / "twin"


def _described(twin: Any, mode: str = "twin") -> dict[str, Any]:
    nodes = [
        {
            "name": node.name,
            "server": node.server,
            "port": node.port,
            "role": node.role,
            "connection_string": node.connection_string,
        }
        for node in twin.nodes
    ]
    return {
        "mode": mode,
        "profile": twin.profile,
        "pace": twin.pace,
        "nodes": nodes,
        "password_file": str(twin.password_file),
        "process_id": twin.process_id,
    }


def _print_nodes(found: dict[str, Any]) -> None:
    containers.print_nodes(f"SIMULATED, profile {found['profile']}, pace {found['pace']}", found)


def up(
    mode: shell.Mode = None,
    profile: shell.Profile = None,
    pace: Annotated[str | None, typer.Option("--pace", help="fast (default), 1x or 60x of the wall clock.")] = None,
    bare: Annotated[bool, typer.Option("--bare", help="Without availability group ag1.")] = False,
    port_base: Annotated[int, typer.Option("--port-base", help="Port of sql1; sql2 and sql3 take the next two.")] = 0,
    seed: shell.Seed = 1,
    cluster_type: Annotated[
        str | None, typer.Option("--cluster-type", help="Of group ag1: EXTERNAL (a twin's default) or NONE (containers').")
    ] = None,
    snapshot: Annotated[
        str, typer.Option("--from", metavar="SNAPSHOT", help="As the cluster was at a snapshot (EXEC twin.snapshots lists them).")
    ] = "",
    overlays: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="NAME", help="Containers: one of docker/overlays, or profile; may be repeated."),
    ] = None,
    startup: Annotated[
        list[str] | None,
        typer.Option("--startup", metavar="OPTION", help="Containers: a startup option of all nodes, e.g. -k750 or -T834."),
    ] = None,
    as_json: shell.Json = False,
) -> None:
    """Start three nodes on loopback that stay until aglab down."""
    _not_ours(mode)
    if snapshot and (profile or _chosen(mode) == "docker"):
        given = "--profile" if profile else "--mode docker"
        raise UsageError(f"--from {snapshot!r} does not go with {given}", "a snapshot is of a twin and has its own profile")
    if _chosen(mode) == "docker":
        containers.up(profile, pace, bare, port_base, cluster_type, overlays, startup, as_json)
        return
    if overlays:
        raise UsageError("--limit is for containers", "add --mode docker")
    if startup:
        raise UsageError("--startup is for containers", "add --mode docker; a twin's node takes options at a restart, in a lab")
    from aglab.twin import spawn_detached

    seed = shell.checked_seed(seed)
    kind = (cluster_type or "").upper()
    try:
        twin = _brought_back(snapshot) if snapshot else None
        with shell.progress_bar("three nodes start; the first start on a machine compiles the engine") as progress:
            twin = twin or spawn_detached(
                _state_dir(), profile, pace, bare, port_base, seed, kind, snapshot, waiting=lambda: progress(0, None)
            )
    except KeyboardInterrupt:
        _end_children()
        raise
    found = _described(twin)
    if twin.set_aside:
        shell.note(f"the state of the last time could not be read; it was set aside as {twin.set_aside}")
    if as_json:
        shell.print_json(found)
        return
    _print_nodes(found)
    shell.say('Try: aglab sql sql1 "SELECT @@VERSION"     End: aglab down')


def _brought_back(snapshot: str) -> Any:
    """The nodes that run, as they were at the snapshot; None where none run."""
    from aglab.lab.results import SqlFailed
    from aglab.twin import attach
    from aglab.twin.statedir import checked_snapshot_name

    running = attach(_state_dir())
    if running is None:
        return None
    try:
        with _connection(running, "sql1") as connection:
            connection.run(f"EXEC twin.restore @name = N'{checked_snapshot_name(snapshot)}'")
    except SqlFailed as error:
        raise UsageError(error.text) from error
    return running


def _end_children() -> None:
    """End nodes that were about to start when the user thought better of it."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("aglab.twin" in word for word in child.cmdline()):
                child.terminate()
                child.wait(timeout=10)


def status(mode: shell.Mode = None, servers: shell.Servers = None, allow: shell.Allow = None, as_json: shell.Json = False) -> int:
    """The nodes that run, with their roles and connection strings; of your own servers, what they allow."""
    if _chosen(mode) == "remote":
        from aglab.cli.remote import show

        show(servers, tuple(allow or ()), as_json)
        return 0
    running = _found(mode)
    if running is None:
        if as_json:
            shell.print_json({"mode": None, "profile": None, "nodes": [], "password_file": None})
        else:
            shell.say("No nodes are up; aglab up starts three.")
        return 0
    if isinstance(running, containers.Attached):
        containers.show(containers.described(running), as_json)
        return 0
    found = _described(running)
    roles = _roles_now(running)
    for node in found["nodes"]:
        node["role"] = roles.get(node["name"], node["role"])
    if as_json:
        shell.print_json(found)
    else:
        _print_nodes(found)
    return 0


def _roles_now(twin: Any) -> dict[str, str]:
    """Roles as the nodes themselves report them; a failover since the start changes them."""
    roles = {}
    query = "SELECT role_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
    for node in twin.nodes:
        # a node that does not answer keeps the role it began with
        with contextlib.suppress(AglabError), _connection(twin, node.name) as connection:
            found = connection.run(query).tables
            if found and len(found[0]):
                roles[node.name] = str(found[0].iat[0, 0])
    return roles


def down(
    mode: shell.Mode = None,
    delete_data: Annotated[
        bool | None, typer.Option("--delete-data/--keep-data", help="Containers: what to do with the databases; asked otherwise.")
    ] = None,
    as_json: shell.Json = False,
) -> None:
    """End the nodes; their state is kept for the next aglab up, unless you say otherwise."""
    from aglab.twin import shutdown

    _not_ours(mode)
    running = _found(mode)
    if isinstance(running, containers.Attached) or (running is None and _chosen(mode) == "docker"):
        containers.down(delete_data, as_json)
        return
    if delete_data:
        raise UsageError("--delete-data is for containers", f"the twin's state is the folder {_state_dir()}")
    ended = shutdown(_state_dir())
    if as_json:
        shell.print_json({"ended": ended})
    else:
        shell.say("The nodes have ended; their state is kept." if ended else "No nodes were up.")


def _connection(twin: Any, name: str, database: str = "master") -> Any:
    from aglab.lab.driver import Connection

    for node in twin.nodes:
        if node.name == name.lower():
            return Connection(node.host, node.port, "sa", twin.password(), database)
    raise unknown_name("node", name, [node.name for node in twin.nodes])


def _reading(file: Path | None, node: str, database: str) -> Any:
    """A connection to a server of the user's own that takes no change: for one, there are sqlcmd and SSMS."""
    from dataclasses import replace

    from aglab.lab.remote_cluster import RemoteCluster
    from aglab.live.servers import load_servers

    return RemoteCluster(replace(load_servers(file), allow=())).connect(node, database)


def sql(
    node: Annotated[str, typer.Argument(help="sql1, sql2 or sql3.")],
    text: Annotated[str | None, typer.Argument(help="T-SQL; GO on a line of its own separates batches.")] = None,
    file: Annotated[Path | None, typer.Option("--input", "-i", help="A file of T-SQL; - reads standard input.")] = None,
    database: Annotated[str, typer.Option("--database", "-d", help="Database to begin in.")] = "master",
    mode: shell.Mode = None,
    servers: shell.Servers = None,
    as_json: shell.Json = False,
) -> int:
    """Run T-SQL on a node that aglab up started, or T-SQL that only reads on a server of your own (--mode remote)."""
    from aglab.lab.batches import batches
    from aglab.lab.results import SqlFailed

    script = batches(_script(text, file))
    if not script:
        raise UsageError(
            "there is no T-SQL to run", 'give it in quotes, e.g. aglab sql sql1 "SELECT @@VERSION", or name a file with -i'
        )
    remote = _chosen(mode) == "remote"
    twin = None if remote else _found(mode)
    if twin is None and not remote:
        raise MissingError("no nodes are up", "start them with: aglab up")
    shown: list[dict[str, Any]] = []
    messages: list[str] = []
    failure: dict[str, Any] | None = None
    with _reading(servers, node, database) if remote else _connection(twin, node, database) as connection:
        for batch in script:
            for _ in range(batch.count):
                try:
                    result = connection.run(batch.text, line=batch.line)
                except SqlFailed as error:
                    failure = failure or {"number": error.number, "message": error.text, "line": batch.line}
                    result = getattr(error, "result", None)
                    _keep(result, shown, messages, as_json)
                    shell.note(shell.one_line(str(error)))
                    continue
                _keep(result, shown, messages, as_json)
    if as_json:
        shell.print_json({"node": node.lower(), "results": shown, "messages": messages, "error": failure})
    return 1 if failure else 0


def _script(text: str | None, file: Path | None) -> str:
    import sys

    if (text is None) == (file is None):
        if text is not None:
            raise UsageError("T-SQL is given twice: as an argument and with -i", "give one of them")
        raise UsageError(
            "there is no T-SQL to run", 'give it in quotes, e.g. aglab sql sql1 "SELECT @@VERSION", or name a file with -i'
        )
    if text is not None:
        return text
    assert file is not None
    if str(file) == "-":
        return sys.stdin.read()
    try:
        if file.stat().st_size > SCRIPT_BYTES_MAX:
            raise UsageError(f"{file} has {file.stat().st_size:,} bytes, limit {SCRIPT_BYTES_MAX:,}", "split the script")
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"-i {str(file)!r} does not exist", "check the path") from error
    except IsADirectoryError as error:
        raise UsageError(f"-i {str(file)!r} is a folder", "name a file") from error
    return _decoded(data, file)


def _decoded(data: bytes, file: Path) -> str:
    """Text of a script as SSMS or sqlcmd may have saved it."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not text in UTF-8 or UTF-16 (byte {error.start})", "save it as UTF-8") from error


def _keep(result: Any, shown: list[dict[str, Any]], messages: list[str], as_json: bool) -> None:
    if result is None:
        return
    for table in result.tables:
        columns = [str(name) for name in table.columns]
        rows = [list(row) for row in table.itertuples(index=False, name=None)]
        shown.append({"columns": columns, "rows": rows})
        if not as_json:
            shell.print_table("", columns, [["NULL" if _is_null(cell) else _cell(cell) for cell in row] for row in rows])
            shell.say(f"({len(rows)} row{'' if len(rows) == 1 else 's'})")
    messages += result.messages
    if not as_json:
        for message in result.messages:
            shell.say(message)


def _is_null(cell: Any) -> bool:
    return cell is None or cell != cell


def _cell(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return "0x" + cell.hex().upper()
    return cell.rstrip() if isinstance(cell, str) else cell
