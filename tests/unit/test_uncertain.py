"""docker/UNCERTAIN.md: every probe it names exists, and what the design calls uncertain is in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker" / "UNCERTAIN.md").read_text(encoding="utf-8")


def names_in(path: Path) -> set[str]:
    """Functions, methods and classes of a Python file."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)}


def missing(text: str) -> list[str]:
    """Probes in back quotes that are not there."""
    wrong = []
    for word in re.findall(r"`((?:aglab\.|scripts/|tests/|docker/|labs/)[\w./:\-]+)`", text):
        place, _, name = word.partition(":")
        path = ROOT / "src" / f"{place.replace('.', '/')}.py" if place.startswith("aglab.") else ROOT / place
        if not path.is_file() or (name and name not in names_in(path)):
            wrong.append(word)
    return wrong


def test_every_probe_that_is_named_exists():
    """Module and name, script and method, file."""
    assert len(re.findall(r"`aglab\.[\w.]+:\w+`", TEXT)) > 20
    assert missing(TEXT) == []


def test_a_probe_that_is_gone_is_noticed():
    """A name, a file and a module that do not exist."""
    words = ["aglab.live.limits:_no_such", "docker/init/no_such.sh", "aglab.live.no_such:read_back"]
    assert missing(" ".join(f"`{word}`" for word in words)) == words


def test_nothing_uncertain_is_left_out():
    """Each row says what happens where the answer is no, or that no lab asks; the words of the open questions are all there."""
    rows = [
        line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("|") and not line.startswith(("|-", "| not"))
    ]
    assert all(len(row) == 3 and row[0].strip() and row[1].strip() for row in rows)
    assert all(row[2].strip() or "no lab" in row[1] or "not used" in row[1] for row in rows)
    for word in (
        "-k", "T834", "T3979", "T9921", "persisted log buffer", "DAX", "NUL", "contained", "listener", "HADR RESUME", "blkio",
        "netem", "tmpfs", "HammerDB's image", "`SQLServer:`", "JSON", "JupySQL", "online rebuild", "DBCC",
        "REQUIRED_SYNCHRONIZED", "docker stop",
    ):  # fmt: skip
        assert word in TEXT, word
