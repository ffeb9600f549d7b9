"""Node containers without containers: front ends and a world in this process, joined by sockets in a folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from aglab.core.errors import UsageError
from aglab.lab.driver import Connection
from aglab.twin import container_node, container_world
from aglab.twin.container_node import FrontEnd
from aglab.twin.container_world import ContainerWorld, open_socket
from aglab.twin.service import Twin

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="node containers run Linux")
NAMES = ("sql1", "sql2", "sql3")
WAIT_S_MAX = 120.0


def until(condition, what):
    """Wait for something observable."""
    deadline = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < deadline, f"not within {WAIT_S_MAX:g} s: {what}"
        time.sleep(0.02)


class Container:
    """A front end in a thread: what a node container runs."""

    def __init__(self, folder, name, peers=(), options=(), own=""):
        self.name = name
        self.code = None
        self.loop = asyncio.new_event_loop()
        self.network = str(folder / f"{name}.network")
        places = {"logs": folder / name, "address": "127.0.0.1", "ports": (0, 0), "network": self.network, "own": own}
        self.front = FrontEnd(name, folder, dict(peers), options, **places)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        self.job = self.loop.create_task(self.front.run())
        try:
            self.code = self.loop.run_until_complete(self.job)
        except asyncio.CancelledError:
            self.code = -9

    @property
    def ready(self):
        return self.front.ports[0] != 0

    def kill(self):
        """As docker kill does: no farewell."""
        self.loop.call_soon_threadsafe(self.job.cancel)
        self.thread.join(WAIT_S_MAX)

    def stop(self):
        """As docker stop does."""
        self.loop.call_soon_threadsafe(self.front.stopping.set)
        self.thread.join(WAIT_S_MAX)

    def connect(self, password):
        return Connection("127.0.0.1", self.front.ports[0], "sa", password)

    @property
    def errorlog(self):
        return (self.front.logs / "errorlog").read_text()


@pytest.fixture
def world(tmp_path):
    """A world at sixty times the wall's pace, with the availability group; its containers end with the test."""
    twin = Twin.start(state_dir=tmp_path / "state", pace="60x", listen=open_socket(tmp_path))
    joined = ContainerWorld(twin, tmp_path)
    joined.open()
    joined.twin, joined.containers = twin, {}

    def add(name, peers=(), options=()):
        made = joined.containers[name] = Container(tmp_path, name, peers, options)
        until(lambda: made.ready or made.code is not None, f"{name} serves")
        return made

    joined.add = add
    yield joined
    for one in joined.containers.values():
        if one.thread.is_alive():
            one.stop()
    twin.stop()


def connected(world, name):
    return world.cluster.world.ask(lambda: world.cluster.group.linked(name))


def probe(node, peer, host):
    """Look for a peer somewhere from now on, instead of where the front end looked before."""
    front = node.front

    def replace():
        for task in [one for one in front._tasks if one.get_name() == peer]:
            task.cancel()
        task = asyncio.ensure_future(front._probe(peer, host))
        task.set_name(peer)
        front._tasks.add(task)
        front.reached[peer] = True

    node.loop.call_soon_threadsafe(replace)


def test_clients_come_in_through_the_container(world):
    """TDS through the front end: login, T-SQL, the node's name; the errorlog is the container's."""
    node = world.add("sql2")
    with node.connect(world.twin.password()) as connection:
        assert connection.run("SELECT @@SERVERNAME").value == "sql2"
    assert "Starting up database 'master'" in node.errorlog
    assert "SIMULATED" in node.errorlog


def test_a_profile_of_ones_own_is_named_without_its_path(tmp_path):
    """The errorlog says the file's name, and a cluster that reads it says SIMULATED; the path stays private."""
    from aglab.core.paths import bundle_path
    from aglab.lab.docker_cluster import _SIMULATED

    own = tmp_path / "my own laptop.toml"
    own.write_bytes(bundle_path("data", "profiles", "laptop-generic.toml").read_bytes())
    twin = Twin.start(profile=str(own), state_dir=tmp_path / "state", bare=True)
    try:
        lines = [text for _, _, text in twin.cluster.nodes["sql1"].errorlog.logs[0]]
    finally:
        twin.stop()
    [named] = [found.group(1) for text in lines if (found := _SIMULATED.search(text))]
    assert named == "my own laptop"


def test_a_container_that_is_killed_is_a_node_that_crashed(world):
    """The node goes with its container and comes back with the next one; a second start begins a new errorlog."""
    for name in NAMES:
        world.add(name)
    until(lambda: all(connected(world, name) for name in NAMES[1:]), "every replica connected")
    world.containers["sql2"].kill()
    until(lambda: not connected(world, "sql2"), "the session of sql2 has ended")
    assert not world.cluster.nodes["sql2"].accepting
    back = world.add("sql2")
    until(lambda: connected(world, "sql2"), "sql2 is back")
    assert "Starting up database" in back.errorlog
    assert (back.front.logs / "errorlog.1").exists()


