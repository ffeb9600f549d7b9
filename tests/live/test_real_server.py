"""What a lab does, on a real SQL Server: named in AGLAB_LIVE_SERVER (host,port), with sa's password in AGLAB_LIVE_PASSWORD.

Skipped where no server is named. The server is a throw-away: a database OLTP is made on it.
"""

from __future__ import annotations

import os
import time

import pytest

from aglab.core.errors import AglabError
from aglab.core.paths import bundle_path
from aglab.lab import sampler
from aglab.lab.batches import split_batches
from aglab.lab.driver import Connection

SERVER = os.environ.get("AGLAB_LIVE_SERVER", "")
STEPS = sorted(bundle_path("labs").glob("*/[0-9][0-9]_*.sql"))
READY_S_MAX = 120.0

pytestmark = [pytest.mark.live, pytest.mark.skipif(not SERVER, reason="AGLAB_LIVE_SERVER names no server")]


@pytest.fixture(scope="module")
def server():
    """A connection to the server, once it answers, with a database OLTP."""
    host, _, port = SERVER.partition(",")
    deadline = time.monotonic() + READY_S_MAX
    while True:
        try:
            connection = Connection(host, int(port or 1433), "sa", os.environ["AGLAB_LIVE_PASSWORD"])
            break
        except AglabError:
            if time.monotonic() > deadline:
                raise
    with connection:
        connection.run("IF DB_ID(N'OLTP') IS NULL CREATE DATABASE [OLTP];")
        yield connection


@pytest.mark.parametrize("step", STEPS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_step_runs_as_it_is(server, step):
    """Every visible step of every lab runs on a real server without a change."""
    server.run("USE [OLTP];")
    for batch in split_batches(step.read_text(encoding="utf-8")):
        server.run(batch)


def test_the_sampler_reads_the_counters(server):
    """The sampling script gives the same columns as on the twin."""
    tables = server.run(sampler.script(3, 1, "OLTP")).tables
    frame = sampler.frame("sql1", tables, 1, "OLTP")
    columns = [path for _, path in frame.columns]
    assert len(frame) == 3
    for name in ("Transactions/sec", "Checkpoint pages/sec", "% Processor Time", "Avg. Disk sec/Read"):
        assert any(path.endswith(name) for path in columns), name
