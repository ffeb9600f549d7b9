"""What a twin keeps on disk: state, rows, journal, snapshots; and what it does with damage."""

import contextlib

import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.core.sqltypes import INT, nvarchar
from aglab.tsql import TsqlError
from aglab.tsql.host import Change, CommitRecord, RowChange
from aglab.tsql.store.table import ColumnDef, Index, Table
from aglab.twin import freeze
from aglab.twin.cluster import Cluster
from aglab.twin.keeper import DamagedState, Keeper
from aglab.twin.statedir import StateDir

PROFILE = "laptop-generic"


def opened(path, **options):
    """A cluster over a state directory, as at a start."""
    cluster = Cluster(PROFILE, **options)
    keeper = Keeper(cluster, StateDir(path))
    keeper.open()
    return cluster, keeper


def with_table(cluster):
    """A table t(id, name) with a key in OLTP of every node."""
    for node in cluster.nodes.values():
        database = node.instance.database("OLTP")
        table = Table(
            database.next_object_id(), "dbo", "t", [ColumnDef("id", INT, nullable=False), ColumnDef("name", nvarchar(20))]
        )
        table.add_index(Index("pk", (0,), (False,), unique=True, clustered=True, primary_key=True))
        database.put(table)
    cluster.dirty_rows = True


def insert(cluster, number, name):
    """What a committed INSERT tells the primary."""
    node = cluster.nodes["sql1"]
    table = node.instance.database("OLTP").find("dbo", "t")
    table.put(number, (number, name))
    node.commit(CommitRecord("OLTP", number, 51, [RowChange("dbo.t", number, None, (number, name))], 300), None)


def rows(cluster, node="sql1"):
    """Rows of t on a node."""
    return sorted(cluster.nodes[node].instance.database("OLTP").find("dbo", "t").rows.values())


def test_everything_is_there_after_an_orderly_end(tmp_path):
    """Clock, pace, settings, options, errorlog, load and rows come back."""
    cluster, keeper = opened(tmp_path / "s")
    node = cluster.nodes["sql1"]
    with_table(cluster)
    insert(cluster, 1, "one")
    node.instance.configurations["max degree of parallelism"].value = 4
    node.instance.database("OLTP").options["target_recovery_time_in_seconds"] = 0
    node.restart(["-k750", "-T1204"])
    cluster.plant.start_load(20)
    cluster.clock.set_time(90_000_000)
    totals = node.totals()
    keeper.close()

    again, _ = opened(tmp_path / "s")
    other = again.nodes["sql1"]
    assert again.clock.now_us == 90_000_000 and again.plant.users == 20
    assert rows(again) == rows(again, "sql2") == [(1, "one")]
    assert other.instance.configurations["max degree of parallelism"].value_in_use == 4
    assert other.instance.database("OLTP").options["target_recovery_time_in_seconds"] == 0
    assert other.startup_options == ["-k750", "-T1204"] and 1204 in other.instance.trace_flags
    assert other.totals() == totals and totals["transactions"] > 1
    assert any("-k750" in line[2] for line in other.errorlog.logs[0])
    again.clock.set_time(120_000_000)
    cluster.clock.set_time(120_000_000)
    assert other.totals() == node.totals(), "the engine goes on as if it had never stopped"