def test_a_container_that_is_stopped_says_good_bye(world):
    """docker stop ends the service: exit code 0, and the errorlog of the node says so."""
    node = world.add("sql3")
    node.stop()
    assert node.code == 0
    until(lambda: not world.cluster.nodes["sql3"].accepting, "sql3 is down")
    lines = [text for _, _, text in world.cluster.nodes["sql3"].errorlog.logs[0]]
    assert any("because of a system shutdown" in text for text in lines)


def test_a_node_out_of_reach_is_cut_and_comes_back(world, monkeypatch):
    """What the containers cannot reach on the replication port, the replicas cannot either; then they can again."""
    monkeypatch.setattr(container_world, "GRACE_S", 0.0)
    world.add("sql1")
    world.add("sql2")
    first, second = world.containers["sql1"], world.containers["sql2"]
    until(lambda: connected(world, "sql2"), "sql2 is connected")
    probe(first, "sql2", "127.0.0.1:1")  # nobody listens there
    until(lambda: ("sql1", "sql2") in world.cut, "the link is cut")
    until(lambda: not connected(world, "sql2"), "the session has timed out")
    probe(first, "sql2", f"127.0.0.1:{second.front.ports[1]}")
    until(lambda: not world.cut and connected(world, "sql2"), "the link is joined")


def test_a_node_that_starts_again_is_not_cut_by_what_was_said_of_its_earlier_life(world, monkeypatch):
    """Joined at its start, before the others have found it; to a node that is off the network it stays cut."""
    monkeypatch.setattr(container_world, "GRACE_S", 0.0)
    for name in NAMES:
        world.add(name)
    for peer in ("sql2", "sql3"):
        probe(world.containers["sql1"], peer, "127.0.0.1:1")
    until(lambda: world.cut == {("sql1", "sql2"), ("sql1", "sql3")}, "sql1 is cut off")
    world.containers["sql1"].kill()
    until(lambda: "sql1" not in world.reached, "sql1 has ended")
    monkeypatch.setattr(container_world, "GRACE_S", 1e9)  # nobody is listened to any more
    world.containers["sql3"].front.attached = False
    until(lambda: "sql3" in world.off, "sql3 says that it is off the network")
    world.add("sql1")
    assert world.cut == {("sql1", "sql3")}


def test_a_node_that_has_its_address_again_is_joined_at_once(world, monkeypatch):
    """Before any sign of life was seen; a node that others miss, a frozen one, is not."""
    monkeypatch.setattr(container_world, "GRACE_S", 1e9)

    def heard(name, links, attached):
        world.cluster.world.ask(lambda: world._heard(name, links, attached))

    world.cut.update({("sql1", "sql2"), ("sql2", "sql3")})
    heard("sql1", {"sql2": False, "sql3": False}, True)
    heard("sql2", {"sql1": False, "sql3": False}, False)
    assert world.off == {"sql2"}
    heard("sql2", {"sql1": False, "sql3": False}, True)
    assert world.cut == {("sql2", "sql3")} and not world.off, "sql1 misses sql3, which may be frozen"


def tell_network(node, said):
    """What the stand-in for tc does: a line to the node, the delay in force back."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(WAIT_S_MAX)
        line.connect(node.network)
        line.sendall((json.dumps(said) + "\n").encode())
        return json.loads(line.makefile().readline())["delay_us"]


def test_a_delayed_interface_is_a_longer_round_trip(world):
    """What leaves two nodes late adds up; none told is the hardware's own network again; a delay ends with its container."""
    nodes = [world.add(name) for name in NAMES]
    hardware = world.cluster.plant.scenario.profile.network.rtt_us

    def rtt_us():
        return world.cluster.world.ask(lambda: world.cluster.plant.scenario.profile.network.rtt_us)

    assert tell_network(nodes[0], {}) is None
    assert [tell_network(node, {"delay_us": 500}) for node in nodes] == [500, 500, 500]
    assert rtt_us() == 1000 and tell_network(nodes[1], {}) == 500
    assert tell_network(nodes[2], {"delay_us": 4000}) == 4000
    assert rtt_us() == 4500
    nodes[2].kill()
    until(lambda: rtt_us() == 1000, "the delay of sql3 went with it")
    for node in nodes[:2]:
        assert tell_network(node, {"delay_us": None}) is None
    assert rtt_us() == hardware


def test_a_node_that_lost_its_own_address_is_cut_at_once(world, monkeypatch):
    """docker network disconnect takes the address away: told without waiting for signs of life; given back, it is joined."""
    monkeypatch.setattr(container_world, "GRACE_S", 0.0)
    kept = world.folder / "address-is-gone"

    class Socket(socket.socket):
        def bind(self, where):
            if self.type == socket.SOCK_DGRAM and kept.exists():
                raise OSError("Cannot assign requested address")
            super().bind(where)

    monkeypatch.setattr(container_node.socket, "socket", Socket)
    first = world.add("sql1")
    peers = {"sql1": f"127.0.0.1:{first.front.ports[1]}"}  # its signs of life are answered all the time
    second = world.containers["sql2"] = Container(world.folder, "sql2", peers, own="127.0.0.1")
    until(lambda: second.ready and connected(world, "sql2"), "sql2 is connected")
    kept.touch()
    until(lambda: ("sql1", "sql2") in world.cut, "the link is cut")
    assert second.front.reached == {"sql1": True} and not second.front.attached
    kept.unlink()
    until(lambda: not world.cut and connected(world, "sql2"), "the link is joined")


