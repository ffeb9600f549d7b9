"""The cell magic: which cluster it means, and what it refuses."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.lab.magic import load_ipython_extension, tsql


class Cluster:
    """Remembers what it was asked."""

    database = "OLTP"

    def sql(self, script, node=None, database="master"):
        return (script, node, database)


class Lab:
    """Holds a cluster."""

    def __init__(self):
        self.cluster = Cluster()


def test_a_cell_runs_on_the_lab_or_cluster_named():
    """A lab's cluster and a cluster itself, with node and database where they are named."""
    names = {"lab": Lab(), "cluster": Cluster()}
    assert tsql("lab", "SELECT 1", names) == ("SELECT 1", None, "OLTP")
    assert tsql("cluster sql2 master  # here", "SELECT 2", names) == ("SELECT 2", "sql2", "master")


@pytest.mark.parametrize("line", ["", "nobody", "number", "a b c d"])
def test_other_names_are_refused(line):
    """Nothing named, an unknown name, no lab, too many words."""
    with pytest.raises(UsageError, match="%%tsql"):
        tsql(line, "SELECT 1", {"number": 3})


def test_it_registers_with_ipython():
    """%load_ext registers a cell magic that looks names up when it runs."""

    class Shell:
        def __init__(self):
            self.user_ns = {"c": Cluster()}

        def register_magic_function(self, function, kind, name):
            self.magic = (function, kind, name)

    shell = Shell()
    load_ipython_extension(shell)
    function, kind, name = shell.magic
    assert (kind, name) == ("cell", "tsql")
    assert function("c", "SELECT 1") == ("SELECT 1", None, "OLTP")
