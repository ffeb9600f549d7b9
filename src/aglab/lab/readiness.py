"""Which lab can run here in which mode, and what is missing: from the doctor's findings and the needs in each lab.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aglab.core.errors import unknown_name
from aglab.lab.cluster import REASONS
from aglab.lab.labs import describe, lab_slugs

MODES = ("twin", "docker", "remote")
# what a lab needs besides its mode -> finding that decides in mode docker (None: containers have it), what is missing elsewhere
NEEDS: dict[str, tuple[str | None, str]] = {
    "delay": ("limit delay", REASONS["fault"]),
    "fault": (None, REASONS["fault"]),
    "restart": (None, REASONS["restart"]),
    "second-hardware": ("", REASONS["hardware"]),
    "dax": ("", "a volume with direct access (DAX); without it a log buffer is an ordinary file"),
}


def lab_readiness(examined: Mapping[str, Any], slugs: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """One row for each lab.

    Parameters
    ----------
    examined : mapping
        What :func:`aglab.live.examine` returned.
    slugs : sequence of str, optional
        The labs; all of them by default.

    Returns
    -------
    list of dict
        ``lab``, ``title``, ``modes`` {mode: {``ok``, ``missing`` (list of str), ``start`` (a command; docker)}}. ``ok`` is False
        where the mode cannot run; what a lab's later part needs and the mode lacks stands in ``missing`` too, with ``ok`` True.
    """
    rows = []
    for slug in slugs or lab_slugs():
        about = describe(slug)
        rows.append({"lab": slug, "title": about["title"], "modes": {mode: _mode(mode, about, examined) for mode in MODES}})
    return rows


def _mode(mode: str, about: Mapping[str, Any], examined: Mapping[str, Any]) -> dict[str, Any]:
    if mode not in about["modes"]:
        return {"ok": False, "missing": [f"the lab is not made for mode {mode}"], "start": ""}
    findings = examined["findings"]
    missing = [f"{one['what']}: {one['found']}" for one in findings if one["modes"] in ("twin", mode) and not one["ok"]]
    able = bool(examined["modes"].get(mode, False))  # a mode that was not examined cannot be promised
    partly = [text for need in about.get("needs", []) if (text := _lacks(need, mode, findings))] if able else []
    return {"ok": able, "missing": missing + partly, "start": _start(mode, about) if able else ""}


def _lacks(need: str, mode: str, findings: Sequence[Mapping[str, Any]]) -> str:
    """What of a need this mode lacks; empty where it has it."""
    if need not in NEEDS:
        raise unknown_name("need in lab.toml", need, sorted(NEEDS))
    finding, elsewhere = NEEDS[need]
    if mode == "twin" or (mode == "docker" and finding is None):
        return ""
    if mode == "docker" and finding:
        found = next((one for one in findings if one["what"] == finding), None)
        return f"{need}: {found['found']}; {found['remedy']}" if found is not None and not found["ok"] else ""
    return f"{need}: {elsewhere}"


def _start(mode: str, about: Mapping[str, Any]) -> str:
    """The command that starts the servers as the lab wants them; a twin is started by the lab itself."""
    if mode != "docker":
        return ""
    cluster = about.get("cluster", {})
    words = ["aglab up --mode docker", *(["--bare"] if cluster.get("bare") else [])]
    return " ".join([*words, *([f"--cluster-type {cluster['cluster_type']}"] if "cluster_type" in cluster else [])])
