"""``aglab status --mode remote``: what a user's own servers are, and which labs their permissions allow."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from aglab.cli import shell


def left_over() -> list[Path]:
    """T-SQL of earlier runs that were killed before they could take back what they had changed."""
    import psutil

    from aglab.core.paths import user_home

    found = [(path, re.fullmatch(r"undo-(\d+)-\w+", path.stem)) for path in sorted((user_home() / "remote").glob("undo-*.sql"))]
    return [path for path, named in found if named and not psutil.pid_exists(int(named[1]))]


def show(file: Path | None, allow: tuple[str, ...], as_json: bool) -> None:
    """Look at each server of the file, read-only, and print what was found."""
    from aglab.lab.remote_cluster import RemoteCluster
    from aglab.lab.remote_probe import labs_for

    with RemoteCluster.opened(file, allow) as cluster:
        looks = cluster.looks()
        labs = labs_for(looks, cluster.database, cluster.allowed, bool(cluster.file.hammerdb))
        label, allowed = cluster.label, sorted(cluster.allowed)
    left = [str(path) for path in left_over()]
    for path in left:
        shell.note(f"an earlier run was killed before it took back its changes: run {path} by hand, then delete it")
    if as_json:
        nodes = [{**asdict(one), "sampling": one.sampling} for one in looks]
        shell.print_json({"mode": "remote", "label": label, "allow": allowed, "nodes": nodes, "labs": labs, "left_over": left})
        return
    rows = []
    for one in looks:
        missing = [name for name, may in one.permissions.items() if may is False]
        role = f"{one.role} in {one.group}" if one.role else "no group seen"
        rows.append((one.node, one.product, one.edition, role, one.login, ", ".join(missing) or "none", ", ".join(one.databases)))
    heads = ("node", "version", "edition", "role", "login", "permissions missing", "databases")
    shell.print_table(label, heads, rows)
    lines = []
    for lab in labs:
        why = [f"{step} {reason}" for step, reason in lab["refused"].items()]
        steps = f"{len(lab['steps'])} of {len(lab['steps']) + len(why)}"
        lines.append((lab["lab"], steps, "; ".join(why), "yes" if lab["experiment"] else "; ".join(lab["reasons"])))
    shell.print_table("Labs", ("lab", "steps", "steps refused", "experiment"), lines)
