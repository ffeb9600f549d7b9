"""The outage client on nodes that answer from a script: reconnecting, gaps on the server's clock, rows that were lost."""

from __future__ import annotations

import pandas as pd
import pytest

from aglab.core.errors import AglabError, UsageError
from aglab.lab.cluster import Cluster, Node
from aglab.lab.results import Result, SqlFailed

START = pd.Timestamp("2025-01-06 08:00:00")


class Session:
    """A connection to one node of the fake cluster."""

    def __init__(self, cluster, node):
        self.cluster, self.node, self.closed = cluster, node, False

    def run(self, batch):
        return self.cluster.answer(self.node, batch)

    def close(self):
        self.closed = True


class Nodes(Cluster):
    """Two nodes; ``primary`` takes rows, ``down`` does not answer, everybody else refuses writes."""

    mode = "fake"

    def __init__(self):
        super().__init__([Node("sql1", "127.0.0.1", 1), Node("sql2", "127.0.0.1", 2)], "none")
        self.primary, self.down, self.now_s, self.latency_s = "sql1", set(), 0.0, 0.002
        self.rows = {"sql1": set(), "sql2": set()}
        self.sessions, self.copies = [], True

    def connect(self, node=None, database="master"):
        if node in self.down:
            raise AglabError(f"node {node} does not answer")
        self.sessions.append(Session(self, node))
        return self.sessions[-1]

    def answer(self, node, batch):
        if node in self.down:
            raise SqlFailed("the connection is closed")
        if "CREATE TABLE" in batch:
            return Result([pd.DataFrame({"last_id": [max(self.rows[node], default=0)]})], [])
        if "WAITFOR" in batch:
            self.now_s += 0.5
            return Result([], [])
        if node != self.primary:
            raise SqlFailed("the database is read-only", 3906, node)
        self.now_s += self.latency_s
        number = int(batch.split("VALUES (")[1].split(",")[0])
        for name in self.rows if self.copies else [node]:
            self.rows[name].add(number)
        answered = START + pd.Timedelta(seconds=self.now_s)
        return Result([pd.DataFrame({"answered_at": [answered], "latency_us": [self.latency_s * 1e6]})], [])

    def sql(self, script, node=None, database="master"):
        return Result([pd.DataFrame({"id": sorted(self.rows[node])})], [])

    def wait(self, seconds):
        self.now_s += seconds

    def start_load(self, users=None): ...
    def stop_load(self): ...
    def restart(self, node, startup_options=()): ...
    def _password(self):
        return ""

    def provenance(self):
        return {"mode": "fake"}


def test_commits_and_latencies_are_the_servers():
    """Ten seconds at one row each half second: about twenty rows with the latency that the server measured."""
    nodes, seen = Nodes(), []
    with nodes.commit_client(0.5) as client:
        commits = client.run(10, progress=lambda done, total, label: seen.append((done, total, label)))
    assert len(commits) == 20 and set(commits["node"]) == {"sql1"}
    assert commits["latency_ms"].round(6).eq(2.0).all()
    assert seen[-1][:2] == (10, 10) and "20 commits, on sql1" in seen[-1][2]
    assert client.outages().empty and client.lost("sql2") == []
    assert all(one.closed for one in nodes.sessions)


def test_outage_is_the_gap_between_two_acknowledged_commits():
    """The primary dies; another takes over seven seconds later; the client finds it, and names who said no."""
    nodes = Nodes()

    def crash():
        nodes.down.add("sql1")

    def take_over():
        nodes.primary = "sql2"

    with nodes.commit_client(0.5) as client:
        client.run(20, do={10: take_over, 3: crash})
        gaps = client.outages()
    assert len(gaps) == 1
    gap = gaps.iloc[0]
    assert (gap["node_before"], gap["node_after"]) == ("sql1", "sql2")
    assert 6.5 <= gap["seconds"] <= 8.0
    assert "read-only" in gap["said"] or "does not answer" in gap["said"]


def test_a_commit_that_waits_is_an_outage_too():
    """Nobody refuses, one commit takes ten seconds: a gap on the same node."""
    nodes = Nodes()
    with nodes.commit_client(0.5) as client:
        client.run(3)
        nodes.latency_s = 10.0
        client.run(5)
        gap = client.outages().iloc[0]
    assert gap["node_before"] == gap["node_after"] == "sql1" and gap["said"] == "the commit waited"
    assert gap["seconds"] == pytest.approx(10.0, abs=0.01)


def test_lost_rows_are_those_that_were_acknowledged_and_are_not_there():
    """Rows that never reached the new primary are counted by id."""
    nodes = Nodes()
    with nodes.commit_client(0.5) as client:
        client.run(2)
        nodes.copies = False
        client.run(2)
        kept = len(nodes.rows["sql2"])
        assert client.lost("sql1") == []
        assert len(client.lost("sql2")) == len(client.commits) - kept > 0


def test_nobody_answers():
    """With every node down the client waits, tries again, and ends in time; the last refusal is kept."""
    nodes = Nodes()
    nodes.down = {"sql1", "sql2"}
    with nodes.commit_client(1) as client:
        assert client.run(5).empty
        assert set(client.refusals) == {"sql1", "sql2"} and "does not answer" in client.refusals["sql2"]
    assert nodes.now_s == pytest.approx(5.0)


def test_a_step_that_comes_late_is_still_done():
    """A step at or after the end runs at the end."""
    nodes, done = Nodes(), []
    with nodes.commit_client(0.5) as client:
        client.run(2, do={5: lambda: done.append(1)})
    assert done == [1]


@pytest.mark.parametrize("every_s", [0, 61, -1])
def test_pause_out_of_range(every_s):
    """The pause is checked, with the limit in the error."""
    with pytest.raises(UsageError, match=r"every_s=.* must be 0.01 to 60"):
        Nodes().commit_client(every_s)


def test_no_time_to_run():
    """A run has a length."""
    with pytest.raises(UsageError, match=r"seconds=0 must be > 0"):
        Nodes().commit_client().run(0)