def test_commits_survive_a_crash(tmp_path):
    """A commit that was acknowledged is there after the process vanished without saving."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    keeper.save(full=True)
    for number in range(1, 11):
        insert(cluster, number, f"row {number}")
    again, _ = opened(tmp_path / "s")
    assert rows(again) == rows(again, "sql3") == [(number, f"row {number}") for number in range(1, 11)]


def test_a_database_dropped_stays_dropped_after_a_crash(tmp_path):
    """The journal has a database that was made and no longer one that was dropped, with no save in between."""
    cluster, _ = opened(tmp_path / "s", bare=True)
    node = cluster.nodes["sql1"]
    session = node.instance.open_session()
    for name in ("Shop", "Gone"):
        node.instance.add_database(name)
        node.changed(Change("create_database", name, None, name), session)
    node.changed(Change("drop_database", "Gone", None, "Gone"), session)
    node.instance.drop_database("Gone")
    again, _ = opened(tmp_path / "s", bare=True)
    assert again.nodes["sql1"].instance.database("Shop") is not None
    assert again.nodes["sql1"].instance.database("Gone") is None


def test_a_torn_journal_keeps_what_came_before(tmp_path):
    """A crash in the middle of a journal record loses that record only."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    keeper.save(full=True)
    insert(cluster, 1, "one")
    insert(cluster, 2, "two")
    journal = next((tmp_path / "s").glob("journal-*.bin"))
    journal.write_bytes(journal.read_bytes()[:-5])
    again, _ = opened(tmp_path / "s")
    assert rows(again) == [(1, "one")]


@pytest.mark.parametrize("damage", ["truncate rows", "garble rows", "garble state", "drop rows", "drop key"])
def test_damaged_state_is_reported(tmp_path, damage):
    """Any damage to state or rows is noticed before anything is served from it."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    keeper.close()
    data = next((tmp_path / "s").glob("rows-*.bin"))
    state = tmp_path / "s" / "cluster.json"
    if damage == "truncate rows":
        data.write_bytes(data.read_bytes()[:100])
    elif damage == "garble rows":
        data.write_bytes(b"\x80" + data.read_bytes()[1:-1] + b"\x00")
    elif damage == "garble state":
        state.write_text(state.read_text()[:-10])
    elif damage == "drop rows":
        data.unlink()
    else:
        state.write_text(state.read_text().replace('"clock_us"', '"clock_is"'))
    with pytest.raises(DamagedState):
        opened(tmp_path / "s")


def test_rows_cannot_carry_code(tmp_path):
    """A rows file that names anything but data is refused, not run."""
    import pickle

    class Evil:
        def __reduce__(self):
            return (print, ("owned",))

    for bad in (pickle.dumps(Evil()), b"cos\nsystem\n(S'true'\ntR.", b"\x80\x05garbage", b""):
        with pytest.raises(ValueError, match="cannot be read"):
            freeze.load(bad)


def test_layout_must_match(tmp_path):
    """A state made with an availability group is not opened bare, and the error says what to do."""
    _, keeper = opened(tmp_path / "s")
    keeper.close()
    with pytest.raises(UsageError, match=r"--bare.*move that directory away.*AGLAB_HOME"):
        opened(tmp_path / "s", bare=True)


def test_snapshot_and_restore(tmp_path):
    """A snapshot brings back rows, settings and the clock; what came after is gone."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    insert(cluster, 1, "one")
    cluster.clock.set_time(10_000_000)
    keeper.snapshot("start")
    cluster.plant.start_load(4)
    cluster.clock.set_time(20_000_000)
    assert cluster.plant.totals("sql1")["transactions"] > 0 and cluster.plant.recording.samples
    insert(cluster, 2, "two")
    cluster.nodes["sql1"].restart(["-k750"])
    cluster.clock.set_time(99_000_000)
    keeper.restore("start")
    assert not cluster.plant.recording.samples and cluster.plant.users == 0
    assert rows(cluster) == [(1, "one")] and cluster.clock.now_s == 10.0 and cluster.nodes["sql1"].startup_options == []
    insert(cluster, 3, "three")
    again, _ = opened(tmp_path / "s")
    assert rows(again) == [(1, "one"), (3, "three")]


