"""Laws of cutting a table: heat, gathered writes, searches, and drives that are shared or divided."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from aglab.core.errors import UsageError
from aglab.engine import partitions
from aglab.hardware import DiskArray
from aglab.published.rows import figures

ARRAY = DiskArray.load("dell-ps6100xv")


@given(some.floats(0.01, 0.99), some.booleans())
def test_gathered_writes_count_what_a_simulation_counts(dirty: float, own: bool) -> None:
    """The closed form beside pages drawn at random and gathered by the same rule."""
    pages = np.random.default_rng(7).random(64_000) < dirty
    writes = length = 0
    for place, wet in enumerate(pages):
        longest = partitions.PAGES_PER_WRITE if own else partitions.EXTENT
        if not wet:
            length = 0
        elif length == 0 or length >= longest or (not own and place % partitions.EXTENT == 0):
            writes, length = writes + 1, 1
        else:
            length += 1
    assert partitions.writes_per_page(dirty, own) == pytest.approx(writes / pages.sum(), rel=0.12)


@given(some.floats(0.0, 1.0))
def test_a_file_of_its_own_never_needs_more_writes(dirty: float) -> None:
    """Runs that cross extents are at least as long; where everything is dirty, four times."""
    own, shared = partitions.writes_per_page(dirty, True), partitions.writes_per_page(dirty, False)
    assert own <= shared + 1e-12 <= 1.0 + 2e-12
    assert partitions.writes_per_page(1.0, False) / partitions.writes_per_page(1.0, True) == pytest.approx(4.0)


@given(some.integers(1, 64), some.floats(0.0, 1.0))
def test_heat_is_even_only_without_a_favourite(ranges: int, newest: float) -> None:
    """The newest range has at least its even share, all of the work at most."""
    share = partitions.heat(ranges, newest)
    assert 1.0 / ranges - 1e-12 <= share <= 1.0 + 1e-12
    assert partitions.heat(ranges, 0.0) == pytest.approx(1.0 / ranges)


@given(some.integers(1, 16), some.floats(0.0, 1.0))
def test_a_pool_does_not_care_and_divided_drives_do(ranges: int, newest: float) -> None:
    """On a pool the number of volumes changes nothing; divided, the hottest volume is the limit."""
    one = partitions.layout(ARRAY, 1, newest, 0.1, True, True)
    pooled = partitions.layout(ARRAY, ranges, newest, 0.1, True, True)
    divided = partitions.layout(ARRAY, ranges, newest, 0.1, False, True)
    assert pooled.iops == one.iops
    assert divided.iops == pytest.approx(one.iops / ranges / partitions.heat(ranges, newest))
    assert divided.iops <= pooled.iops * (1 + 1e-12)


@given(some.integers(1, 64), some.floats(1.0, 1e9))
def test_a_search_through_a_cut_index_looks_everywhere(ranges: int, rows: float) -> None:
    """At least one page for each range; never fewer than through one tree; a tree of one page has one level."""
    apart = partitions.search_pages(rows, 1, 400, 400)
    assert partitions.search_pages(rows, ranges, 400, 400) >= max(ranges, apart)
    assert partitions.search_pages(1, 1, 400, 400) == 1


def test_values_out_of_range_are_named() -> None:
    """Each says what, value and limit."""
    for values in ((0, 0.5, 0.5), (4, 2.0, 0.5), (4, 0.5, -1.0)):
        with pytest.raises(UsageError):
            partitions.layout(ARRAY, *values, True, True)


def test_a_write_ends_in_the_cache_until_the_drives_are_full() -> None:
    """Latency is the cache's below the limit, and has no bound above it."""
    assert partitions.cached_write_ms(ARRAY, 100.0) == ARRAY.cache_write_ms
    assert partitions.cached_write_ms(ARRAY, 1e6) == math.inf


def test_the_papers_two_gains_are_residuals_with_a_reason() -> None:
    """What no mechanism explains is shown, with why."""
    rows = figures().loc[["eql-part4-data-write", "eql-part4-log-write"]]
    assert list(rows["role"]) == ["residual", "residual"] and all(rows["reason"])
