"""``aglab up --mode docker`` and the verbs of Cluster on containers: load, restarts, faults; then the book's notebooks."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from conftest import IMAGE, PROJECT, ROOT

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
# Notebook, and the pace of the servers' clock, which multiplies what Docker's own work and a busy machine take: slow for those
# that assert seconds of an outage (13). Nodes, hardware and cluster type are those that its lab.toml names.
FORM_PACE = "240x"  # a group forms by copying a large database
NOTEBOOKS = [
    ("16_checkpoint_throttle", "240x"),
    ("08_table_partitioning", "240x"),
    ("10_build_the_group", "60x"),
    *(
        pytest.param(name, pace, marks=[pytest.mark.slow, pytest.mark.timeout(2400)])
        for name, pace in (
            ("03_workloads", "120x"),
            ("12_synchronous_commit", "20x"),
            ("13_redo_and_failover", "2x"),
            ("17_backup_options", "60x"),
            ("21_tail_of_the_log", "60x"),
        )
    ),
]
NBVAL = [
    sys.executable,
    "-m",
    "pytest",
    "--nbval-lax",
    "--nbval-cell-timeout=600",
    "--timeout=2200",
    "-p",
    "no:cacheprovider",
    "-q",
]
CONNECTED = """SELECT s.connected_state_desc FROM sys.dm_hadr_availability_replica_states AS s
JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id WHERE r.replica_server_name = N'{}'"""


def until(condition, what, most_s=60.0):
    """Wait for something observable."""
    deadline = time.monotonic() + most_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {most_s:g} s: {what}"
        time.sleep(0.1)


def half_an_attempt(engine):
    """aglab up, killed while the group forms: without a chance to tidy up, its init service still at work."""
    words = engine.words("up", "--mode", "docker", "--cluster-type", "EXTERNAL")
    process = subprocess.Popen(words, env=engine.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        at_work = ["ps", "--quiet", "--filter", f"name={PROJECT}-init-run"]
        until(lambda: engine.docker(*at_work).stdout.strip() or process.poll() is not None, "the group forms", 240.0)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def up(engine):
    """aglab up, CLUSTER_TYPE EXTERNAL, after an attempt that was cut short; aglab down at the end leaves nothing."""
    half_an_attempt(engine)
    said = engine.aglab("up", "--mode", "docker", "--cluster-type", "EXTERNAL", "--json")
    yield json.loads(said.stdout)
    assert json.loads(engine.aglab("down", "--mode", "docker", "--delete-data", "--json").stdout)["data_deleted"]
    assert engine.left() == []


@pytest.fixture
def cluster(engine, up, monkeypatch):
    """A DockerCluster in this process."""
    for name in ("AGLAB_HOME", "AGLAB_TIER", "ACCEPT_EULA", "AGLAB_PROJECT"):
        monkeypatch.setenv(name, engine.environment[name])
    from aglab.lab import cluster as open_cluster

    with open_cluster("docker") as made:
        yield made


def connected(cluster, node):
    return cluster.sql(CONNECTED.format(node), "sql1").value == "CONNECTED"


def test_up_says_where_the_nodes_are(engine, up):
    """Roles, ports, connection strings; status says the same; a second up changes nothing."""
    assert [(node["name"], node["role"]) for node in up["nodes"]] == [
        ("sql1", "PRIMARY"),
        ("sql2", "SECONDARY"),
        ("sql3", "SECONDARY"),
    ]
    assert engine.status()["nodes"] == up["nodes"]
    again = engine.aglab("up", "--mode", "docker", "--cluster-type", "EXTERNAL", "--json")
    assert json.loads(again.stdout)["nodes"] == up["nodes"]


def test_what_a_twin_in_containers_is_called(cluster):
    """SIMULATED, in label and version."""
    assert cluster.label.startswith("SIMULATED, profile ")
    assert "aglab twin" in cluster.server


def test_load_is_hammerdbs_and_is_sampled(cluster):
    """Users work through the hammerdb service; the counters of two nodes come back as a Run; then the users are gone."""
    run = cluster.run_load(20, users=20, nodes=["sql1", "sql2"])
    assert run.series("Transactions/sec", "sql1").mean() > 0
    assert run.series("Log Bytes Received/sec", "sql2").mean() > 0
    assert run.label.startswith("SIMULATED")
    count = """SELECT cntr_value FROM sys.dm_os_performance_counters
        WHERE counter_name = N'Transactions/sec' AND instance_name = N'OLTP'"""
    before = cluster.sql(count, "sql1").value
    cluster.wait(10)
    assert cluster.sql(count, "sql1").value - before < 100


def test_restart_with_startup_options(cluster):
    """The option is in force and read back; the node is a secondary again; an unknown one is refused in the node's words."""
    from aglab.core.errors import AglabError

    cluster.restart("sql3", ["-T1222"])
    assert not cluster.sql("DBCC TRACESTATUS(1222) WITH NO_INFOMSGS", "sql3").table.empty
    with pytest.raises(AglabError, match=r"sql3.*startup option '-q' is not known"):
        cluster.restart("sql3", ["-q"])
    cluster.restart("sql3")
    until(lambda: connected(cluster, "sql3"), "sql3 is connected")


