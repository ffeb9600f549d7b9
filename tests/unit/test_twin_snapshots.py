"""Snapshots by name: begin at one, list them, refuse a damaged one."""

import json
import time

import pytest

from aglab.core.errors import UsageError
from aglab.twin import Twin
from aglab.twin.cluster import Cluster
from aglab.twin.keeper import Keeper
from aglab.twin.statedir import StateDir

PROFILE = "laptop-generic"


@pytest.fixture
def kept(tmp_path):
    """A state directory with the snapshot ``chapter`` in which the clock stood at 5 s; since then it stands at 9 s."""
    cluster = Cluster(PROFILE)
    keeper = Keeper(cluster, StateDir(tmp_path / "s"))
    keeper.open()
    cluster.clock.set_time(5_000_000)
    keeper.snapshot("chapter")
    cluster.clock.set_time(9_000_000)
    keeper.close()
    return tmp_path / "s"


def test_a_twin_begins_at_a_snapshot(kept):
    """Clock and state are those of the snapshot, and stay so after the next start."""
    with Twin.start(profile=None, state_dir=kept, snapshot="chapter") as twin:
        assert twin.cluster.clock.now_us == 5_000_000
    with Twin.start(profile=None, state_dir=kept) as twin:
        assert twin.cluster.clock.now_us == 5_000_000


def test_restoring_takes_less_than_a_second(kept):
    """Processor time of a restore, saving included."""
    cluster = Cluster(PROFILE)
    keeper = Keeper(cluster, StateDir(kept))
    keeper.open()
    began = time.thread_time()
    keeper.restore("chapter")
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    ("name", "words"), [("nope", "snapshot 'nope' is not known; known: chapter"), ("../x", "must be 1 to 64 letters")]
)
def test_an_unknown_name_is_an_error_that_names_the_known(kept, name, words):
    """And the state is as it was."""
    with pytest.raises(UsageError, match=words):
        Twin.start(state_dir=kept, snapshot=name)
    with Twin.start(state_dir=kept) as twin:
        assert twin.cluster.clock.now_us == 9_000_000


def test_settings_that_were_changed_by_hand_are_refused(kept):
    """A damaged head changes nothing, and the list shows it without clock and profile only where it cannot be read."""
    head = kept / "snapshots" / "chapter.json"
    content = json.loads(head.read_text())
    content["small"]["clock_us"] = 6_000_000
    head.write_text(json.dumps(content))
    cluster = Cluster(PROFILE)
    keeper = Keeper(cluster, StateDir(kept))
    keeper.open()
    with pytest.raises(UsageError, match="settings do not match their checksum"):
        keeper.restore("chapter")
    assert cluster.clock.now_us == 9_000_000
    assert keeper.described()[0][:3] == ("chapter", 6.0, PROFILE)
    head.write_text("{")
    assert keeper.described()[0][:3] == ("chapter", None, None)
