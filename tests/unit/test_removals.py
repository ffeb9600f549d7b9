"""Mechanisms of papers 001 to 004: without them their rows say something else, or the table says that they do not."""

from __future__ import annotations

import pytest

from aglab.published.experiments import COMPUTED
from aglab.published.experiments_storage import iometer_iops
from aglab.published.removals import REMOVALS, removals
from aglab.published.rows import roles


@pytest.fixture(scope="module")
def found() -> dict:
    """The table, once."""
    seen = []
    rows = removals(lambda done, total, label="": seen.append((done, total)))
    assert seen[-1] == (len(REMOVALS), len(REMOVALS))
    return {row["name"]: row for row in rows}


def test_every_paper_has_a_mechanism_and_rows_with_a_role(found):
    """Papers 000 to 004; each worst row is scored, and has an error."""
    assert {row["paper"] for row in found.values()} == {"000", "001", "002", "003", "004"}
    assert {row["worst_id"] for row in found.values()} <= set(roles().index)
    assert all(row["rows"] > 1 for row in found.values())


@pytest.mark.parametrize(
    ("name", "more"), [("redo-version", 20), ("tail", 1.5), ("transport", 1.5), ("quantum", 3), ("crosstalk", 2), ("penalty", 3)]
)
def test_what_breaks_without_a_mechanism(found, name, more):
    """Its rows are so many times further off."""
    assert found[name]["without_pct"] > more * found[name]["with_pct"]


def test_without_the_penalty_no_level_is_slower():
    """RAID 10 gains nothing over parity levels that are less full; a cache in front makes an array faster."""
    without = {one.name: one.without() for one in REMOVALS if one.name in ("penalty", "cache")}
    assert without["penalty"]["eql-raid10-vs-50"] < 0 and without["penalty"]["eql-iops-8k-85pct"] > 1.2 * iometer_iops(8, 0.85)
    assert without["cache"]["eql-iops-8k-85pct"] < COMPUTED["eql-iops-8k-85pct"]()
