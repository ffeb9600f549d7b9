"""Mutation tests: a chapter's notebook must fail when the mechanism it teaches is switched off.

The mechanism is switched off in the twin's own process, by a ``sitecustomize`` that the notebook's kernel and its children
import first. The outputs stored in the notebook play no part: what must fail is an assertion of the notebook itself.
"""

from __future__ import annotations

import os
from pathlib import Path

import book_site
import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

DISTANCE_IS_FREE = """
import aglab.engine.flow, aglab.engine.params
from aglab.engine import layout

def near(scenario, build=aglab.engine.params.build):
    made = build(scenario)
    made.hw[:, layout.H_RTT] = 0.0
    return made

aglab.engine.flow.build = aglab.engine.params.build = near
"""

REDO_IS_FREE = """
import aglab.engine.flow, aglab.engine.params
from aglab.engine import layout

def quick(scenario, build=aglab.engine.params.build):
    made = build(scenario)
    made.ct[layout.C_REDO_CAP] = 1e15
    return made

aglab.engine.flow.build = aglab.engine.params.build = quick
"""

SEEDING_IS_FREE = """
import aglab.twin.seeding

aglab.twin.seeding.volume_bytes_s = lambda volume, direction: 1e15
"""

EVERYBODY_MAY_CONNECT = """
import aglab.twin.endpoints, aglab.twin.groups

aglab.twin.endpoints.accepts = aglab.twin.groups.accepts = lambda here, peer: None
"""

EVERY_PARTITION_IS_READ = """
from aglab.tsql.store.partitions import PartitionFunction

PartitionFunction.between = lambda self, low, high: range(1, self.count + 1)
"""

THROTTLE_IS_IGNORED = """
from aglab.engine import Flow

def change(self, node=None, /, *, do=Flow.change, **settings):
    settings.pop("k_mb_s", None)
    return do(self, node, **settings)

Flow.change = change
"""

LOG_BUFFER_IS_IGNORED = """
from aglab.engine import Flow

def change(self, node=None, /, *, do=Flow.change, **settings):
    settings.pop("tail_of_log_us", None)
    return do(self, node, **settings)

Flow.change = change
"""

OPTIONS_ARE_IGNORED = """
import dataclasses
import aglab.engine.running

def deaf(profile, job, *rest, made=aglab.engine.running.job_row, **more):
    return made(profile, dataclasses.replace(job, maxtransfersize=0, buffercount=0), *rest, **more)

aglab.engine.running.job_row = deaf
"""

NOBODY_WAITS = """
from aglab.tsql.locks import LockManager

LockManager._fits = lambda self, queue, spid, mode: True
LockManager.locked_rows = lambda self, database_id, object_id, spid, mode: {}
"""


def run(stem: str, folder: Path, mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute a notebook with a mutation in force in every process it starts."""
    (folder / "sitecustomize.py").write_text(mutation, encoding="utf-8")
    source = str(book_site.ROOT / "src")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
    monkeypatch.setenv("AGLAB_HOME", str(folder / "home"))
    notebook = nbformat.read(book_site.ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(book_site.ROOT / "notebooks")}}).execute()


@pytest.mark.parametrize(
    ("stem", "mutation", "says"),
    [
        ("08_table_partitioning", EVERY_PARTITION_IS_READ, "a range of the partitioning column should read one partition only"),
        ("10_build_the_group", SEEDING_IS_FREE, "two streams should share what the source reads"),
        ("10_build_the_group", EVERYBODY_MAY_CONNECT, "a login without CONNECT should be kept out"),
        ("03_workloads", NOBODY_WAITS, "orders that lock in any order should wait in a circle"),
        ("12_synchronous_commit", DISTANCE_IS_FREE, "the round trip should be the only thing that grew"),
        ("13_redo_and_failover", REDO_IS_FREE, "log should arrive faster than it is redone"),
        ("17_backup_options", OPTIONS_ARE_IGNORED, "buffers in flight should make compression pay"),
        ("16_checkpoint_throttle", THROTTLE_IS_IGNORED, "throttling the checkpoint should nearly double the rate"),
        ("21_tail_of_the_log", LOG_BUFFER_IS_IGNORED, "a log buffer should take the wait for the log volume away"),
    ],
)
def test_notebook_fails_without_its_mechanism(
    stem: str, mutation: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The assertion that carries the chapter's claim is the one that fails."""
    with pytest.raises(CellExecutionError, match=says):
        run(stem, tmp_path, mutation, monkeypatch)


@pytest.mark.parametrize("stem", ["12_synchronous_commit"])
def test_notebook_passes_with_a_mutation_that_changes_nothing(stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way the mutation is applied is not what makes a notebook fail."""
    run(stem, tmp_path, "import aglab.engine\n", monkeypatch)
