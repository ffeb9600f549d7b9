"""Explorables of the labs: ``labs/SLUG/explorable.toml`` declares one, the flow engine answers.

The file names scenario settings as parameters, engine counters as outputs and series, so that a new explorable needs no code:
``[engine]`` (profile, replicas, settings, warm_up_s, run_s, sample_s, seed), ``[[parameter]]``, ``[[output]]``, ``[[series]]``,
``[[question]]`` and ``[curve]``.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.core.paths import bundle_path
from aglab.record import Run
from aglab.viz.explorable import Answer, Explorable, Output, Parameter, Question, Value

STATS = {"avg": np.mean, "min": np.min, "max": np.max, "last": lambda values: values[-1]}


@dataclass(frozen=True)
class Probe:
    """Where an output comes from: a counter of a node over the measured time, reduced by ``stat``; or a gauge at its end."""

    node: str
    counter: str = ""
    stat: str = "avg"
    gauge: str = ""


@dataclass(frozen=True)
class FlowAnswer:
    """``compute`` for an explorable: one run of the flow engine per setting."""

    engine: Mapping[str, Any]
    probes: Mapping[str, Probe]
    curves: Mapping[str, Probe]

    def __call__(self, setting: dict[str, Value]) -> Answer:
        from aglab.engine import Flow
        from aglab.scenario import Scenario

        base = Scenario.default(profile=self.engine["profile"], replicas=int(self.engine.get("replicas", 1)))
        flow = Flow(base.with_settings({**self.engine.get("settings", {}), **setting}), seed=int(self.engine.get("seed", 1)))
        if self.engine.get("warm_up_s", 0) > 0:
            flow.advance(float(self.engine["warm_up_s"]))
        block = flow.advance(float(self.engine["run_s"]))
        column = {name: place for place, name in enumerate(block.columns)}
        outputs = {}
        for key, probe in self.probes.items():
            if probe.gauge:
                outputs[key] = float(flow.gauges(probe.node)[probe.gauge])
            else:
                outputs[key] = float(STATS[probe.stat](block.values[:, column[(probe.node, probe.counter)]]))
        spans = spans_of(self.engine)
        series = {
            key: _average(block.values[:, column[(probe.node, probe.counter)]], len(spans)) for key, probe in self.curves.items()
        }
        return Answer(outputs, series)


def load_explorable(slug: str) -> Explorable:
    """The explorable of a lab.

    Raises
    ------
    UsageError
        The lab has none, or its file names a counter, a statistic or a value that does not exist.
    """
    raw = _read(slug)
    try:
        return from_table(slug, raw)
    except KeyError as error:
        raise UsageError(f"explorable.toml of lab {slug!r} lacks {error}", "see labs/README.md for the fields") from error


def _read(slug: str) -> dict[str, Any]:
    folder = bundle_path("labs")
    path = folder / slug / "explorable.toml"
    if not path.is_file():
        raise unknown_name("explorable", slug, sorted(found.parent.name for found in folder.glob("*/explorable.toml")))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"explorable.toml of lab {slug!r} is not TOML: {error}", "correct the line it names") from error


def from_table(slug: str, raw: Mapping[str, Any]) -> Explorable:
    """An :class:`Explorable` from the parsed file."""
    engine = raw["engine"]
    if engine["run_s"] <= 0 or engine["sample_s"] <= 0 or engine["run_s"] < engine["sample_s"]:
        raise field_error(
            "run_s", engine["run_s"], "must be >= sample_s > 0", f"explorable {slug!r}", "e.g. run_s = 600, sample_s = 4"
        )
    compute = FlowAnswer(
        engine,
        {item["key"]: _probe(item, slug) for item in raw["output"]},
        {item["key"]: _probe(item, slug) for item in raw.get("series", [])},
    )
    curve = raw.get("curve", {})
    return Explorable(
        slug=slug,
        title=raw["title"],
        parameters=tuple(_parameter(item) for item in raw["parameter"]),
        outputs=tuple(_output(item) for item in raw["output"]),
        compute=compute,
        series=tuple(_output(item) for item in raw.get("series", [])),
        time_s=spans_of(engine),
        questions=tuple(Question(item["text"], item.get("answer", "")) for item in raw.get("question", [])),
        curve_over=curve.get("over", ""),
        curve_outputs=tuple(curve.get("outputs", ())),
        label=f"SIMULATED, profile {engine['profile']}",
    )


def spans_of(engine: Mapping[str, Any]) -> list[float]:
    """End times (seconds since the measured part began) of the spans a series is averaged over."""
    count = round(float(engine["run_s"]) / float(engine["sample_s"]))
    return [round((place + 1) * float(engine["run_s"]) / count, 3) for place in range(count)]


def _average(values: np.ndarray, count: int) -> np.ndarray:
    edges = np.linspace(0, len(values), count + 1).round().astype(int)
    return np.array([values[start:end].mean() for start, end in itertools.pairwise(edges)])


def _parameter(item: Mapping[str, Any]) -> Parameter:
    live = item.get("live")
    fine: tuple[Value, ...] = ()
    if live:
        count = round((live["to"] - live["from"]) / live["step"])
        fine = tuple(live["from"] + place * live["step"] for place in range(count + 1))
    return Parameter(
        key=item["key"],
        label=item["label"],
        values=tuple(item["values"]),
        unit=item.get("unit", ""),
        default=item["default"],
        texts=tuple(item.get("texts", ())),
        live_values=fine,
        help=item.get("help", ""),
    )


def _probe(item: Mapping[str, Any], slug: str) -> Probe:
    probe = Probe(item.get("node", "sql1"), item.get("counter", ""), item.get("stat", "avg"), item.get("gauge", ""))
    if not probe.gauge and probe.counter not in BY_KEY:
        raise unknown_name(f"counter of {item['key']!r} in explorable {slug!r}", probe.counter, list(BY_KEY))
    if probe.stat not in STATS:
        raise unknown_name(f"statistic of {item['key']!r} in explorable {slug!r}", probe.stat, list(STATS))
    return probe


def _output(item: Mapping[str, Any]) -> Output:
    unit = item.get("unit") or (BY_KEY[item["counter"]].unit if item.get("counter") else "")
    return Output(item["key"], item["label"], unit, item.get("help", ""))


@dataclass(frozen=True)
class Arms:
    """The arms of an experiment: a name and the settings of each, and how long to run."""

    title: str
    settings: Mapping[str, Mapping[str, Any]]
    engine: Mapping[str, Any]
    run_s: float
    caption: str = ""
    k_mb_s: float | None = None

    def run(self) -> dict[str, Run]:
        """Run every arm with the flow engine, from the same start; the warm-up is left out."""
        from aglab.engine import Flow
        from aglab.scenario import Scenario

        base = Scenario.default(profile=self.engine["profile"], replicas=int(self.engine.get("replicas", 1)))
        found = {}
        for name, settings in self.settings.items():
            flow = Flow(base.with_settings({**self.engine.get("settings", {}), **settings}), seed=int(self.engine.get("seed", 1)))
            if self.engine.get("warm_up_s", 0) > 0:
                flow.advance(float(self.engine["warm_up_s"]))
            found[name] = flow.run(self.run_s)
        return found


def load_arms(slug: str) -> Arms:
    """The ``[arms]`` of a lab's ``explorable.toml``.

    Raises
    ------
    UsageError
        The lab has no such file, or the file declares no arms.
    """
    raw = _read(slug)
    declared = raw.get("arms")
    if not declared or not declared.get("arm"):
        raise UsageError(f"explorable.toml of lab {slug!r} declares no [[arms.arm]]", "see labs/README.md for the fields")
    return Arms(
        title=declared["title"],
        settings={item["name"]: item["settings"] for item in declared["arm"]},
        engine=raw["engine"],
        run_s=float(declared["run_s"]),
        caption=declared.get("caption", ""),
        k_mb_s=declared.get("k_mb_s"),
    )
