"""Startup options, load arguments, identifiers and log sequence numbers of the twin."""

import json
from decimal import Decimal

import numpy as np
import pytest

from aglab import ag
from aglab.ag.spec import SYNC_CODE
from aglab.core.errors import UsageError
from aglab.twin import availability as av
from aglab.twin import recording as recordings
from aglab.twin import settings


def test_startup_options_are_split_and_normalised():
    """Options typed in one string come apart at blanks, commas and semicolons."""
    assert settings.checked_options(settings.split_options("-k750 -T1204;-T 1222, -E")) == ["-k750", "-T1204", "-T1222", "-E"]
    assert settings.split_options("") == [] and settings.split_options(None) == []


def test_what_startup_options_mean():
    """-k throttles checkpoints (the last one counts), -T turns trace flags on."""
    assert settings.k_mb_s(["-k100", "-T1204", "-k750"]) == 750 and settings.k_mb_s(["-T1204"]) == 0
    assert settings.trace_flags(["-k100", "-T1204", "-T1222"]) == {1204, 1222}


@pytest.mark.parametrize("option", ["-k0", "-k-5", "-k999999999", "-T0", "-T99999", "-z", "k750", "-k", "--help", "-kabc", ""])
def test_bad_startup_options_are_refused(option):
    """An unknown option or an absurd value is an error that names it."""
    with pytest.raises(UsageError, match=r"startup option|-k=|-T="):
        settings.checked_options([option])


def test_too_many_startup_options():
    """The number of options is bounded."""
    with pytest.raises(UsageError, match="at most"):
        settings.checked_options(["-T1204"] * 65)


@pytest.mark.parametrize(
    ("value", "limit"), [(-1, "1 to"), (0, "1 to"), (1e9, "1 to"), ("many", "must be a number"), (float("nan"), "1 to")]
)
def test_absurd_loads_are_refused(value, limit):
    """A number of users that means nothing is refused with its limit."""
    with pytest.raises(UsageError, match=limit):
        recordings.checked_users(value, 136)
    assert recordings.checked_users(None, 136) == 136


def test_recording_steps_are_checked():
    """A recording's step is 1 s to an hour."""
    assert recordings.checked_every(None) == 1.0
    with pytest.raises(UsageError, match="every_s"):
        recordings.checked_every(0)


def test_recordings_are_averaged_over_windows():
    """Samples of one second become means over the step asked for; a last window that is not full is left out."""
    recording = recordings.Recording()
    columns = [("sql1", "transactions_per_s")]
    recording.add(columns, np.arange(1.0, 11.0), np.arange(10.0).reshape(10, 1))
    rows = recording.between(2.0, 10.0, 3.0)
    assert [(moment, float(row[0])) for moment, row in rows] == [(5.0, 3.0), (8.0, 6.0)]
    recording.add([("sql2", "x")], np.array([1.0]), np.array([[1.0]]))
    assert len(recording.samples) == 1


def test_log_sequence_numbers_grow_with_the_position():
    """An LSN keeps the order of byte positions, across virtual log files too."""
    positions = [0, 511, 512, 60_000, av.VLF_BYTES - 1, av.VLF_BYTES, 3 * av.VLF_BYTES + 7]
    numbers = [av.lsn(one) for one in positions]
    assert (
        numbers == sorted(numbers) and numbers[0] == numbers[1] < numbers[2] and all(isinstance(one, Decimal) for one in numbers)
    )
    assert max(len(str(one)) for one in numbers) <= 25


def test_identifiers_follow_from_names():
    """Every run of a lab prints the same GUIDs, and no two things share one."""
    group = av.form(["sql1", "sql2", "sql3"], "OLTP", 0.0)
    ids = [group.id, group.database_id("OLTP"), *(group.replica_id(one) for one in group.replicas)]
    assert len(set(ids)) == 5 and av.form(["sql1"], "OLTP", 1.0).id == group.id


def states(group):
    """synchronization_state of each replica's copy, in SQL Server's codes."""
    return [SYNC_CODE[one.databases["OLTP"].sync_state] for one in group.nodes.values()]


def test_group_states_follow_links_and_modes():
    """A suspended or unlinked replica is NOT SYNCHRONIZING, an asynchronous one at best SYNCHRONIZING."""
    group = av.form(["sql1", "sql2", "sql3"], "OLTP", 0.0)
    assert states(group) == [2, 2, 2]
    group.apply(ag.events.Crash("sql2"), 0.0)
    group.apply(ag.events.ModifyReplica("sql1", "sql3", {"availability_mode": ag.AvailabilityMode.ASYNCHRONOUS}), 0.0)
    assert states(group) == [2, 0, 1]
    health = {one.name: group.synchronization_health(one) for one in group.nodes.values()}
    assert health["sql2"] == 0 and health["sql3"] == 2
    group.apply(ag.events.Suspend("sql3", "OLTP"), 0.0)
    group.apply(ag.events.Suspend("sql1", "OLTP"), 0.0)
    assert states(group) == [0, 0, 0]


def test_group_survives_the_state_file():
    """What is written is what is read."""
    group = av.form(["sql1", "sql2"], "OLTP", 3.0)
    group.apply(ag.events.Suspend("sql2", "OLTP"), 3.0)
    kept = ag.saving.to_dict(group)
    assert ag.saving.to_dict(ag.saving.from_dict(json.loads(json.dumps(kept)))) == kept and states(group)[1] == 0
