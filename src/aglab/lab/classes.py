"""Predictions and progress: of the learner at this machine, and of a class whose records an instructor has collected.

A record is what :mod:`aglab.lab.store` keeps for one lab of one learner. Records of a class are files that other machines
wrote: each is checked, and one that cannot be used is named with the reason instead of being dropped in silence.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from aglab.core.errors import UsageError
from aglab.lab import store
from aglab.lab.labs import describe, lab_slugs

COLUMNS = ("learner", "lab", "prediction", "reason", "tries", "passed", "quiz_solved", "quiz_of")
RECORD_BYTES_MAX = 1_000_000


@dataclass(frozen=True)
class Progress:
    """What the learner of this machine has done, lab by lab; shows itself in a notebook and in a terminal."""

    rows: tuple[dict[str, Any], ...]

    def _lines(self) -> list[tuple[str, str, str, str]]:
        words = []
        for row in self.rows:
            tried = f"not yet, {row['tries']} tries" if row["tries"] else "not yet"
            quiz = f"{row['quiz_solved']} of {row['quiz_of']}" if row["quiz_of"] else "not yet"
            prediction = "not yet" if row["prediction"] is None else str(row["prediction"])
            words.append((row["title"], prediction, "passed" if row["passed"] else tried, quiz))
        return words

    def __repr__(self) -> str:
        return "\n".join(f"{title}: predicted {made}; exercise {done}; quiz {quiz}" for title, made, done, quiz in self._lines())

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in ("lab", "prediction", "exercise", "quiz solved"))
        cells = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._lines()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"


def progress() -> Progress:
    """What you have done so far: predictions, exercises, quizzes, in the order of the book."""
    rows = []
    for slug in lab_slugs():
        row = _row("", store.read(slug))
        rows.append({**row, "lab": slug, "title": str(describe(slug).get("title", slug))})
    return Progress(tuple(rows))


def class_summary(folder: str | Path) -> pd.DataFrame:
    """Predictions and progress of a class.

    Parameters
    ----------
    folder : path
        Holds one folder per learner, each a copy of that learner's ``progress`` folder (or the files themselves).

    Returns
    -------
    DataFrame
        :data:`COLUMNS`, one row for each learner and lab. ``attrs["skipped"]`` lists (file, reason) of what could not be used.

    Raises
    ------
    UsageError
        Not a folder, or no usable record in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "collect the learners' progress folders in one place")
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    skipped: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        try:
            record = _record(path)
        except ValueError as error:
            skipped.append((name, str(error)))
            continue
        row = _row(name.split("/")[0].removesuffix(".json"), record)
        key = (row["learner"], row["lab"])
        if key in rows:
            skipped.append((name, f"a second record of {key[0]} for {key[1]}"))
            continue
        rows[key] = row
    if not rows:
        why = f"; {skipped[0][0]}: {skipped[0][1]}" if skipped else ""
        raise UsageError(f"{folder} holds no progress files{why}", "each learner's lie in the folder that `aglab doctor` names")
    frame = pd.DataFrame(list(rows.values()), columns=list(COLUMNS))
    frame.attrs["skipped"] = skipped
    return frame


def _record(path: Path) -> dict[str, Any]:
    """A record as :mod:`aglab.lab.store` writes it.

    Raises
    ------
    ValueError
        What is wrong with the file, in words.
    """
    try:
        if path.stat().st_size > RECORD_BYTES_MAX:
            raise ValueError(f"larger than {RECORD_BYTES_MAX:,} bytes")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8 text") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("not JSON") from error
    shapes = {"predictions": dict, "checks": list}
    if not isinstance(content, dict) or any(not isinstance(content.get(key), kind) for key, kind in shapes.items()):
        raise ValueError("not a progress file of aglab")
    if content.get("format") != store.FORMAT:
        raise ValueError(f"format {content.get('format')!r}, this version reads {store.FORMAT}")
    return content


def _row(learner: str, record: dict[str, Any]) -> dict[str, Any]:
    made = record["predictions"].get("main")
    made = made if isinstance(made, dict) else {}
    tries = [one for one in record["checks"] if isinstance(one, dict)]
    quiz = record.get("quiz")
    quiz = quiz if isinstance(quiz, dict) and isinstance(quiz.get("solved"), list) else {}
    choice = made.get("choice")
    return {
        "learner": learner,
        "lab": str(record.get("slug", "")),
        "prediction": choice if choice is None or isinstance(choice, (str, int, float)) else str(choice),
        "reason": str(made.get("reason", "")),
        "tries": len(tries),
        "passed": any(one.get("passed") is True for one in tries),
        "quiz_solved": len(quiz.get("solved", [])),
        "quiz_of": quiz["of"] if isinstance(quiz.get("of"), int) else 0,
    }