def test_bad_snapshots(tmp_path):
    """An unknown snapshot names the known ones; a damaged one changes nothing."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    keeper.snapshot("good")
    with pytest.raises(UsageError, match="known: good"):
        keeper.restore("god")
    (tmp_path / "s" / "snapshots" / "good.bin").write_bytes(b"damaged")
    insert(cluster, 1, "one")
    with pytest.raises(UsageError, match="cannot be restored"):
        keeper.restore("good")
    assert rows(cluster) == [(1, "one")]


def test_snapshots_are_bounded(tmp_path, monkeypatch):
    """The number of snapshots has a limit that the error names."""
    from aglab.twin import keeper as module

    monkeypatch.setattr(module, "SNAPSHOTS_MAX", 1)
    _, keeper = opened(tmp_path / "s")
    keeper.snapshot("one")
    keeper.snapshot("one")
    with pytest.raises(UsageError, match="the limit"):
        keeper.snapshot("two")


def test_a_full_disk_refuses_the_commit(tmp_path):
    """A commit that cannot be kept is an error to its client, and a save that fails leaves the old state."""
    cluster, keeper = opened(tmp_path / "s")
    with_table(cluster)
    keeper.save(full=True)

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    keeper._journal = Full()
    with pytest.raises(TsqlError, match="No space left"):
        insert(cluster, 1, "one")
    assert rows(cluster, "sql2") == [], "no replica has what the primary could not keep"
    again, _ = opened(tmp_path / "s")
    assert rows(again) == []


def test_a_failing_save_is_said_once(tmp_path, monkeypatch):
    """When the state cannot be written the errorlog says so once, and the twin goes on."""
    from aglab.twin import keeper as module

    cluster, keeper = opened(tmp_path / "s")

    def full(path, data):
        raise MissingError("the file cannot be written (No space left)", "free space")

    monkeypatch.setattr(module, "write_private", full)
    monkeypatch.setattr(keeper.directory, "write_json", full)
    for _ in range(3):
        cluster.dirty = True
        assert keeper.quiet() is not None
    lines = [line for line in cluster.nodes["sql1"].errorlog.logs[0] if "could not be saved" in line[2]]
    assert len(lines) == 1


def test_quiet_saves_only_what_changed(tmp_path):
    """Nothing changed: nothing written. Time moved: written, but not more often than once a second."""
    wall = [0.0]
    cluster = Cluster(PROFILE)
    keeper = Keeper(cluster, StateDir(tmp_path / "s"), wall=lambda: wall[0])
    keeper.open()
    assert keeper.quiet() is None
    cluster.clock.set_time(1_000_000)
    assert keeper.quiet() == pytest.approx(1.0)
    wall[0] = 1.5
    assert keeper.quiet() is None and keeper._saved_clock_us == 1_000_000


def test_other_engine_state_starts_the_machines_afresh(tmp_path):
    """State of an engine with other arrays: settings and load are kept, the machines begin anew."""
    cluster, keeper = opened(tmp_path / "s")
    cluster.plant.start_load(5)
    cluster.clock.set_time(5_000_000)
    small = freeze.small_of(cluster)
    keeper.close()
    for spoil in ({"st": [[1.0]]}, {"gone": True}):
        content = {**small, "plant": {**small["plant"], "state": {**small["plant"]["state"], **spoil}}}
        if "gone" in spoil:
            content["plant"]["state"].pop("st")
        other = Cluster(PROFILE)
        freeze.put_small(other, content)
        assert other.plant.users == 5 and other.plant.totals("sql1")["transactions"] == 0
    content = {**small, "plant": {**small["plant"], "last": [0.0]}}
    freeze.put_small(Cluster(PROFILE), content)


def test_uncommitted_rows_are_not_saved(tmp_path):
    """While a session has uncommitted changes rows are not written, and a snapshot is refused."""
    cluster, keeper = opened(tmp_path / "s")
    cluster.writers = lambda: ["session 51 on sql1"]
    before = keeper.generation
    cluster.dirty_rows = True
    assert keeper.quiet() is None and keeper.generation == before
    with pytest.raises(UsageError, match="session 51 on sql1"):
        keeper.snapshot("x")


def test_object_counters_survive(tmp_path):
    """Object ids go on from where they were: none is used twice."""
    cluster, _ = opened(tmp_path / "s")
    database = cluster.nodes["sql1"].instance.database("OLTP")
    used = [database.next_object_id() for _ in range(3)]
    again = freeze.load(freeze.dump(database))
    with contextlib.suppress(StopIteration):
        assert again.next_object_id() > max(used)
