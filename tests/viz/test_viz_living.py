"""The living picture: what it takes from a run, what it says, what it refuses."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError
from aglab.record import Run
from aglab.viz import cluster_picture, load_living, save_page
from aglab.viz.assets import script

SECONDARY = (
    "log_bytes_received_per_s",
    "log_bytes_flushed_per_s",
    "redone_bytes_per_s",
    "log_send_queue_kb",
    "recovery_queue_kb",
)
PRIMARY = ("transactions_per_s", "log_bytes_flushed_per_s", "bytes_sent_to_transport_per_s")


def make_run(count: int = 10, nodes: tuple[str, ...] = ("sql2", "sql3"), leave_out: str = "", database: str = "OLTP") -> Run:
    """sql1 sends 200 MB/s to each secondary, which redoes 50 MB/s of it; one sample each second."""
    rate = {"log_bytes_received_per_s": 2e8, "log_bytes_flushed_per_s": 2e8, "redone_bytes_per_s": 5e7}
    seconds = np.arange(1.0, count + 1)
    columns = {}
    for key in PRIMARY:
        value = {"transactions_per_s": 7e4, "log_bytes_flushed_per_s": 2e8, "bytes_sent_to_transport_per_s": 4e8}[key]
        columns["sql1", BY_KEY[key].path(database)] = np.full(count, value)
    for node in nodes:
        for key in SECONDARY:
            values = seconds * 1.5e8 / 1024 if key == "recovery_queue_kb" else np.full(count, rate.get(key, 0.0))
            columns[node, BY_KEY[key].path(database)] = values
        columns[node, BY_KEY["bytes_sent_to_transport_per_s"].path(database)] = np.zeros(count)
    frame = pd.DataFrame(
        {key: value for key, value in columns.items() if key[1] != BY_KEY[leave_out or "cpu_percent"].path(database)}
    )
    frame.index = pd.Index(seconds, name="time_s")
    frame.columns = pd.MultiIndex.from_tuples(frame.columns)
    return Run(frame, [], {"mode": "twin", "profile": "test"})


def test_picture_knows_who_sends_and_counts_in_bytes():
    """The node that sends is the primary; queues in KB become bytes; the label is the run's."""
    spec = cluster_picture(make_run()).spec()
    assert spec["primary"]["node"] == "sql1" and [one["node"] for one in spec["secondaries"]] == ["sql2", "sql3"]
    assert spec["secondaries"][0]["series"]["recovery_queue"][-1] == pytest.approx(1.5e9, rel=1e-3)
    assert spec["primary"]["series"]["sent"][0] == 4e8
    assert spec["label"] == "SIMULATED, profile test"


def test_text_alternative_and_table_say_what_the_picture_shows():
    """Who sends, what each secondary receives and redoes, how the queues went; the table has a row for each moment."""
    picture = cluster_picture(make_run(), title="Ten seconds")
    assert "Ten seconds. From 1 to 10 seconds the primary sql1 hardens 200 MB/s" in picture.alt
    assert "sql3 receives 200 MB/s and redoes 50 MB/s on average" in picture.alt
    assert "the recovery queue goes from 150 MB to 1.5 GB" in picture.alt
    table = picture.table()
    assert len(table.rows) == 10 and table.columns[0] == "seconds" and table.rows[-1][2] == 1500
    assert "SIMULATED, profile test" in table.caption


def test_a_long_run_is_thinned_and_keeps_its_ends():
    """A slider has 120 positions at most: the first and the last moment are among them."""
    picture = cluster_picture(make_run(1000))
    assert len(picture.time_s) == 120 and picture.time_s[[0, -1]].tolist() == [1.0, 1000.0]
    assert len(picture.table().rows) <= 24


def test_runs_are_shown_one_after_the_other():
    """The second run begins where the first one ends."""
    picture = cluster_picture([make_run(10), make_run(5)])
    assert picture.time_s.tolist() == [*range(1, 16)]


def test_any_database_and_two_nodes_are_enough():
    """A run of another database, with one secondary sampled."""
    picture = cluster_picture(make_run(nodes=("sql2",), database="Sales"))
    assert [one.node for one in picture.secondaries] == ["sql2"] and "1 secondary." in picture.alt


def test_a_counter_that_is_not_needed_may_be_missing():
    """Without Transactions/sec the picture has no tx/s, and nothing else changes."""
    picture = cluster_picture(make_run(leave_out="transactions_per_s"))
    assert "tps" not in picture.primary.series and "hardened" in picture.primary.series


def test_refusals_name_the_remedy():
    """No run, no secondary, an unknown primary, a counter that the picture cannot do without."""
    with pytest.raises(UsageError, match="needs a run"):
        cluster_picture([])
    with pytest.raises(UsageError, match="holds node 'sql1' only"):
        cluster_picture(make_run(nodes=()))
    with pytest.raises(UsageError, match="node"):
        cluster_picture(make_run(), primary="sql9")
    with pytest.raises(UsageError, match="has no Recovery Queue"):
        cluster_picture(make_run(leave_out="recovery_queue_kb"))


def test_block_works_in_a_notebook_and_on_a_page(tmp_path):
    """The block carries its data, its text and its table; the saved page holds the front end and asks nobody else."""
    picture = cluster_picture(make_run(), caption="Seen on *sql2*.")
    bundle = picture._repr_mimebundle_()
    assert repr(picture) == bundle["text/plain"] and "application/vnd.jupyter.widget-view+json" in bundle
    spec = re.search(r'<script type="application/json" class="aglab-spec">(.*?)</script>', bundle["text/html"], re.S)
    assert spec and json.loads(spec.group(1))["primary"]["node"] == "sql1"
    assert "<em>sql2</em>" in picture.html() and "aglab-alt" in picture.html()
    assert "aglab.kinds.living" in script()
    page = save_page(tmp_path / "living.html", "Living", [picture.html()]).read_text(encoding="utf-8")
    assert 'src="http' not in page


def test_declared_course_of_events_shows_both_queues():
    """Chapter 13: the send queue grows while the link is cut and drains in seconds, the recovery queue takes minutes."""
    picture = load_living("13-redo-and-failover")
    sql2, sql3 = picture.secondaries
    first = picture.time_s <= 60
    assert 6e9 < sql2.series["recovery_queue"][first].max() < 12e9  # a minute at some 160 MB/s, from nothing
    cut = (picture.time_s > 60) & (picture.time_s <= 120)
    assert sql3.series["send_queue"][cut].max() > 1e10 and sql2.series["send_queue"].max() < 1e6
    back = picture.time_s > 150
    assert sql3.series["send_queue"][back].max() < 1e6
    assert sql2.series["recovery_queue"][picture.time_s > 300].min() > 1e9


def test_a_lab_without_a_course_of_events_says_so():
    """Chapter 16 has no secondary and declares none."""
    with pytest.raises(UsageError, match=r"declares no \[\[living.span\]\]"):
        load_living("16-checkpoint-throttle")
