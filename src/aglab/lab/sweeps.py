"""Many runs of the engine over a grid of settings, on local threads or a Dask cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pandas as pd

from aglab.core.errors import MissingError, UsageError, field_error
from aglab.core.progress import Progress, no_progress

POINTS_MAX = 20_000
_COUNTERS = (
    "cpu_percent",
    "transactions_per_s",
    "log_bytes_flushed_per_s",
    "checkpoint_pages_per_s",
    "background_writer_pages_per_s",
    "recovery_queue_kb",
)


def grid(text: str) -> tuple[str, list[float]]:
    """``"k=250:1000:4"`` -> ("k", [250, 500, 750, 1000]); ``"users=50,100"`` -> ("users", [50, 100])."""
    key, separator, values = text.partition("=")
    try:
        if not separator or not key:
            raise ValueError
        if ":" in values:
            first, last, count = values.split(":")
            steps = int(count)
            if steps < 1:
                raise ValueError
            span = float(last) - float(first)
            return key, [float(first) + (span * i / (steps - 1) if steps > 1 else 0.0) for i in range(steps)]
        return key, [float(value) for value in values.split(",")]
    except ValueError:
        raise UsageError(
            f"--over {text!r} is not KEY=FIRST:LAST:COUNT or KEY=A,B,C", "write for example --over k=250:1000:4"
        ) from None


def sweep(
    scenario: Any,
    over: Mapping[str, Sequence[float]],
    seconds: float = 300.0,
    warm_up_s: float = 120.0,
    seed: int = 1,
    scheduler: str = "local",
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Run a scenario at every point of a grid.

    Parameters
    ----------
    scenario : Scenario
        What stays the same.
    over : mapping
        Setting (as ``--set`` knows it) -> values.
    seconds, warm_up_s : float
        Length of each run, and what is cut off at its start.
    scheduler : str
        "local" (threads of this machine) or the address of a Dask scheduler, ``tcp://host:port``.

    Returns
    -------
    DataFrame
        One row per point: the settings, then average, minimum and maximum of each counter on the first node. Ctrl-C
        returns the rows that are done.
    """
    if seconds <= 0 or warm_up_s < 0:
        raise field_error("seconds", seconds, "must be > 0 and warm_up_s >= 0", "sweep", "use for example 300 and 120")
    points = [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]
    if not points or not over:
        raise UsageError("the sweep has no points", "name a setting and its values with --over KEY=FIRST:LAST:COUNT")
    if len(points) > POINTS_MAX:
        raise UsageError(f"the sweep has {len(points)} points, limit {POINTS_MAX}", "take fewer values")
    cases = [scenario.with_settings(point) for point in points]  # a wrong key or value is said before anything runs
    rows: dict[int, dict[str, float]] = {}
    try:
        for done, (index, row) in enumerate(_results(cases, seconds, warm_up_s, seed, scheduler), start=1):
            rows[index] = row
            progress(done, len(points), "points")
    except KeyboardInterrupt:
        pass
    return pd.DataFrame([{**points[index], **rows[index]} for index in sorted(rows)])


def one(scenario: Any, seconds: float, warm_up_s: float, seed: int) -> dict[str, float]:
    """One point of a sweep."""
    from aglab.core.counters import BY_KEY
    from aglab.engine import Flow

    run = Flow(scenario, seed=seed).run(seconds + warm_up_s).between(warm_up_s, seconds + warm_up_s)
    node = run.nodes[0]
    row: dict[str, float] = {}
    for key in _COUNTERS:
        paths = [path for path in run.counters[node].columns if path.endswith(BY_KEY[key].counter)]
        if paths:
            values = run.counters[(node, paths[0])]
            row |= {f"{key}.avg": float(values.mean()), f"{key}.min": float(values.min()), f"{key}.max": float(values.max())}
    return row


def _results(
    cases: list[Any], seconds: float, warm_up_s: float, seed: int, scheduler: str
) -> Iterable[tuple[int, dict[str, float]]]:
    arguments = (seconds, warm_up_s, seed)
    if scheduler == "local":
        pool = ThreadPoolExecutor(max_workers=_threads())
        try:
            futures = {pool.submit(one, case, *arguments): index for index, case in enumerate(cases)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return
    if not scheduler.startswith(("tcp://", "tls://")):
        raise UsageError(
            f"scheduler={scheduler!r} must be 'local' or start with tcp:// or tls://", "give the Dask scheduler's address"
        )
    yield from _on_dask(cases, arguments, scheduler, one)


def _threads() -> int:
    import os

    return max(1, os.cpu_count() or 1)


def _on_dask(cases: list[Any], arguments: tuple[Any, ...], address: str, work: Callable[..., Any]) -> Iterable[tuple[int, Any]]:
    try:
        from distributed import Client
        from distributed import as_completed as dask_completed
    except ImportError:
        raise MissingError("a Dask scheduler needs the package distributed", "pip install 'aglab[sweep]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, TimeoutError) as error:
        raise MissingError(f"no Dask scheduler answers at {address}: {error}", "start one with: dask scheduler") from None
    with client:
        futures = {client.submit(work, case, *arguments, pure=False): index for index, case in enumerate(cases)}
        for future in dask_completed(list(futures)):
            yield futures[future], future.result()
