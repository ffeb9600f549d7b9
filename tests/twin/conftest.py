"""Twins in other processes, for tests with real clients."""

import pytest
from twin_client import PROFILE, Link

from aglab.twin import spawn_child


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    """One twin for a module's tests."""
    with spawn_child(tmp_path_factory.mktemp("twin") / "s", profile=PROFILE) as twin:
        yield Link(twin)


@pytest.fixture
def own(tmp_path):
    """A twin for one test, which may break it."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        yield Link(twin)
