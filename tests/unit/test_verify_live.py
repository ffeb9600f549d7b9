"""The evidence report: what failed is in it, rates are not, and a simulation is called one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from aglab.core.errors import AglabError

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "verify_live.py"


@pytest.fixture
def verify():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("verify_live", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cluster:
    """Who answered."""

    server = "Microsoft SQL Server 2022 (RTM-CU22)"
    simulated = False


def checks_of(verify, *steps):
    made = verify.Checks()
    made.steps = lambda: steps
    made.cluster = Cluster()
    return made


def holds():
    """a thing that holds"""
    return "second run / first run = 1.02"


def fails():
    """a thing that does not"""
    raise AglabError("not within 120 s: sql2 is back")


def test_a_failed_step_is_in_the_report_and_the_rest_goes_on(verify):
    """One failure: not passed, with its words; the steps after it are tried."""
    made = checks_of(verify, fails, holds)
    results = verify.run(made)
    assert [one["passed"] for one in results] == [False, True]
    found = verify.report(results, made.cluster)
    assert not found["passed"]
    text = verify.as_markdown(found)
    assert "| **failed** | a thing that does not | not within 120 s: sql2 is back |" in text
    assert "second run / first run = 1.02" in text


def test_without_a_group_nothing_else_is_tried(verify):
    """The first step makes the cluster; when it fails there is nothing to look at."""
    made = checks_of(verify, fails, holds)
    made.cluster = None
    assert len(verify.run(made)) == 1
    assert not verify.report([], None)["passed"]


def test_a_simulation_is_no_evidence(verify):
    """Where a twin answered, the report says so first."""
    made = checks_of(verify, holds)
    made.cluster.simulated = True
    text = verify.as_markdown(verify.report(verify.run(made), made.cluster))
    assert "no evidence about SQL Server" in text.split("|")[0]


def test_the_licence_is_the_users_to_accept(verify, monkeypatch, capsys):
    """Without ACCEPT_EULA: exit code 2, nothing started."""
    monkeypatch.delenv("ACCEPT_EULA", raising=False)
    monkeypatch.setattr("sys.argv", ["verify_live.py"])
    assert verify.main() == 2
    assert "ACCEPT_EULA" in capsys.readouterr().err


def test_every_step_says_what_it_looks_at(verify):
    """Each has a sentence for the report, and the last one gives a ratio only."""
    steps = verify.Checks().steps()
    assert all(step.__doc__ for step in steps)
    assert len(steps) == 10
