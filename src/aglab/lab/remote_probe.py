"""What a server is and what a login may do there, by reading only; and which labs that is enough for.

Permissions: ``sys.dm_os_performance_counters`` and most server DMVs want VIEW SERVER STATE, from SQL Server 2022 VIEW SERVER
PERFORMANCE STATE (the pages of the views on learn.microsoft.com); ``HAS_PERMS_BY_NAME`` answers NULL for a permission that a
version does not know (its page there). Not tried on a real server yet.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aglab.core.errors import AglabError
from aglab.lab.batches import split_batches
from aglab.lab.cluster import REASONS
from aglab.lab.labs import describe, lab_folder, lab_slugs
from aglab.lab.remote_changes import changes

PERMISSIONS = (
    "VIEW SERVER STATE",
    "VIEW SERVER PERFORMANCE STATE",
    "VIEW ANY DEFINITION",
    "ALTER SETTINGS",
    "ALTER SERVER STATE",
    "ALTER ANY DATABASE",
    "ALTER ANY AVAILABILITY GROUP",
    "CONTROL SERVER",
)
_WHO = """
SELECT @@VERSION AS version, CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS product,
       CAST(SERVERPROPERTY('Edition') AS nvarchar(128)) AS edition, CAST(SERVERPROPERTY('IsHadrEnabled') AS int) AS hadr,
       SUSER_SNAME() AS login
"""
_MAY = "SELECT " + ", ".join(f"HAS_PERMS_BY_NAME(NULL, NULL, N'{name}') AS p{i}" for i, name in enumerate(PERMISSIONS))
_DATABASES = "SELECT name, state_desc FROM sys.databases WHERE HAS_DBACCESS(name) = 1 ORDER BY name"
_ROLES = """
SELECT g.name AS group_name, s.role_desc
FROM sys.dm_hadr_availability_replica_states AS s JOIN sys.availability_groups AS g ON g.group_id = s.group_id
WHERE s.is_local = 1
"""
# verb of Cluster in a lab's script -> its reason in REASONS
_VERBS = {"fault": "fault", "restart": "restart", "time": "time", "snapshot": "snapshot", "restore": "snapshot"}


@dataclass
class Look:
    """One server, seen through one login. ``permissions``: True, False, or None where its version has no such permission."""

    node: str
    version: str
    product: str
    edition: str
    login: str
    permissions: dict[str, bool | None] = field(default_factory=dict)
    databases: list[str] = field(default_factory=list)
    group: str = ""
    role: str = ""  # PRIMARY, SECONDARY, RESOLVING; "" without a group, or where it may not be seen

    @property
    def sampling(self) -> bool:
        """Whether counters can be sampled."""
        wanted = ("VIEW SERVER STATE", "VIEW SERVER PERFORMANCE STATE", "CONTROL SERVER")
        return any(self.permissions.get(name) for name in wanted)


def look(node: str, sql: Callable[[str], Any]) -> Look:
    """Ask a server; ``sql`` runs T-SQL there and gives a Result."""
    who = sql(_WHO).table.iloc[0]
    may = sql(_MAY).table.iloc[0]
    permissions = {name: None if _null(may.iloc[i]) else bool(may.iloc[i]) for i, name in enumerate(PERMISSIONS)}
    version = str(who["version"]).splitlines()[0].split("\\n")[0].strip()
    found = Look(node, version, str(who["product"]), str(who["edition"]), str(who["login"]), permissions)
    found.databases = [str(name) for name in sql(_DATABASES).table["name"]]
    try:
        roles = sql(_ROLES).table
    except AglabError:  # 300: this login may not see it
        return found
    if len(roles):
        found.group, found.role = str(roles["group_name"].iat[0]), str(roles["role_desc"].iat[0])
    return found


def _null(value: Any) -> bool:
    return value is None or value != value


def labs_for(looks: list[Look], database: str, allowed: frozenset[str], load: bool) -> list[dict[str, Any]]:
    """Each lab: which of its steps would run as things are, and why others and its experiment would not.

    Parameters
    ----------
    looks : list of Look
        All servers.
    database : str
        Where labs work.
    allowed : set of str
        Kinds of changes that are allowed.
    load : bool
        HammerDB is configured.

    Returns
    -------
    list of dict
        ``lab``, ``steps`` and ``refused`` {step: reason} of its T-SQL files, ``experiment`` (bool), ``reasons`` (list of str).
    """
    return [_lab(slug, looks, database, allowed, load) for slug in lab_slugs()]


def _lab(slug: str, looks: list[Look], database: str, allowed: frozenset[str], load: bool) -> dict[str, Any]:
    about = describe(slug)
    wanted = str(about.get("cluster", {}).get("database", database))
    blind = [one.node for one in looks if not one.sampling]
    seen = any(wanted in one.databases for one in looks)
    refused = {}
    steps = sorted(path for path in lab_folder(slug).glob("*.sql") if re.match(r"^\d\d_", path.name))
    for path in steps:
        text = path.read_text(encoding="utf-8")
        kinds = {change.kind for batch in split_batches(text) for change in changes(batch)}
        why = ["needs --allow " + " --allow ".join(sorted(kinds - allowed))] if kinds - allowed else []
        why += [] if seen else [f"begins in {wanted}, which no server shows this login"]
        why += _unseen(text) if len(blind) == len(looks) else []
        if why:
            refused[path.stem] = ", ".join(why)
    reasons = []
    if "remote" not in about.get("modes", ["twin"]):
        reasons.append("the lab is not written for servers of your own")
    if not seen:
        reasons.append(f"no server shows this login a database {wanted}")
    if blind:
        reasons.append(f"VIEW SERVER STATE is missing on {', '.join(blind)}")
    verbs = _verbs_of_run(lab_folder(slug) / "lab.py")
    reasons += [f"its script asks for {verb}: {REASONS[_VERBS[verb]]}" for verb in sorted(verbs & set(_VERBS))]
    if "run_step" in verbs and refused:
        reasons.append("its script runs steps; see the steps refused")
    if about.get("cluster", {}).get("bare") and any(one.role for one in looks):
        reasons.append("it wants servers without an availability group")
    if verbs & {"measure", "start_load", "run_load"}:
        if not load:
            reasons.append(REASONS["load"])
        elif "load" not in allowed:
            reasons.append("its load needs --allow load")
    good = [path.stem for path in steps if path.stem not in refused]
    return {"lab": slug, "steps": good, "refused": refused, "experiment": not reasons, "reasons": reasons}


def _unseen(text: str) -> list[str]:
    """What a step reads that a login without VIEW SERVER STATE may not; views of sessions and databases show it a part."""
    views = sorted(set(re.findall(r"\bsys\.dm_(?:os|io|hadr)_\w+", re.sub(r"--[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL))))
    return [f"reads {', '.join(views)} and VIEW SERVER STATE is missing"] if views else []


def _verbs_of_run(path: Any) -> set[str]:
    """Methods that ``run`` of a lab's script calls, through functions of the same file too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    verbs: set[str] = set()
    todo, seen = ["run"], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for call in (node for node in ast.walk(functions[name]) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute):
                verbs.add(call.func.attr)
            elif isinstance(call.func, ast.Name):
                todo.append(call.func.id)
    return verbs