def test_docker_kill_is_a_crash(cluster):
    """The primary loses the replica, commits go on, the node catches up when it is started."""
    cluster.sql("IF OBJECT_ID('OLTP.dbo.round') IS NULL CREATE TABLE OLTP.dbo.round (id int NOT NULL PRIMARY KEY)", "sql1")
    cluster.fault("crash", node="sql2")
    until(lambda: not connected(cluster, "sql2"), "sql2 is disconnected")
    cluster.sql("INSERT OLTP.dbo.round VALUES (1)", "sql1")
    cluster.fault("start", node="sql2")
    until(lambda: connected(cluster, "sql2"), "sql2 is back")
    until(lambda: cluster.sql("SELECT COUNT(*) FROM OLTP.dbo.round", "sql2").value == 1, "sql2 has the row")


def test_network_disconnect_is_a_cut(cluster):
    """Cut off on the replicas' network, the node still answers its clients, stale; healed, it catches up."""
    cluster.fault("cut", node="sql3")
    until(lambda: not connected(cluster, "sql3"), "the session of sql3 has timed out")
    before = cluster.sql("SELECT COUNT(*) FROM OLTP.dbo.round", "sql3").value
    cluster.sql("INSERT OLTP.dbo.round VALUES (2)", "sql1")
    assert cluster.sql("SELECT COUNT(*) FROM OLTP.dbo.round", "sql3").value == before
    cluster.fault("heal", node="sql3")
    until(lambda: connected(cluster, "sql3"), "sql3 is back")
    until(lambda: cluster.sql("SELECT COUNT(*) FROM OLTP.dbo.round", "sql3").value == before + 1, "sql3 has caught up")


def test_a_frozen_node_is_missed_like_one_that_is_cut(cluster):
    """docker pause: the session times out; after unpause it stands again."""
    cluster.fault("freeze", node="sql2")
    until(lambda: not connected(cluster, "sql2"), "the session of sql2 has timed out")
    cluster.fault("thaw", node="sql2")
    until(lambda: connected(cluster, "sql2"), "sql2 is back")


@pytest.mark.slow
def test_external_after_docker_restart(engine, cluster):
    """Every node restarted, no cluster manager: a replica that is synchronized is asked to take the role; rows stay."""
    cluster.sql("IF OBJECT_ID('OLTP.dbo.kept') IS NULL CREATE TABLE OLTP.dbo.kept (id int NOT NULL PRIMARY KEY)", "sql1")
    until(lambda: cluster.sql("SELECT COUNT(*) FROM OLTP.sys.tables WHERE name = N'kept'", "sql3").value == 1, "sql3 has it")
    cluster._forget()
    engine.docker("restart", *(engine.container(node) for node in ("sql1", "sql2", "sql3")))
    engine.aglab("up", "--mode", "docker", "--cluster-type", "EXTERNAL")
    assert sorted(node["role"] for node in engine.status()["nodes"]) == ["PRIMARY", "SECONDARY", "SECONDARY"]
    primary = cluster._primary()
    for node in ("sql1", "sql2", "sql3"):
        assert cluster.sql("SELECT COUNT(*) FROM OLTP.sys.tables WHERE name = N'kept'", node).value == 1
    if primary != "sql1":  # the other tests speak to sql1
        cluster.sql("EXEC sp_set_session_context N'external_cluster', N'yes'; ALTER AVAILABILITY GROUP ag1 FAILOVER;", "sql1")


