"""Any input, however odd: either one clear error, or numbers that are finite and obey the laws.

Values are drawn over the whole declared range of every key, on a logarithmic scale and at the ends, many at a time.
``AGLAB_LAW_EXAMPLES`` sets how many random cases are tried.
"""

from __future__ import annotations

import math
import os

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.core.errors import UsageError
from aglab.engine import Flow, steady
from aglab.hardware import profile_names
from aglab.scenario import Scenario, key_rows

EXAMPLES = settings(
    max_examples=int(os.environ.get("AGLAB_LAW_EXAMPLES", "60")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TIGHT = 1e-6
_TIME = ("tick_s", "sample_s", "warmup_s", "duration_s")  # of a run, not of a system: each example sets its own
ROWS = {
    row["key"]: row
    for row in key_rows()
    if row["low"] is not None and "." in row["key"] and row["key"].rpartition(".")[2] not in _TIME
}


def values(row: dict) -> st.SearchStrategy:
    """Numbers over the declared range: its ends, and between them by size rather than by distance."""
    low, high = float(row["low"]), float(row["high"])
    least = low if low > 0 else min(1e-6, high)
    between = st.floats(math.log(least), math.log(high)).map(math.exp).map(lambda value: min(max(value, low), high))
    drawn = st.one_of(st.sampled_from([low, high]), between)
    return drawn.map(round) if row.get("integer") else drawn


@st.composite
def inputs(draw) -> tuple[str, int, dict]:
    """A bundled profile, a number of replicas, and up to twelve keys with any value of their range."""
    keys = draw(st.lists(st.sampled_from(sorted(ROWS)), max_size=12, unique=True))
    return draw(st.sampled_from(profile_names())), draw(st.integers(1, 4)), {key: draw(values(ROWS[key])) for key in keys}


@EXAMPLES
@given(inputs())
def test_any_input_is_refused_clearly_or_answered_soundly(case):
    """An error names what, value and remedy in one line; an answer is finite, with utilisation and Little's law in order."""
    profile, replicas, chosen = case
    try:
        scenario = Scenario.default(profile, replicas).with_settings(chosen)
        found = steady(scenario)
    except UsageError as error:
        text = str(error)
        assert "\n" not in text and ";" in text, text
        return
    numbers = [getattr(found, name) for name in found.__dataclass_fields__]
    assert all(math.isfinite(number) and number >= 0 for number in numbers), found
    assert found.cpu_util <= 1 + TIGHT and found.data_util <= 1 + TIGHT, found
    if found.throughput_s > 0:
        assert found.throughput_s * found.response_s <= scenario.settings.users * (1 + TIGHT), found
        assert sum(found.parts_s.values()) <= found.response_s * (1 + TIGHT), found


@settings(EXAMPLES, max_examples=max(10, EXAMPLES.max_examples // 4))
@given(inputs())
def test_any_run_has_finite_counters(case):
    """Three seconds of any accepted scenario: no counter is negative, infinite or not a number."""
    profile, replicas, chosen = case
    try:
        scenario = Scenario.default(profile, replicas).with_settings({**chosen, "warmup_s": 0})
        flow = Flow(scenario)
    except UsageError:
        return
    block = flow.advance(3.0)
    assert np.isfinite(block.values).all() and (block.values >= 0).all()
    for node in flow.names:
        assert all(math.isfinite(value) and value >= -TIGHT for value in flow.totals(node).values())
