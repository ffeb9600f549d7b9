"""Lab 10: its judge, on answers of servers written down here."""

from __future__ import annotations

import importlib.util

import pandas as pd
import pytest

from aglab.core.paths import bundle_path

SLUG = "10-build-the-group"
GONE = "refused: sql2: the target database allows connections with read intent only"


@pytest.fixture(scope="module")
def script():
    """labs/10-build-the-group/lab.py"""
    spec = importlib.util.spec_from_file_location("lab_10", bundle_path("labs", SLUG, "lab.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("readers", "alone", "plain", "hint"),
    [
        (["sql2", "sql3"] * 3, "sql1", GONE, ""),
        (["sql1"] * 6, "sql1", GONE, "must accept readers"),
        (["sql1", "sql2", "sql3"] * 2, "sql1", GONE, "at the end of the list"),
        (["sql2"] * 6, "sql1", GONE, "parentheses of their own"),
        (["sql2", "sql3"] * 3, "sql1", "sql2", "whoever forgets"),
        (["sql2", "sql3"] * 3, "refused: nobody", GONE, "find nobody"),
    ],
)
def test_each_kind_of_answer_has_its_verdict(script, readers, alone, plain, hint):
    """Who answered decides, and each way to be wrong has its own hint."""
    verdict = script.judge(readers, alone, plain)
    assert bool(verdict) is (hint == "") and hint in verdict.hint


class NoCluster:
    """A lab whose cluster must not be touched."""

    @property
    def cluster(self):
        raise AssertionError("a wrong answer must be refused before the cluster is changed")

    about = property(lambda self: {"wait": {"looks": 1, "seconds": 1}})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"routing_list": None, "allow_connections": None}, "still None"),
        ({"routing_list": "(N'sql2')", "allow_connections": "SOME"}, "ALLOW_CONNECTIONS = SOME"),
        ({"routing_list": "(N'sql2'); DROP DATABASE OLTP", "allow_connections": "ALL"}, "DROP"),
    ],
)
def test_an_answer_that_is_no_answer_changes_nothing(script, answer, words):
    """Missing values, unknown words and text that is no routing list are refused at once."""
    verdict = script.check(NoCluster(), answer, None)
    assert not verdict and words in verdict.seen


@pytest.mark.parametrize(
    ("connected", "state", "hint"),
    [
        ("CONNECTED", "SYNCHRONIZED", ""),
        ("DISCONNECTED", "NOT SYNCHRONIZING", "cannot connect"),
        ("CONNECTED", "SYNCHRONIZING", "must be sent what it missed"),
        ("CONNECTED", "NO COPY", "must be sent what it missed"),
    ],
)
def test_the_fault_is_judged_by_state(script, connected, state, hint):
    """Only connected replicas with copies in step are healthy."""
    rows = [("sql1", "CONNECTED", "SYNCHRONIZED"), ("sql3", connected, state)]
    states = pd.DataFrame(rows, columns=["replica_server_name", "connected_state_desc", "state"])
    verdict = script.judge_states(states)
    assert bool(verdict) is (hint == "") and hint in verdict.hint
