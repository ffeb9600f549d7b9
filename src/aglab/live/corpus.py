"""The difference corpus: what a server answered to fixed questions, one readable file for each, and compared with a later answer.

A recording is a TOML file: the statement, who answered, result sets with column names and types, the error with number, severity,
state and text, and the messages. What differs by nature (times, GUIDs, LSNs, hashes, host names) is replaced by a placeholder
before it is written, and measured quantities always are: licence terms restrict publishing benchmarks of SQL Server. Format:
data/corpus/README.md.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import re
import tomllib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.record.files import write_text

FORMAT = 1
STAND_IN, REAL = "stand-in", "SQL Server"  # who answered
NOT_IMPLEMENTED = 59001  # the twin's own number
UNKNOWN_NAME = (195, 207, 208, 2812)  # the twin lacks a function, column, view or procedure that the recorded server has
LACKS = (NOT_IMPLEMENTED, *UNKNOWN_NAME)
NULL, TIME, GUID, LSN, BINARY, MEASURED, VARIES = "<null>", "<time>", "<guid>", "<lsn>", "<binary>", "<measured>", "<varies>"

_NAME = re.compile(r"[a-z][a-z0-9-]{2,60}")
_MEASURED = re.compile(r"(?:^cntr_value|_ms|_us|_rate|_per_second|_seconds|_size|_count|_percent|_bytes|_kb|_mb)$", re.IGNORECASE)
_LSN = re.compile(r"(?:^|_)lsn$", re.IGNORECASE)
_IN_TEXT = (
    (re.compile(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"), GUID),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?\b"), TIME),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?=[:,\s]|$)(?<!\d\.0\.0\.0)"), "<address>"),
    (re.compile(r"\(0x[0-9A-Fa-f]+\)|\b0x[0-9A-Fa-f]{8,}\b"), BINARY),
    (re.compile(r"\b\d[\d.,]*(?= (?:pages|seconds|milliseconds|ms|KB|MB|GB|MB/sec)\b)"), MEASURED),
    (re.compile(r"__[0-9A-F]{8,16}\b"), "__<id>"),  # names that the server makes
)


@dataclass(frozen=True)
class Question:
    """What is asked, where, and which columns of the answer vary by nature (``varies``)."""

    name: str
    area: str
    statement: str
    node: str = "sql1"
    database: str = "master"
    varies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise field_error("name", self.name, "must be small letters, digits and -", "question", "use for example error-8134")
        if not self.statement.strip():
            raise field_error("statement", self.statement, "must hold T-SQL", f"question {self.name}", "write what is asked")


@dataclass(frozen=True)
class Column:
    """A column of a result set; ``type`` as T-SQL writes it."""

    name: str
    type: str
    nullable: bool


@dataclass
class ResultSet:
    """Columns and rows."""

    columns: list[Column]
    rows: list[list[Any]]


@dataclass
class Answer:
    """What a server said: result sets, an error (``number``, ``severity``, ``state``, ``text``) or none, messages."""

    results: list[ResultSet] = field(default_factory=list)
    error: dict[str, Any] | None = None
    messages: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Recording:
    """A question with its answer, and who answered: ``stand-in`` or ``SQL Server``."""

    question: Question
    evidence: str
    server: str
    recorded: str
    answer: Answer


# -- questions ----------------------------------------------------------------------------------------------------------
def load_questions(path: Path) -> list[Question]:
    """Every question of a file, in its order.

    Raises
    ------
    UsageError
        The file is not readable, a field is wrong, or a name comes twice.
    """
    content = _toml(path)
    questions = [_question(one, path) for one in content.get("question", [])]
    names = [one.name for one in questions]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not questions:
        raise UsageError(f"{path}: {'question ' + twice[0] + ' comes twice' if twice else 'no [[question]]'}", "correct the file")
    return questions


def _question(content: Mapping[str, Any], path: Path) -> Question:
    known = set(Question.__dataclass_fields__)
    for key in content:
        if key not in known:
            raise unknown_name(f"field of a question in {path.name}", key, sorted(known))
    try:
        words = {**content, "statement": str(content.get("statement", "")).strip(), "varies": tuple(content.get("varies", ()))}
        return Question(**{key: value for key, value in words.items() if key in content or key == "varies"})
    except TypeError as error:
        raise UsageError(f"{path}: a question is incomplete ({error})", "give name, area and statement") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "see data/corpus/README.md for the format") from None


# -- what varies by nature -----------------------------------------------------------------------------------------------
def scrubbed(answer: Answer, varies: Sequence[str] = ()) -> Answer:
    """The answer without what differs by nature; it may be compared and published."""
    results = [
        ResultSet(one.columns, [[_cell(c, v, varies) for c, v in zip(one.columns, row, strict=True)] for row in one.rows])
        for one in answer.results
    ]
    error = None if answer.error is None else {**answer.error, "text": _text(str(answer.error["text"]))}
    return Answer(results, error, [_text(one) for one in answer.messages])


def _cell(column: Column, value: Any, varies: Sequence[str]) -> Any:
    if value is None:
        return NULL
    if column.name in varies:
        return VARIES
    if _LSN.search(column.name):
        return LSN
    number = isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)
    if number and _MEASURED.search(column.name):
        return MEASURED
    if isinstance(value, (dt.date, dt.time)):
        return TIME
    if isinstance(value, uuid.UUID):
        return GUID
    if isinstance(value, (bytes, bytearray)):
        return BINARY
    if isinstance(value, (bool, int, float)):
        return value
    return _text(str(value))


def _text(text: str) -> str:
    for pattern, instead in _IN_TEXT:
        text = pattern.sub(instead, text)
    return text


# -- files --------------------------------------------------------------------------------------------------------------
def write(folder: Path, recording: Recording) -> Path:
    """Write a recording as ``NAME.toml``; the answer must be scrubbed."""
    question, answer = recording.question, recording.answer
    head = {
        "format": FORMAT,
        "question": question.name,
        "area": question.area,
        "evidence": recording.evidence,
        "server": recording.server,
        "recorded": recording.recorded,
        "node": question.node,
        "database": question.database,
        "varies": list(question.varies),
    }
    lines = [f"{key} = {_value(value)}" for key, value in head.items() if value != []]
    lines.append(f"statement = {_statement(question.statement)}")
    lines += ["messages = [", *(f"    {_value(one)}," for one in answer.messages), "]"] if answer.messages else []
    if answer.error is not None:
        lines += ["", "[error]", *(f"{key} = {_value(value)}" for key, value in answer.error.items())]
    for result in answer.results:
        columns = [[one.name, one.type, "null" if one.nullable else "not null"] for one in result.columns]
        lines += ["", "[[result]]", "columns = [", *(f"    {_value(one)}," for one in columns), "]"]
        lines += ["rows = [", *(f"    {_value(row)}," for row in result.rows), "]"]
    return write_text(folder / f"{question.name}.toml", "\n".join(lines) + "\n")


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _statement(text: str) -> str:
    plain = "'''" not in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    return f"'''\n{text.strip()}\n'''" if plain else _value(text)


def read(path: Path) -> Recording:
    """A recording.

    Raises
    ------
    UsageError
        The file is damaged, of another format, or does not say who answered.
    """
    content = _toml(path)
    try:
        if content["format"] != FORMAT or content["evidence"] not in (STAND_IN, REAL):
            raise ValueError(f"format {content['format']}, evidence {content['evidence']!r}")
        results = [
            ResultSet([Column(name, kind, null == "null") for name, kind, null in one["columns"]], one["rows"])
            for one in content.get("result", [])
        ]
        answer = Answer(results, content.get("error"), content.get("messages", []))
        where = {"node": content["node"], "database": content["database"], "varies": tuple(content.get("varies", ()))}
        question = Question(content["question"], content["area"], content["statement"].strip(), **where)
        return Recording(question, content["evidence"], content["server"], content["recorded"], answer)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no recording: {error}", f"see data/corpus/README.md; this is format {FORMAT}") from None


def load(folder: Path) -> list[Recording]:
    """Every recording of a folder, by name."""
    return [read(path) for path in sorted(folder.glob("*.toml"))]


# -- comparing ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Verdict:
    """Of one question: ``same``, ``differs`` or ``not known`` (the twin says that it lacks this), and in what."""

    name: str
    outcome: str
    differences: tuple[str, ...] = ()


def compare(recorded: Answer, now: Answer, name: str = "") -> Verdict:
    """A recorded answer beside one given now, both scrubbed."""
    lacking = now.error is not None and (
        now.error["number"] == NOT_IMPLEMENTED or (recorded.error is None and now.error["number"] in UNKNOWN_NAME)
    )
    if lacking and now.error != recorded.error:
        return Verdict(name, "not known", (f"the twin says {now.error['number']}: {now.error['text']}",))  # type: ignore[index]
    found = tuple(_differences(recorded, now))
    return Verdict(name, "differs" if found else "same", found)


def _differences(recorded: Answer, now: Answer) -> Iterable[str]:
    if recorded.error is None or now.error is None:
        if recorded.error != now.error:
            yield f"error: recorded {_said(recorded.error)}, now {_said(now.error)}"
    else:
        for key in ("number", "severity", "state", "text"):
            if recorded.error.get(key) != now.error.get(key):
                yield f"error {key}: recorded {recorded.error.get(key)!r}, now {now.error.get(key)!r}"
    if len(recorded.results) != len(now.results):
        yield f"result sets: recorded {len(recorded.results)}, now {len(now.results)}"
    for number, (old, new) in enumerate(zip(recorded.results, now.results, strict=False), start=1):
        yield from (f"result {number}, {text}" for text in _of_sets(old, new))
    if recorded.messages != now.messages:
        yield f"messages: recorded {recorded.messages}, now {now.messages}"


def _said(error: Mapping[str, Any] | None) -> str:
    return "none" if error is None else f"{error['number']}: {error['text']}"


def _of_sets(old: ResultSet, new: ResultSet) -> Iterable[str]:
    names, there = [one.name for one in old.columns], {one.name: one for one in new.columns}
    for column in old.columns:
        other = there.get(column.name)
        if other is None:
            yield f"column {column.name}: not there now"
        elif (column.type, column.nullable) != (other.type, other.nullable):
            yield f"column {column.name}: recorded {_typed(column)}, now {_typed(other)}"
    yield from (f"column {name}: not recorded" for name in there if name not in names)
    if list(there) != names and sorted(there) == sorted(names):
        yield f"columns: recorded in the order {', '.join(names)}, now {', '.join(there)}"
    if len(old.rows) != len(new.rows):
        yield f"rows: recorded {len(old.rows)}, now {len(new.rows)}"
    places = [one.name for one in new.columns]
    for row, (before, after) in enumerate(zip(old.rows, new.rows, strict=False), start=1):
        for place, name in enumerate(names):
            if name in there and before[place] != after[places.index(name)]:
                yield f"row {row}, {name}: recorded {before[place]!r}, now {after[places.index(name)]!r}"


def _typed(column: Column) -> str:
    return f"{column.type} {'null' if column.nullable else 'not null'}"
