"""The reference of scenarios and profiles, made from the code that checks them, and worked examples, run when the book is built.

- ``{toml-file}``         a file of data/ as it is
- ``{scenario-runs} FILE`` a scenario of data/scenarios, run once for each line ``what: key=value key=value``
- ``{scenario-keys}``     every key: short names, unit, range, default, what it is, and which counters move with it
- ``{timeline-keys}``     what can change while a scenario runs
- ``{profile-keys}``      what a table with ``array`` and a file of data/arrays hold
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError
from aglab.engine import Flow
from aglab.hardware import DiskArray, Spindle
from aglab.hardware.array_volume import ArrayVolume
from aglab.record import Run
from aglab.scenario import CHANGES, Scenario, key_rows
from aglab.scenario.jobs import BackupJob
from aglab.scenario.maintenance import JOBS
from aglab.viz.figure import Table
from aglab.viz.text import human, significant
from aglab_book.html import bundle_file, computed, raw

SHOWN = (  # counter key, node, heading, factor, digits
    ("transactions_per_s", 0, "tx/s", 1.0, 4),
    ("cpu_percent", 0, "CPU, %", 1.0, 3),
    ("data_read_latency_s", 0, "ms/read", 1e3, 3),
    ("log_write_latency_s", 0, "ms/log write", 1e3, 3),
    ("log_send_queue_kb", 1, "send queue, MB", 1 / 1024, 3),
    ("recovery_queue_kb", 1, "redo queue, MB", 1 / 1024, 3),
    ("percent_log_used", 0, "log used, %", 1.0, 3),
)
WATCHED = {  # counter key -> name in the column of what moves
    "transactions_per_s": "Transactions/sec",
    "cpu_percent": "% Processor Time",
    "data_read_latency_s": "data reads",
    "data_write_latency_s": "data writes",
    "log_write_latency_s": "log writes",
    "transaction_delay_ms": "Transaction Delay",
    "checkpoint_pages_per_s": "checkpoint",
    "background_writer_pages_per_s": "background writer",
    "recovery_queue_kb": "Recovery Queue",
    "percent_log_used": "Percent Log Used",
}
MOVED = 0.02  # relative
PROBE = {"replicas": 2, "duration_s": 60, "warmup_s": 30, "noise": 0.0, "k": 300}
PROBE_PROFILE = "laptop-generic"


def setup(app: Sphinx) -> None:
    app.add_directive("toml-file", TomlFile)
    app.add_directive("scenario-runs", ScenarioRuns)
    app.add_directive("scenario-keys", ScenarioKeys)
    app.add_directive("timeline-keys", TimelineKeys)
    app.add_directive("profile-keys", ProfileKeys)


class TomlFile(SphinxDirective):
    """A file of data/, as a block that can be copied."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = bundle_file(self.arguments[0])
        self.env.note_dependency(str(path))
        block = nodes.literal_block("", path.read_text(encoding="utf-8"))
        block["language"] = "toml"
        return [nodes.paragraph("", "", nodes.literal("", path.name)), block]


class ScenarioRuns(SphinxDirective):
    """One line per variant: what the scenario answers, and its warnings below."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        path = bundle_file(self.arguments[0])
        self.env.note_dependency(str(path))
        variants = [tuple(part.strip() for part in line.split(":", 1)) for line in self.content if line.strip()]
        found = computed(
            self.env.app,
            f"scenario-{path.stem}",
            [*sorted(path.parent.glob("*.toml"))],
            lambda: json.dumps([answer(str(path), label, text) for label, text in variants]),
        )
        return [raw(table.html()) for table in run_tables(path.stem, json.loads(found))]


def answer(path: str, label: str, text: str) -> dict[str, Any]:
    """Averages of one variant (``text`` as in ``--set``), its profile and its warnings."""
    settings = dict(item.split("=", 1) for item in text.split())
    scenario = Scenario.load(path).with_settings(settings)
    run = Flow(scenario, seed=1).run()
    values = []
    for key, node, _, factor, digits in SHOWN:
        value = _mean(run, key, scenario, node)
        values.append("" if value is None else significant(value * factor, digits))
    least = float(run.series(_path("transactions_per_s", scenario), scenario.node_names[0]).min())
    return {
        "label": label,
        "values": [values[0], significant(least, 4), *values[1:]],
        "profile": scenario.profile.name,
        "warnings": scenario.warnings(),
    }


def run_tables(name: str, found: list[dict[str, Any]]) -> list[Table]:
    """The answers side by side, then the warnings where there are any."""
    heads = [heading for _, _, heading, _, _ in SHOWN]
    columns = ("variant", heads[0], "least tx/s", *heads[1:])
    caption = f"Averages of {name}.toml. SIMULATED, profile {found[0]['profile']}"
    tables = [Table(caption, columns, tuple((one["label"], *one["values"]) for one in found))]
    notes = tuple((one["label"], note) for one in found for note in one["warnings"])
    return tables + ([Table("Warnings", ("variant", "warning"), notes)] if notes else [])


def _path(key: str, scenario: Scenario) -> str:
    return BY_KEY[key].path(scenario.database)


def _mean(run: Run, key: str, scenario: Scenario, node: int) -> float | None:
    if node >= len(scenario.node_names):
        return None
    return float(run.series(_path(key, scenario), scenario.node_names[node]).mean())


class ScenarioKeys(SphinxDirective):
    """Every key, group by group."""

    def run(self) -> list[nodes.Node]:
        moves = json.loads(computed(self.env.app, "scenario-keys", [], lambda: json.dumps(what_moves())))
        return [raw(table.html()) for table in key_tables(moves)]


def key_tables(moves: dict[str, list[str]]) -> list[Table]:
    """One table for each group of keys, named by the group; short names that are rules of their own come first."""
    rules, groups = [], dict[str, list[tuple[Any, ...]]]()
    for row in key_rows():
        group, _, name = row["key"].rpartition(".")
        if group:
            line = (
                name,
                ", ".join(row["aliases"]),
                range_of(row),
                default_of(row),
                row["meaning"],
                ", ".join(moves.get(row["key"], ())),
            )
            groups.setdefault(group, []).append(line)
        elif not row["meaning"].startswith("short for "):
            rules.append((name, row["unit"], row["meaning"]))
    heads = ("key", "short", "range", "default", "what it is", "moves, when raised by half")
    short = Table("Short names that stand for a rule", ("key", "unit", "what it is"), tuple(rules))
    return [short, *(Table(f"[{group}]", heads, tuple(lines)) for group, lines in groups.items())]


def range_of(row: dict[str, Any]) -> str:
    """The accepted range in words."""
    if row.get("options"):
        return ", ".join(row["options"])
    return "" if row["low"] is None else f"{row['low']:g} to {row['high']:g} {row.get('unit', '')}".strip()


def default_of(row: dict[str, Any]) -> str:
    """The default scenario's value, short."""
    value = row.get("default", "")
    return human(value) if isinstance(value, float) else str(value)


