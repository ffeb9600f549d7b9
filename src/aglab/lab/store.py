"""What a learner made: predictions, answers and progress, kept in one folder, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError
from aglab.core.paths import user_home
from aglab.record.files import write_text

FORMAT = 1


def _path(slug: str) -> Path:
    return user_home() / "progress" / f"{slug}.json"


def read(slug: str) -> dict[str, Any]:
    """What is kept for a lab; an empty record where nothing is.

    A damaged file is set aside, never deleted.
    """
    path = _path(slug)
    if not path.is_file():
        return {"format": FORMAT, "slug": slug, "predictions": {}, "checks": []}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"format {content.get('format') if isinstance(content, dict) else '?'}")
    except (ValueError, OSError) as error:
        aside = path.with_suffix(".damaged.json")
        try:
            path.replace(aside)
        except OSError:
            raise AglabError(f"{path} cannot be read: {error}", "move the file away") from None
        return {"format": FORMAT, "slug": slug, "predictions": {}, "checks": [], "set_aside": str(aside)}
    return content


def write(slug: str, content: dict[str, Any]) -> Path:
    """Keep a lab's record."""
    return write_text(_path(slug), json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def keep_quiz(slug: str, solved: list[str], of: int) -> None:
    """Keep which questions of a lab's quiz are solved; what was solved before stays so."""
    record = read(slug)
    before = record.get("quiz", {}).get("solved", [])
    record["quiz"] = {"solved": sorted({*before, *solved}), "of": of}
    write(slug, record)
