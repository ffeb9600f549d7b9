"""Least squares from several starts, as calibration, evidence and ablation do it (needs scipy).

A point holds the logarithms of constants. The loss is rough: where a run ends within a checkpoint moves an average by tenths
of a percent. Derivatives are therefore taken over :data:`STEP`, the same share of every constant, to both sides; over a smaller
one they measure the roughness. One fit may still end in a corner, so several begin at points spread over the plausible ranges
(Latin hypercube, seeded), and how many of them meet is evidence of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from aglab.core.errors import MissingError
from aglab.core.progress import no_progress
from aglab.engine.layout import Array

STEP = 0.01  # of the logarithm: 1 % of a constant
ENOUGH = 1e-3  # relative fall of the loss below which a fit ends: less is roughness

Loss = Callable[[Array], Array]
T = TypeVar("T")


def solver() -> Callable[..., Any]:
    """scipy's ``least_squares``, which every fit of this room uses.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError as error:
        raise MissingError("scipy is not installed", "pip install 'aglab[calibrate]'") from error
    found: Callable[..., Any] = least_squares
    return found


def jacobian(loss: Loss, point: Array, step: float = STEP) -> Array:
    """Derivatives of every error by every constant, central, over ``step`` of the logarithm; shape (errors, constants)."""
    columns = []
    for index in range(len(point)):
        more, less = point.copy(), point.copy()
        more[index] += step
        less[index] -= step
        columns.append((loss(more) - loss(less)) / (2.0 * step))
    return np.array(columns).T


def minimise(loss: Loss, start: Array, bounds: tuple[Array, Array], steps_max: int) -> Any:
    """One fit, within ``bounds`` (less a step at each end, for the derivatives); scipy's result.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    low, high = bounds[0] + 2.0 * STEP, bounds[1] - 2.0 * STEP
    begin = np.clip(start, low + 1e-9, high - 1e-9)
    return solver()(
        loss, begin, jac=lambda x: jacobian(loss, x), bounds=(low, high), xtol=1e-5, ftol=ENOUGH, gtol=1e-6, max_nfev=steps_max
    )


def square(values: Array) -> float:
    """The loss: the sum of squared errors."""
    return float((values**2).sum())


def hypercube(low: Array, high: Array, count: int, seed: int) -> Array:
    """``count`` points, each constant in each of ``count`` equal parts of its range once; shape (count, constants)."""
    draw = np.random.default_rng(seed)
    parts = np.array([draw.permutation(count) for _ in low]).T
    found: Array = low + (high - low) * (parts + draw.random(parts.shape)) / count
    return found


def processes() -> int:
    """Processes that share a fit: one for each processor this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def all_of(
    work: Callable[..., T],
    arguments: Sequence[tuple[Any, ...]],
    progress: Callable[..., None] = no_progress,
    label: str = "",
    workers: int | None = None,
) -> list[T]:
    """``work`` for each of ``arguments`` on every processor (or ``workers``); results in their order, whoever ends first."""
    count = min(workers or processes(), len(arguments))
    if count < 2:
        found = []
        for done, one in enumerate(arguments):
            progress(done, len(arguments), label)
            found.append(work(*one))
        progress(len(arguments), len(arguments), label)
        return found
    with ProcessPoolExecutor(count) as pool:
        jobs = [pool.submit(work, *one) for one in arguments]
        progress(0, len(jobs), label)
        for done, _ in enumerate(as_completed(jobs), start=1):
            progress(done, len(jobs), label)
        return [job.result() for job in jobs]


@contextmanager
def shown_progress(label: str) -> Iterator[Callable[..., None]]:
    """A progress callback that draws a bar on standard error, or nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True)
    )
    with bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total, text="": bar.update(task, completed=done, total=total, description=text or label)
