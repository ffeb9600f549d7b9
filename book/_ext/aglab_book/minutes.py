"""Minutes on a chapter's card, counted from its text and its notebook at stated paces.

The paces are ours: prose as an adult reads a technical text, a line of code or of a table as long as it takes to look at,
fixed times for what a learner does with the hands. Nobody was timed; a count changes with the text, a guess on a card does not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

WORDS_A_MINUTE = 200
LINE_S = 2.0  # a line of code or a row of a table in the text
BLOCK_S = 20.0  # a chart, a step of T-SQL, a table beside the print, the quiz
CODE_LINE_S = 3.0  # a line of a cell: read, run, perhaps change
CELL_S = 5.0  # running a cell and looking at what it gives
HANDS_MIN = 6.0  # prediction 1, exercise 3, quiz 2

_WORD = re.compile(r"[A-Za-z0-9][\w'’.,-]*")
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_BLOCK = re.compile(r"^:::\{(?:arms|explorable|labstep|ledger|living|published-table|quiz)\}", re.MULTILINE)
_INSTRUCTOR = re.compile(r"^:::\{dropdown\} For the instructor$", re.MULTILINE)


def reading_minutes(chapter: Path) -> int:
    """Minutes for the text between the card and the instructor's block; whole, at least 1."""
    text = chapter.read_text(encoding="utf-8").split(":::", 2)[2]
    body = _INSTRUCTOR.split(text)[0]
    lines = sum(block.count("\n") for block in _FENCED.findall(body)) + len(re.findall(r"^\|", body, re.MULTILINE))
    words = len(_WORD.findall(_FENCED.sub("", body)))
    seconds = lines * LINE_S + len(_BLOCK.findall(body)) * BLOCK_S
    return max(round(words / WORDS_A_MINUTE + seconds / 60), 1)


def lab_minutes(notebook: Path) -> int:
    """Minutes for the notebook: its text, its cells, and what a learner does with the hands; whole."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    words = sum(len("".join(cell["source"]).split()) for cell in cells if cell["cell_type"] == "markdown")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = sum(1 for source in code for line in source.splitlines() if line.strip())
    seconds = lines * CODE_LINE_S + len(code) * CELL_S
    return round(words / WORDS_A_MINUTE + seconds / 60 + HANDS_MIN)
