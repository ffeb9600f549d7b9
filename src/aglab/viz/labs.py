"""Explorables of the labs: ``labs/SLUG/explorable.toml`` declares one, the flow engine answers.

The file names scenario settings as parameters, engine counters as outputs and series, so that a new explorable needs no code:
``[engine]`` (profile, replicas, settings, warm_up_s, run_s, sample_s, seed), ``[[parameter]]``, ``[[output]]``, ``[[series]]``,
``[[question]]`` and ``[curve]``. Keys ``backup.*`` (:class:`aglab.scenario.jobs.BackupJob`) start a backup after the warm-up.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.core.paths import bundle_path
from aglab.record import Run
from aglab.viz.declare import Answer, Output, Parameter, Question, Value
from aglab.viz.explorable import Explorable
from aglab.viz.living import ClusterPicture, cluster_picture

JOB = "backup."
STATS: dict[str, Callable[[np.ndarray], float]] = {
    "avg": lambda values: float(values.mean()),
    "min": lambda values: float(values.min()),
    "max": lambda values: float(values.max()),
    "last": lambda values: float(values[-1]),
}


@dataclass(frozen=True)
class Probe:
    """Where an output or a series comes from: a counter of a node over the measured time, reduced by ``stat``.

    ``per_constant`` names a calibrated constant in B/s; a counter in KB then becomes the seconds that the constant's rate
    needs for it. ``per_counter`` divides by another counter of the node, sample by sample; 0 where that is 0.
    """

    node: str
    counter: str
    stat: str = "avg"
    per_constant: str = ""
    per_counter: str = ""

    def factor(self) -> float:
        """From the counter's unit to the output's."""
        from aglab.core.quantity import constants

        if self.per_constant:
            return 1024.0 / constants()[self.per_constant].value
        pair = (BY_KEY[self.counter].unit, BY_KEY[self.per_counter].unit if self.per_counter else "")
        return 1024.0 if pair == ("KB", "B/s") else 1.0  # a queue in KB and the rate that works it off: seconds


@dataclass(frozen=True)
class FlowAnswer:
    """``compute`` for an explorable: one run of the flow engine per setting."""

    engine: Mapping[str, Any]
    probes: Mapping[str, Probe]
    curves: Mapping[str, Probe]

    def __call__(self, setting: dict[str, Value]) -> Answer:
        block = _flow(self.engine, setting).advance(float(self.engine["run_s"]))
        place = {name: index for index, name in enumerate(block.columns)}

        def over_time(probe: Probe) -> np.ndarray:
            samples: np.ndarray = block.values[:, place[probe.node, probe.counter]] * probe.factor()
            if not probe.per_counter:
                return samples
            below = block.values[:, place[probe.node, probe.per_counter]]
            return np.divide(samples, below, out=np.zeros_like(samples), where=below > 0)

        count = round(float(self.engine["run_s"]) / float(self.engine["sample_s"]))
        shown = len(spans_of(self.engine))
        outputs = {key: STATS[probe.stat](over_time(probe)) for key, probe in self.probes.items()}
        series = {key: _average(over_time(probe), count)[:shown] for key, probe in self.curves.items()}
        return Answer(outputs, series)


def _flow(engine: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
    """A warmed-up engine on the profile and settings of ``[engine]`` with ``settings`` on top."""
    from aglab.engine import Flow

    base = _base(engine["profile"], int(engine.get("replicas", 1)))
    given = {**engine.get("settings", {}), **settings}
    scenario = base.with_settings({key: value for key, value in given.items() if not key.startswith(JOB)})
    flow = Flow(scenario, seed=int(engine.get("seed", 1)))
    if engine.get("warm_up_s", 0) > 0:
        flow.advance(float(engine["warm_up_s"]))
    if any(key.startswith(JOB) for key in settings):
        job = {key.removeprefix(JOB): value for key, value in given.items() if key.startswith(JOB)}
        flags = {key: bool(job[key]) for key in ("compression", "checksum") if key in job}
        flow.change(backup={**job, **flags})
    return flow


@lru_cache(maxsize=8)
def _base(profile: str, replicas: int) -> Any:
    """The scenario that settings are laid over; read once, because a slider asks many times a second."""
    from aglab.scenario import Scenario

    return Scenario.default(profile=profile, replicas=replicas)


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
    if "mechanism" in engine:
        return _from_mechanism(slug, raw)
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
        parameters=tuple(_parameter(item, engine) for item in raw["parameter"]),
        outputs=tuple(_output(item) for item in raw["output"]),
        compute=compute,
        series=tuple(_output(item) for item in raw.get("series", [])),
        time_s=spans_of(engine),
        questions=tuple(Question(item["text"], item.get("answer", "")) for item in raw.get("question", [])),
        curve_over=curve.get("over", ""),
        curve_outputs=tuple(curve.get("outputs", ())),
        label=f"SIMULATED, profile {engine['profile']}",
    )


def _from_mechanism(slug: str, raw: Mapping[str, Any]) -> Explorable:
    """An explorable that a closed form of the engine answers: ``[engine] mechanism`` names it, outputs are its keys."""
    from aglab.viz.mechanisms import MECHANISMS

    engine, curve = raw["engine"], raw.get("curve", {})
    if engine["mechanism"] not in MECHANISMS:
        raise unknown_name(f"mechanism of explorable {slug!r}", engine["mechanism"], list(MECHANISMS))
    return Explorable(
        slug=slug,
        title=raw["title"],
        parameters=tuple(_parameter(item, engine) for item in raw["parameter"]),
        outputs=tuple(Output(item["key"], item["label"], item["unit"], item.get("help", "")) for item in raw["output"]),
        compute=MECHANISMS[engine["mechanism"]],
        questions=tuple(Question(item["text"], item.get("answer", "")) for item in raw.get("question", [])),
        curve_over=curve.get("over", ""),
        curve_outputs=tuple(curve.get("outputs", ())),
        label=f"SIMULATED, {engine['label']}",
    )


def spans_of(engine: Mapping[str, Any]) -> list[float]:
    """End times (seconds since the measured part began) of the spans a curve shows: up to ``show_s``, or all of ``run_s``."""
    step = float(engine["sample_s"])
    count = round(min(float(engine.get("show_s", engine["run_s"])), float(engine["run_s"])) / step)
    return [round((place + 1) * step, 3) for place in range(count)]


def _average(values: np.ndarray, count: int) -> np.ndarray:
    edges = np.linspace(0, len(values), count + 1).round().astype(int)
    sums: np.ndarray = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return sums


def _parameter(item: Mapping[str, Any], engine: Mapping[str, Any]) -> Parameter:
    values = tuple(item["values"])
    default = item["default"]
    texts = tuple(item.get("texts", ()))
    if item.get("relative"):
        # Factors of what the calibrated scenario has, so that a new calibration moves the grid with it.
        values, default, texts = _relative(item["key"], values, default, engine)
    live = item.get("live")
    fine: tuple[Value, ...] = ()
    if live:
        count = round((live["to"] - live["from"]) / live["step"])
        fine = (*(live["from"] + place * live["step"] for place in range(count + 1)), *live.get("then", ()))
    unit, about = item.get("unit", ""), item.get("help", "")
    return Parameter(item["key"], item["label"], values, unit, default, texts, fine, about)


def _relative(
    key: str, factors: tuple[float, ...], default: float, engine: Mapping[str, Any]
) -> tuple[tuple[float, ...], float, tuple[str, ...]]:
    from aglab.scenario import Scenario

    base = float(getattr(Scenario.default(engine["profile"], int(engine.get("replicas", 1))).settings, key))
    values = tuple(base if factor == 1 else float(round(base * factor)) for factor in factors)
    texts = tuple(f"{value:,.0f}{' (calibrated)' if factor == 1 else ''}" for value, factor in zip(values, factors, strict=True))
    return values, values[factors.index(default)], texts


def _probe(item: Mapping[str, Any], slug: str) -> Probe:
    from aglab.core.quantity import constants

    probe = Probe(
        item.get("node", "sql1"),
        item["counter"],
        item.get("stat", "avg"),
        item.get("per_constant", ""),
        item.get("per_counter", ""),
    )
    where = f"of {item['key']!r} in explorable {slug!r}"
    for counter in (probe.counter, probe.per_counter):
        if counter and counter not in BY_KEY:
            raise unknown_name(f"counter {where}", counter, list(BY_KEY))
    if probe.stat not in STATS:
        raise unknown_name(f"statistic {where}", probe.stat, list(STATS))
    if probe.per_constant and probe.per_constant not in constants():
        raise unknown_name(f"constant {where}", probe.per_constant, list(constants()))
    return probe


def _output(item: Mapping[str, Any]) -> Output:
    unit = item.get("unit") or BY_KEY[item["counter"]].unit
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
    counters: tuple[str, ...] = ()

    def run(self) -> dict[str, Run]:
        """Run every arm with the flow engine, from the same start; the warm-up is left out."""
        return {name: _flow(self.engine, settings).run(self.run_s) for name, settings in self.settings.items()}


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
        counters=tuple(declared.get("counters", ())),
    )


def load_living(slug: str) -> ClusterPicture:
    """The ``[living]`` picture of a lab's ``explorable.toml``: spans of one flow, with changes between them.

    Raises
    ------
    UsageError
        The lab has no such file, the file declares no spans, or the flow does not take a change.
    """
    raw = _read(slug)
    declared = raw.get("living")
    if not declared or not declared.get("span"):
        raise UsageError(f"explorable.toml of lab {slug!r} declares no [[living.span]]", "see labs/README.md for the fields")
    flow = _flow({**raw["engine"], "warm_up_s": 0}, {"warmup_s": 0})  # every second of every span is shown
    runs = []
    for span in declared["span"]:
        flow.change(**span.get("change", {}))
        for node, values in span.get("nodes", {}).items():
            flow.change(node, **values)
        runs.append(flow.run(float(span["seconds"])))
    return cluster_picture(runs, title=declared["title"], caption=declared.get("caption", ""))