def test_startup_options_reach_the_node(world):
    """Options of the command line are in the errorlog and in force."""
    node = world.add("sql1", options=["-k750", "-T1222"])
    assert "-k750" in node.errorlog
    with node.connect(world.twin.password()) as connection:
        assert not connection.run("DBCC TRACESTATUS(1222) WITH NO_INFOMSGS").table.empty


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [("sql1", ["-q"], "startup option '-q' is not known"), ("sql9", [], "node 'sql9' is not known")],
)
def test_a_node_that_may_not_start_says_why(world, capsys, name, options, said):
    """An unknown option, an unknown name: exit code 1 and the reason on standard error."""
    assert world.add(name, options=options).code == 1
    assert said in capsys.readouterr().err


def test_one_container_for_each_node(world, capsys):
    """A second container of the same name is refused; the first goes on."""
    first = world.add("sql1")
    assert Container(world.folder, "sql1").thread.join(WAIT_S_MAX) is None
    assert "already has a container" in capsys.readouterr().err
    with first.connect(world.twin.password()) as connection:
        assert connection.run("SELECT 1").value == 1


def test_without_a_world_the_container_ends(tmp_path, capsys):
    """No world: a clear line, exit code 1."""
    made = Container(tmp_path, "sql1")
    made.thread.join(WAIT_S_MAX)
    assert made.code == 1
    assert "the world container does not answer" in capsys.readouterr().err


def test_the_world_ends_and_takes_its_nodes_along(world, capsys):
    """When the world stops, a front end ends with exit code 1."""
    node = world.add("sql1")
    world.twin.stop()
    node.thread.join(WAIT_S_MAX)
    assert node.code == 1
    assert "has ended" in capsys.readouterr().err


GOOD = {"ACCEPT_EULA": "Y", "MSSQL_SA_PASSWORD": "Good_Enough1"}


@pytest.mark.parametrize(
    ("change", "memory", "said"),
    [
        ({}, "max", None),
        ({}, "2147483648", None),
        ({"ACCEPT_EULA": ""}, "max", "ACCEPT_EULA is not set"),
        ({"MSSQL_SA_PASSWORD": "short"}, "max", "5 characters of 1 kinds"),
        ({"MSSQL_SA_PASSWORD": "onlysmallletters"}, "max", "of 1 kinds"),
        ({}, "1000000000", "1000 MB of memory"),
    ],
)
def test_what_sql_server_refuses_at_the_start(tmp_path, change, memory, said):
    """Licence, password policy and memory are looked at before anything else."""
    limit = tmp_path / "memory.max"
    limit.write_text(memory + "\n")
    answer = container_node.refusal({**GOOD, **change}, [limit])
    assert (answer is None) if said is None else said in answer


def test_sqlservr_refuses_with_exit_code_one(monkeypatch, capsys):
    """The program of the image says its reason and ends."""
    monkeypatch.setenv("ACCEPT_EULA", "")
    assert container_node.serve([]) == 1
    assert "ACCEPT_EULA" in capsys.readouterr().err


def test_the_password_of_the_first_start_stays(tmp_path):
    """A new password does not reach a state that exists, as with a volume of SQL Server's."""
    given = tmp_path / "sa_password"
    given.write_text("First_Password1\n")
    container_world._keep_password(tmp_path / "state", given)
    given.write_text("Other_Password2\n")
    container_world._keep_password(tmp_path / "state", given)
    kept = tmp_path / "state" / "sa_password.txt"
    assert kept.read_text().strip() == "First_Password1"
    assert kept.stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="cannot be read"):
        container_world._keep_password(tmp_path / "other", tmp_path / "nothing")


def test_the_world_as_a_process(tmp_path):
    """It opens its sockets, ends on SIGTERM with exit code 0 and leaves no control socket; a wrong profile is refused."""
    words = [sys.executable, "-m", "aglab.twin.container_world", "--state-dir", str(tmp_path / "s"), "--sockets", str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ})
    try:
        assert "SIMULATED" in process.stdout.readline()
        assert (tmp_path / "control.sock").is_socket()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=WAIT_S_MAX) == 0
        assert not (tmp_path / "control.sock").exists()
    finally:
        process.kill()
        process.stdout.close()
    wrong = subprocess.run([*words, "--profile", "nope"], capture_output=True, text=True, timeout=60, check=False)
    assert wrong.returncode == 2
    assert "profile 'nope' is not known" in wrong.stderr