def what_moves() -> dict[str, list[str]]:
    """For each numeric key the counters that move by more than 2 % when it is raised by half (or from 0 to a tenth of its range).

    On one small machine with one secondary: a key may do nothing there and much elsewhere.
    """
    base = Scenario.default(PROBE_PROFILE, 2).with_settings(PROBE)
    before = _watched(base)
    found = {}
    for row in key_rows():
        group, _, name = row["key"].rpartition(".")
        if row["low"] is None or not group or name in PROBE or name in ("tick_s", "sample_s"):
            continue
        try:
            changed = base.with_settings({row["key"]: _raised(row, base)})
            after = _watched(changed)
        except UsageError:
            continue
        found[row["key"]] = [
            WATCHED[key] for key in WATCHED if abs(after[key] - before[key]) > MOVED * max(abs(before[key]), 1e-9)
        ]
    return found


def _raised(row: dict[str, Any], base: Scenario) -> float:
    group, _, name = row["key"].rpartition(".")
    if group == "constants":
        value = base.constant(name)
    else:
        first, _, part = group.partition(".")
        value = float(getattr(getattr(base.profile, part) if first == "hardware" else getattr(base, group), name))
    wanted = 1.5 * value if value > 0 else 0.1 * min(row["high"], 1e4)
    wanted = min(wanted, row["high"])
    return round(wanted) if row.get("integer") else wanted


def _watched(scenario: Scenario) -> dict[str, float]:
    run = Flow(scenario, seed=1).run()
    node = {"recovery_queue_kb": 1}
    return {key: _mean(run, key, scenario, node.get(key, 0)) or 0.0 for key in WATCHED}


class TimelineKeys(SphinxDirective):
    """What can change while a scenario runs, and what a backup is asked."""

    def run(self) -> list[nodes.Node]:
        return [raw(table.html()) for table in timeline_tables()]


def timeline_tables() -> list[Table]:
    """Changes with scope, unit and range; then the fields of a backup."""
    scopes = {"cluster": "the whole cluster", "node": "needs node", "any": "all nodes, or the node named"}
    kinds = {
        "flag": "true, false",
        "action": "true",
        "name": "a node",
        "mode": "a mode",
        "job": "a table",
        "drive": "a volume, a table",
    }
    changes = tuple(
        (name, scopes[kind.scope], kind.unit, kinds.get(kind.kind, f"{kind.low:g} to {kind.high:g}"), kind.meaning)
        for name, kind in CHANGES.items()
    )
    return [
        Table(
            "[[timeline]]: at_s, every_s, node, database, and one or more of these",
            ("key", "where", "unit", "range", "what it does"),
            changes,
        ),
        field_table("backup = { ... }, restore = { ... }", BackupJob),
        *(field_table(f"{name} = {{ ... }}", job) for name, job in JOBS.items()),
    ]


def field_table(title: str, cls: Any) -> Table:
    """The declared fields of a dataclass: unit, range, default, meaning."""
    lines = []
    for spec in dataclasses.fields(cls):
        known = spec.metadata or ({} if spec.type in ("bool", bool) else None)
        if known is None:
            continue
        row = {"options": known.get("options"), "low": known.get("low"), "high": known.get("high")}
        accepted = range_of(row) if known else "true, false"
        default = "" if spec.default is dataclasses.MISSING else str(spec.default)
        lines.append((spec.name, known.get("unit", ""), accepted, default or "none: must be given", known.get("meaning", "")))
    return Table(title, ("key", "unit", "range", "default", "what it is"), tuple(lines))


class ProfileKeys(SphinxDirective):
    """Volumes on disk arrays: the table in a profile, and the array's own file."""

    def run(self) -> list[nodes.Node]:
        return [raw(table.html()) for table in profile_tables()]


def profile_tables() -> list[Table]:
    """Fields of a table with ``array``, of an array's file and of its drives."""
    return [
        field_table("[data] or [log] with array = NAME", ArrayVolume),
        field_table("[array] of an array's file", DiskArray),
        field_table("[spindle] of an array's file", Spindle),
    ]
