"""Startup options are taken when the server itself says so; their effect is said only where something shows it."""

from __future__ import annotations

import pandas as pd
import pytest

from aglab.core.errors import AglabError
from aglab.lab import cluster
from aglab.lab.docker_cluster import DockerCluster
from aglab.lab.results import Result
from aglab.lab.startup_options import NOT_CONFIRMED, read_back


def answering(on=(), errorlog="", model="CONVENTIONAL", deaf=()):
    """A server that has these trace flags on and writes this errorlog; batches with a word of ``deaf`` fail."""

    def ask(batch):
        if any(word in batch for word in deaf):
            raise AglabError("the connection is gone")
        if "TRACESTATUS" in batch:
            flag = int(batch.split("(")[1].split(",")[0])
            return Result(
                [
                    pd.DataFrame(
                        [(flag, int(flag in on), int(flag in on), 0)], columns=["TraceFlag", "Status", "Global", "Session"]
                    )
                ]
            )
        if "sql_memory_model_desc" in batch:
            return Result([pd.DataFrame({"m": [model]})])
        return Result([pd.DataFrame({"Text": [errorlog]})])

    return ask


def test_a_twin_takes_flags_and_says_so():
    """On a node restarted with them: shown by DBCC TRACESTATUS and the errorlog; no effect is claimed."""
    options = ["-k750", "-T834", "-T3979", "-T9921"]
    with cluster("twin") as twin:
        assert not any(one.taken for one in read_back("sql1", options, twin.sql))
        twin.restart("sql1", options)
        found = read_back("sql1", options, twin.sql)
    assert [one.taken for one in found] == [True] * 4
    assert "errorlog" in found[0].found and "TRACESTATUS" in found[1].found
    assert all(NOT_CONFIRMED in one.effect for one in found)


@pytest.mark.parametrize(
    ("option", "server", "taken", "effect"),
    [
        ("-T834", answering(on=[834], model="LARGE_PAGES"), True, "large pages"),
        ("-T834", answering(on=[834]), True, "the memory model is CONVENTIONAL"),
        ("-T834", answering(on=[834], deaf=["memory_model"]), True, "connection is gone"),
        ("-T834", answering(), False, NOT_CONFIRMED),
        ("-T3979", answering(on=[3979], model="LARGE_PAGES"), True, NOT_CONFIRMED),
        ("-T9921", answering(deaf=["TRACESTATUS"]), False, NOT_CONFIRMED),
        ("-k750", answering(errorlog='Command Line Startup Parameters:\n\t -k "750"'), True, NOT_CONFIRMED),
        ("-k75", answering(errorlog='Command Line Startup Parameters:\n\t -k "750"'), False, NOT_CONFIRMED),
    ],
)
def test_taken_and_effect_are_two_questions(option, server, taken, effect):
    """A flag that is on proves no effect; a server that cannot be asked proves nothing."""
    [found] = read_back("sql1", [option], server)
    assert found.taken is taken and effect in found.effect
    assert option in str(found) and ("NOT taken" in str(found)) is not taken


def test_a_restart_without_its_options_is_an_error():
    """A lab that needs -k must not go on without it."""

    class Quiet(DockerCluster):
        def __init__(self):
            pass

        def sql(self, batch, node=None, database="master"):
            return answering(on=[1222])(batch)

    Quiet()._read_back("sql1", ["-T1222"])
    with pytest.raises(AglabError, match=r"sql1 runs without -k750"):
        Quiet()._read_back("sql1", ["-T1222", "-k750"])
