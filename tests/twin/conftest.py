"""Twins in other processes, for tests with real clients."""

import contextlib

import pytest
from twin_client import PROFILE, Link

from aglab.twin import spawn_child


@pytest.fixture
def link(shared):
    """The shared twin, for tests that leave it as it was."""
    return shared


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One twin that every test finds as it was at its start."""
    with spawn_child(tmp_path_factory.mktemp("twin") / "s", profile=PROFILE) as twin:
        made = Link(twin)
        made.sql("EXEC twin.snapshot @name = 'as_made'")
        yield made


@pytest.fixture
def own(shared):
    """A twin as new: a test may change anything in it but end it."""
    shared.sql("EXEC twin.restore @name = 'as_made'")
    yield shared
    for node in ("sql1", "sql2", "sql3"):  # the test may have left some of them down
        with contextlib.suppress(Exception):
            shared.sql("EXEC twin.restore @name = 'as_made'", node=node)
            break


@pytest.fixture
def fresh(tmp_path):
    """A twin for one test, which may end it."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        yield Link(twin)


@pytest.fixture(scope="session")
def bare_twin(tmp_path_factory):
    """One twin without a group, kept for every test here."""
    with spawn_child(tmp_path_factory.mktemp("bare") / "s", profile=PROFILE, bare=True) as twin:
        made = Link(twin)
        made.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        made.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.f VALUES (1)", database="Shop")
        made.sql("EXEC twin.snapshot @name = 'bare'")
        yield made


@pytest.fixture
def bare(bare_twin):
    """Three nodes without a group; sql1 has databases OLTP and Shop."""
    bare_twin.sql("EXEC twin.restore @name = 'bare'")
    return bare_twin