@pytest.mark.slow
def test_distance_between_the_replicas(cluster):
    """The overlay's own services set it, and commits take the longer; near again, they do not."""

    def commit_ms():
        run = cluster.run_load(20, users=20)
        return run.series("Transaction Delay", "sql1").mean() / run.series("Mirrored Write Transactions/sec", "sql1").mean()

    cluster.fault("delay", rtt_us=20_000)
    far = commit_ms()
    cluster.fault("delay", rtt_us=50)
    assert far > 20 > commit_ms()


def test_what_containers_cannot_do(cluster):
    """A recorded reason, not a silence."""
    from aglab.lab import StepNotPossible

    for step in (
        lambda: cluster.time("60x"),
        lambda: cluster.snapshot("x"),
        lambda: cluster.restore("x"),
    ):
        with pytest.raises(StepNotPossible, match="is not possible in mode docker"):
            step()


def test_limits_are_in_force_or_named(engine):
    """A limit that this machine can keep is read back; one that it cannot is reported with the kernel's own words."""
    words = ["up", "--mode", "docker", "--bare", "--json"]
    names = ("cpu", "memory", "network", "log_in_memory")  # delay and rate are one queue: network has both
    try:
        said = engine.aglab(*words, *(part for name in names for part in ("--limit", name)), AGLAB_NET_IMAGE=IMAGE)
        limits = {one["name"]: one for one in json.loads(said.stdout)["limits"]}
    finally:
        engine.aglab("down", "--mode", "docker", "--delete-data")
    assert all(limits[name]["applied"] for name in ("cpu", "memory"))
    assert "cgroup" in limits["memory"]["found"]
    for name in names:
        assert limits[name]["applied"] or "not possible here" in limits[name]["found"]
    assert engine.left() == []


@pytest.mark.slow
def test_a_profile_is_laid_as_limits(engine):
    """Each value of the profile is given, scaled or named; what was given is in force or says why not; startup options too."""
    words = ["up", "--mode", "docker", "--bare", "--json", "--startup=-k100", "--startup=-T834"]
    try:
        said = engine.aglab(*words, "--profile", "laptop-generic", "--limit", "profile", AGLAB_NET_IMAGE=IMAGE)
        found = json.loads(said.stdout)
    finally:
        engine.aglab("down", "--mode", "docker", "--delete-data")
    hows = {part["name"]: part["how"] for part in found["profile_limits"]}
    assert hows["cpu"] in ("as asked", "scaled") and hows["latency"] == "not possible here"
    limits = {one["name"]: one for one in found["limits"]}
    assert {name for name, how in hows.items() if how != "not possible here"} == set(limits)
    assert all(limits[name]["applied"] for name in ("cpu", "memory"))
    for one in limits.values():
        assert one["applied"] or "not possible here" in one["found"] or "dropped on the way" in one["found"]
    assert [one["taken"] for one in found["startup"]] == [True] * 6
    assert engine.left() == []


def wanted_by(name):
    """What ``aglab up`` is told for a notebook: what its lab's lab.toml says of the servers."""
    from aglab.lab.labs import describe

    cluster = describe(name.replace("_", "-"))["cluster"]
    words = ["--bare"] if cluster.get("bare") else []
    words += ["--cluster-type", cluster["cluster_type"]] if "cluster_type" in cluster else []
    return [*words, *(["--profile", cluster["profile"]] if "profile" in cluster else [])]


@pytest.mark.parametrize(("name", "pace"), NOTEBOOKS)
def test_notebook(engine, name, pace):
    """The notebook as it stands, its assertions on the containers; started and removed for it alone."""
    wanted = wanted_by(name)
    bare = "--bare" in wanted
    engine.aglab("up", "--mode", "docker", *wanted, AGLAB_TWIN_PACE=pace if bare else FORM_PACE)
    try:
        if not bare:
            engine.aglab("sql", "sql1", f"EXEC twin.set_pace '{pace}'")
        done = subprocess.run(
            [*NBVAL, str(ROOT / "notebooks" / f"{name}.ipynb")],
            env={**engine.environment, "AGLAB_MODE": "docker"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=2300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:]
    finally:
        engine.aglab("down", "--mode", "docker", "--delete-data")
    assert engine.left() == []
    assert IMAGE in engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").stdout
