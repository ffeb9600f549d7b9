"""Containers with a stand-in for docker: what goes wrong has a cause and a remedy, and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cli_help import run

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.core.paths import bundle_path
from aglab.live import causes, replica_network
from aglab.live.choices import Choices
from aglab.live.containers import Containers
from ports import three_ports

STAND_IN = Path(__file__).parent.parent / "docker" / "stand_in_docker.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a POSIX script")


class Stand:
    """The stand-in's folder."""

    def __init__(self, folder, port_base):
        self.folder = folder
        self.home = folder / "home"
        self.port_base = port_base

    def goes_wrong(self, **words):
        (self.folder / "wrong.json").write_text(json.dumps({key.replace("_", " "): value for key, value in words.items()}))

    def logs(self, **texts):
        self.set("logs", texts)

    def set(self, key, value):
        state = {"containers": {}, "volumes": [], "logs": {}, **self.state, key: value}
        (self.folder / "state.json").write_text(json.dumps(state))

    @property
    def state(self):
        path = self.folder / "state.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def project(self, **choices):
        return Containers(bundle_path("docker"), self.home / "docker", Choices(port_base=self.port_base, **choices))


@pytest.fixture
def stand(tmp_path, monkeypatch):
    """A docker on the path that is none."""
    script = tmp_path / "bin" / "docker"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {STAND_IN} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN", str(tmp_path))
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ACCEPT_EULA", "Y")
    for name in ("AGLAB_SQL_IMAGE", "AGLAB_PROJECT", "AGLAB_MODE", "AGLAB_CLUSTER_TYPE"):
        monkeypatch.delenv(name, raising=False)
    with three_ports() as port_base:
        yield Stand(tmp_path, port_base)


# -- what works ----------------------------------------------------------------------------------------------------------
def test_up_starts_waits_forms_and_remembers(stand):
    """Nodes first, then T-SQL's own answer, then the init service; a second up and a later command find the project."""
    seen = []
    project = stand.project(cluster_type="EXTERNAL", startup={"sql1": ("-k750",)})
    project.up(lambda done, total, label="": seen.append(label))
    order = [
        next(n for n, call in enumerate(stand.calls) if call.startswith(begin)) for begin in ("compose up", "exec", "compose run")
    ]
    assert order == sorted(order)
    assert "a step" in seen and seen[-1] == "ready"
    again = Containers.remembered(bundle_path("docker"), stand.home / "docker")
    assert again is not None
    assert again.choices == project.choices
    assert again.docker.environment["AGLAB_STARTUP_SQL1"] == "-k750"
    assert again.docker.environment["AGLAB_CLUSTER_TYPE"] == "EXTERNAL"
    again.up()
    assert not [call for call in stand.calls if call.startswith("compose down")]


def test_an_attempt_that_was_killed_is_ended_first(stand):
    """Its init service may still work: it is removed before another one begins; without one nothing is removed."""
    stand.set("attempts", ["4711", "4712"])
    stand.project().up()
    [removed] = [number for number, call in enumerate(stand.calls) if call.startswith("rm ")]
    assert stand.calls[removed] == "rm --force 4711 4712"
    assert stand.calls[removed + 1].startswith("compose run")
    stand.set("attempts", [])
    stand.project().up()
    assert len([call for call in stand.calls if call.startswith("rm ")]) == 1


def test_bare_forms_no_group(stand):
    """--bare leaves the init service out."""
    stand.project(bare=True).up()
    assert not [call for call in stand.calls if call.startswith("compose run")]


def test_restart_gives_the_node_its_options_and_waits(stand):
    """A new container with the options; they are remembered."""
    project = stand.project()
    project.up()
    project.restart("sql2", ["-k100"])
    assert "compose up --detach --no-deps --force-recreate sql2" in stand.calls
    again = Containers.remembered(bundle_path("docker"), stand.home / "docker")
    assert again is not None and again.choices.startup == {"sql2": ("-k100",)}


def test_faults_are_dockers_own_commands(stand):
    """Cut and heal on the replicas' network alone, with the node's own address; kill and pause on its container."""
    project = stand.project()
    project.up()
    replica_network.cut(project, "sql2")
    stand.set("answers", {"inspect": json.dumps({"aglab_clients": {}})})
    replica_network.heal(project, "sql2")
    stand.set("answers", {"inspect": json.dumps({"aglab_clients": {}, "aglab_ag": {}})})
    replica_network.heal(project, "sql3")  # it is on the network: nothing to do
    project.act("kill", "sql3")
    project.act("pause", "sql1")
    assert "network disconnect aglab_ag aglab-sql2-1" in stand.calls
    assert "network connect --ip 10.177.77.12 --alias sql2-ag --alias sql2 aglab_ag aglab-sql2-1" in stand.calls
    assert not [call for call in stand.calls if call.startswith("network connect") and "sql3" in call]
    assert "kill aglab-sql3-1" in stand.calls and "pause aglab-sql1-1" in stand.calls
    with pytest.raises(MissingError, match="node sql9 has no container"):
        project.act("kill", "sql9")


def test_a_distance_is_the_overlays_and_is_read_back(stand):
    """Half the round trip each way, by the services of overlays/delay.yaml, where nodes run; what they could not is told."""
    project = stand.project()
    project.up()
    stand.set("containers", {"sql1": "running", "sql2": "running", "sql3": "exited"})
    stand.logs(delay1="qdisc netem 8001: root delay 500us", delay2="delay: not possible here: Specified qdisc kind is unknown.")
    assert list(replica_network.delay(project, 1000)) == ["sql2"]
    assert "compose up --no-deps --force-recreate delay1 delay2" in stand.calls
    assert project.choices.overlays == (), "what could not be set is not kept"
    stand.logs(delay1="qdisc netem 8001: root delay 500us", delay2="qdisc netem 8001: root delay 500us")
    assert replica_network.delay(project, 2000) == {}
    again = Containers.remembered(bundle_path("docker"), stand.home / "docker")
    assert again.choices.overlays == ("delay",) and again.docker.environment["AGLAB_LIMIT_DELAY_US"] == "1000"
    stand.set("containers", {"sql3": "running"})
    again.act("start", "sql3")
    assert stand.calls[-1] == "compose up --no-deps --force-recreate delay3"


def test_a_rate_and_a_distance_share_the_one_queue(stand):
    """Where a rate is in force, the overlay that does both takes its place."""
    project = stand.project(overlays=("cpu", "rate"))
    stand.set("containers", {"sql1": "running"})
    stand.logs(network1="qdisc netem 8001: root delay 500us rate 100Mbit")
    assert replica_network.delay(project, 1000) == {}
    assert project.choices.overlays == ("cpu", "network")
    assert stand.calls[-2] == "compose up --no-deps --force-recreate network1"


def test_the_twins_image_has_the_networks_tools(stand, monkeypatch):
    """Its own image is what the delay service runs, unless another is named."""
    stand.set("labels", {"org.aglab.twin": "1"})
    project = stand.project(sql_image="aglab-twin-node")
    assert project.is_twin and project.docker.environment["AGLAB_NET_IMAGE"] == "aglab-twin-node"
    monkeypatch.setenv("AGLAB_NET_IMAGE", "own")
    assert stand.project(sql_image="aglab-twin-node").is_twin


def test_down_keeps_the_databases_unless_told(stand):
    """Volumes and password go only with delete_data."""
    project = stand.project()
    project.up()
    project.password_file.write_text("x")
    assert project.down(delete_data=False)
    assert stand.state["volumes"] and project.password_file.exists()
    assert project.down(delete_data=True)
    assert not stand.state["volumes"] and not project.password_file.exists()
    assert not project.down(delete_data=False)


# -- what does not -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("begin", "said", "kind", "cause"),
    [
        (
            "info",
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
            MissingError,
            "does not answer",
        ),
        (
            "info",
            "permission denied while trying to connect to the Docker daemon socket at unix:///x",
            MissingError,
            "may not use",
        ),
        ("compose version", "docker: 'compose' is not a docker command.", MissingError, "no Compose plugin"),
        ("compose up", "Bind for 127.0.0.1:14331 failed: port is already allocated", MissingError, "a port is taken"),
        (
            "compose up",
            "failed to create network aglab_ag: Pool overlaps with other one on this address space",
            MissingError,
            "AGLAB_SUBNET",
        ),
        ("compose up", "write /var/lib/docker/x: no space left on device", MissingError, "disk is full"),
        ("compose up", "no matching manifest for linux/arm64/v8 in the manifest list", MissingError, "ARM"),
        ("compose up", "something nobody has seen", AglabError, "something nobody has seen"),
        (
            "compose run",
            "Msg 35250, Level 16: The connection to the primary replica is not active.",
            AglabError,
            "35250",
        ),
    ],
)
def test_what_docker_says_becomes_a_cause(stand, begin, said, kind, cause):
    """Each failure of up: its cause, its remedy, and nothing left of the attempt."""
    stand.goes_wrong(**{begin: [1, said]})
    with pytest.raises(AglabError) as caught:
        stand.project().up()
    assert type(caught.value) is kind
    assert cause in str(caught.value) and caught.value.remedy
    assert not stand.state.get("containers") and not stand.state.get("volumes")


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("manifest for mcr.microsoft.com/x not found: manifest unknown", "registry does not have it"),
        ("dial tcp: lookup mcr.microsoft.com: no such host", "registry does not answer"),
        ("read tcp 10.0.0.2:51342->1.2.3.4:443: read: connection reset by peer", "registry does not answer"),
        ("unexpected EOF", "registry does not answer"),
    ],
)
def test_an_image_that_cannot_be_had(stand, said, cause):
    """Missing in the registry, no network, or a network that goes away in the middle: said apart."""
    stand.goes_wrong(image_inspect=[1, "No such image"], pull=[1, said])
    with pytest.raises(MissingError, match=cause):
        stand.project().up()
    assert not stand.state.get("containers")


@pytest.mark.parametrize(
    ("log", "kind", "cause"),
    [
        ("Login failed for user 'sa'. Reason: Password did not match", UsageError, "volume was made with another one"),
        ("sqlservr: This program requires a machine with at least 2000 megabytes of memory.", MissingError, "2000 MB"),
        ("The SQL Server End-User License Agreement (EULA) must be accepted before SQL Server can start.", UsageError, "licence"),
        ("2026-01-01 Server Error: 17113, Severity: 16, State: 1.", MissingError, "direct I/O"),
        ("sqlservr: startup option '-q' is not known", UsageError, "startup option"),
    ],
)
def test_a_node_that_ends_is_explained_by_its_own_errorlog(stand, log, kind, cause):
    """The node has exited: cause, remedy and the errorlog's own line."""
    project = stand.project()
    stand.set("containers", {"sql1": "exited", "sql2": "running", "sql3": "running"})
    stand.logs(sql1=f"2026-01-01 Server This is an informational message only.\n{log}")
    stand.goes_wrong(exec=[1, ""], compose_up=[0, ""])
    with pytest.raises(kind) as caught:
        project.wait_healthy(["sql1"])
    assert cause in str(caught.value)
    assert log[:60] in str(caught.value)
    assert "informational" not in str(caught.value)


def test_a_password_of_another_life(stand):
    """sa_password.txt does not fit the volumes: the prepare service's own words lead to the cause."""
    project = stand.project()
    stand.logs(
        prepare="prepare: sa_password.txt is not the password that these volumes were made with; SQL Server ignores a new one."
    )
    stand.goes_wrong(compose_up=[1, 'service "prepare" didn\'t complete successfully: exit 4'])
    with pytest.raises(UsageError, match="not the password that the volumes were made with"):
        project.up()


def test_a_world_that_ends_is_explained_in_its_own_words(stand):
    """The container that holds the twin's state has ended: its log is quoted."""
    stand.set("labels", {"org.aglab.twin": "1"})
    stand.logs(world="aglab twin: profile '/aglab/profiles/gone.toml' cannot be read")
    stand.goes_wrong(compose_up=[1, "dependency failed to start: container aglab-world-1 exited (2)"])
    with pytest.raises(AglabError, match=r"gone\.toml' cannot be read"):
        stand.project(sql_image="aglab-twin-node").up()


def test_a_node_that_never_answers(stand, monkeypatch):
    """After the limit the node is named, with the last lines of its errorlog."""
    monkeypatch.setattr("aglab.live.containers.HEALTHY_S_MAX", 0.0)
    stand.goes_wrong(exec=[1, ""])
    project = stand.project()
    stand.logs(sql1="Error: 9001, Severity: 21, State: 5.")
    with pytest.raises(AglabError, match=r"sql1 does not answer T-SQL after 0 s.*Error: 9001"):
        project.up()


def test_an_engine_that_goes_away_in_the_middle(stand):
    """Nothing can be taken down then; the cause told is the engine. The next attempt goes through."""
    gone = [1, "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"]
    stand.goes_wrong(compose_run=gone, compose_down=gone)
    with pytest.raises(AglabError, match=r"forming the group.*Cannot connect to the Docker daemon"):
        stand.project().up()
    assert not (stand.home / "docker" / "cluster.json").exists()
    stand.goes_wrong()
    stand.project().up()
    assert (stand.home / "docker" / "cluster.json").exists()


def test_no_docker_at_all(capsys, monkeypatch):
    """Docker is not installed: said with a way on, exit code 3."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    run(capsys, "up", "--mode", "docker").is_one_clear_line(3, "Docker is not installed", "--mode twin")


def test_the_licence_is_the_users_to_accept(stand, capsys, monkeypatch):
    """Without ACCEPT_EULA nothing starts, and nothing sets it."""
    monkeypatch.delenv("ACCEPT_EULA")
    run(capsys, "up", "--mode", "docker").is_one_clear_line(2, "licence has not been accepted", "ACCEPT_EULA=Y")
    assert not [call for call in stand.calls if call.startswith("compose up")]


def test_a_port_that_is_taken_is_named(stand):
    """Before anything starts: which port, of which node."""
    project = stand.project()
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", project.choices.port_base + 1))
        holder.listen()
        with pytest.raises(MissingError, match=rf"port {project.choices.port_base + 1} of node sql2 is taken.*--port-base"):
            project.up()
    assert not [call for call in stand.calls if call.startswith("compose up")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cluster-type", "WSFC"), "cluster type 'WSFC' is not known"),
        (("--port-base", "80"), "port_base=80 must be 1024"),
        (("--limit", "nope"), "limit 'nope' is not known"),
    ],
)
def test_wrong_choices(stand, capsys, words, said):
    """A wrong choice is refused before Docker is asked to do anything."""
    run(capsys, "up", "--mode", "docker", *words).is_one_clear_line(2, said)
    assert not [call for call in stand.calls if call.startswith("compose up")]


def test_choices_of_containers_are_no_choices_of_a_twin(capsys):
    """Without --mode docker a limit is refused, not ignored."""
    run(capsys, "up", "--limit", "memory").is_one_clear_line(2, "--limit is for containers", "--mode docker")


def test_an_old_compose(stand, monkeypatch):
    """A Compose that is too old is named with the version wanted."""
    monkeypatch.setattr("aglab.live.engine.COMPOSE_MIN", (3, 0))
    with pytest.raises(MissingError, match=r"Docker Compose 2\.40\.3 is older than 3\.0"):
        stand.project().up()


def test_docker_that_does_not_answer(stand, monkeypatch):
    """A client that hangs is ended after its limit."""
    stand.goes_wrong(ps="hang")
    project = stand.project()
    with pytest.raises(AglabError, match="no answer within"):
        project.docker.ask("ps", timeout_s=0.5)


@pytest.mark.parametrize("had_data", [False, True])
@pytest.mark.parametrize("label", ["looking at Docker", "starting the nodes", "waiting for T-SQL", "a step"])
def test_ctrl_c_leaves_nothing_behind(stand, label, had_data):
    """Interrupted at any phase: the containers go; volumes only if this attempt made them."""
    if had_data:
        stand.set("volumes", ["aglab_sql1-data"])

    def progress(done, total, text=""):
        if text.startswith(label):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stand.project().up(progress)
    assert not stand.state.get("containers")
    assert bool(stand.state.get("volumes")) is had_data
    assert not (stand.home / "docker" / "cluster.json").exists()


@pytest.mark.parametrize("phase", ["pull", "compose_up", "exec", "compose_run"])
def test_ctrl_c_in_a_terminal(stand, phase):
    """The real signal while docker works: exit code 130, one line, everything taken down."""
    stand.goes_wrong(**{phase: "hang", **({"image_inspect": [1, "No such image"]} if phase == "pull" else {})})
    words = [sys.executable, "-m", "aglab", "up", "--mode", "docker", "--port-base", str(stand.port_base)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True)
    begin = phase.replace("_", " ")
    deadline = time.monotonic() + 60
    while not any(call.startswith(begin) for call in stand.calls):
        assert time.monotonic() < deadline and process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said and "Traceback" not in said
    assert stand.calls[-1].startswith("compose down")
    assert not stand.state.get("containers")


# -- commands ------------------------------------------------------------------------------------------------------------
def test_down_asks_before_it_deletes(stand, capsys, monkeypatch):
    """Without a terminal the databases are kept; with --delete-data they go."""
    stand.project().up()
    said = run(capsys, "down", "--mode", "docker", "--json").json
    assert said == {"ended": True, "data_deleted": False}
    assert stand.state["volumes"]
    assert run(capsys, "down", "--mode", "docker", "--delete-data", "--json").json["data_deleted"]
    assert not stand.state["volumes"]


@pytest.mark.parametrize(("answer", "kept"), [("n\n", True), ("y\n", False)])
def test_down_in_a_terminal_asks(stand, capsys, monkeypatch, answer, kept):
    """The question, and both answers."""
    import io

    stand.project().up()
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    run(capsys, "down")
    assert bool(stand.state["volumes"]) is kept


def test_status_names_what_it_sees(stand, capsys):
    """Containers that run, nodes that do not answer: state without a role."""
    stand.project().up()
    (stand.home / "docker" / "sa_password.txt").write_text("Some_Password1")
    found = run(capsys, "status", "--json").json
    assert found["mode"] == "docker"
    assert [(node["name"], node["role"], node["state"]) for node in found["nodes"]] == [
        (name, None, "running healthy") for name in ("sql1", "sql2", "sql3")
    ]


def test_delete_data_is_no_word_for_a_twin(capsys, monkeypatch, tmp_path):
    """The twin's state is a folder, and the message names it."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path))
    run(capsys, "down", "--delete-data").is_one_clear_line(2, "--delete-data is for containers", "folder")


def test_a_lab_without_containers(stand):
    """A lab in mode docker says what to start."""
    from aglab.lab import cluster

    with pytest.raises(MissingError, match="no containers are up"):
        cluster("docker")


def test_a_password_file_that_is_gone(stand):
    """Named, with the command that writes it again."""
    with pytest.raises(MissingError, match=r"sa_password\.txt cannot be read"):
        stand.project().password()


def test_a_damaged_state_file_is_no_project(stand):
    """Unreadable memory is no memory."""
    folder = stand.home / "docker"
    folder.mkdir(parents=True)
    (folder / "cluster.json").write_text("{")
    assert Containers.remembered(bundle_path("docker"), folder) is None


def test_telling_lines_leave_noise_out():
    """The last lines that speak of trouble; any last lines where none does."""
    log = "a\nError: 17113, Severity: 16\nThis is an informational message only.\nlast"
    assert causes.telling_lines(log) == ["Error: 17113, Severity: 16"]
    assert causes.telling_lines("one\ntwo") == ["one", "two"]


def test_compose_defaults_and_image_pins():
    """Images are pinned in one place and no tag floats; the twin's label decides about its overlay."""
    text = (bundle_path("docker") / "compose.yaml").read_text()
    assert text.count("mcr.microsoft.com/") == 1
    assert "latest" not in text
    pins = re.findall(r"^  (\w+): &\w+_image \$\{\w+:-([\w./-]+):([\w.-]+)\}", text, flags=re.M)
    assert {name for name, _, _ in pins} == {"sql", "hammerdb", "net"}
    assert all(re.search(r"\d", tag) for _, _, tag in pins), "a tag without a version moves"
    others = [
        path for path in bundle_path("docker").rglob("*.yaml") if path.name != "compose.yaml" and "classroom" not in path.parts
    ]
    assert not [path for path in others for _, image, _ in pins if image in path.read_text()]
    assert "MSSQL_SA_PASSWORD" not in text, "the password is read from a file"


# -- doctor --------------------------------------------------------------------------------------------------------------
def doctor(home):
    from aglab.live.doctor_docker import findings

    return {one.what: one for one in findings(home)}


def test_doctor_sees_what_containers_need(stand):
    """Engine, Compose, processor, memory, disk, ports, image, limits: found, and good here."""
    found = doctor(stand.home)
    needed = [name for name, one in found.items() if one.modes == "docker"]
    assert needed == [
        "Docker Engine",
        "Docker Compose",
        "processor",
        "memory for three servers",
        "disk for databases",
        "ports",
        "image",
    ]
    assert all(found[name].ok for name in needed if name not in ("disk for databases", "ports"))
    assert "28.0" in found["Docker Engine"].found and found["Docker Compose"].found == "2.40.3"
    assert not [call for call in stand.calls if call.split()[0] in ("pull", "run") or " up" in call], "it only looks"


@pytest.mark.parametrize(
    ("info", "what", "said"),
    [
        ({"Architecture": "aarch64"}, "processor", "no image for it"),
        ({"MemTotal": 4 << 30}, "memory for three servers", "needs 8 GiB"),
        ({"KernelVersion": "5.15.0"}, "limit log_in_memory", "Linux 6.6"),
        ({"Warnings": ["WARNING: No blkio throttle.read_bps_device support"]}, "limit blkio", "fewer users"),
        ({"KernelVersion": "6.6.87.2-microsoft-standard-WSL2"}, "limit blkio", "fewer users"),
    ],
)
def test_doctor_names_what_is_missing_and_the_remedy(stand, info, what, said):
    """Each shortcoming by itself."""
    stand.set("info", info)
    found = doctor(stand.home)[what]
    assert not found.ok
    assert said in found.remedy


@pytest.mark.parametrize("begin", ["info", "compose version"])
def test_doctor_without_an_engine_or_compose(stand, begin):
    """The cause and the remedy that up would give; nothing further is asked."""
    stand.goes_wrong(**{begin: [1, "docker: 'compose' is not a docker command."]})
    last = list(doctor(stand.home).values())[-1]
    assert not last.ok and "Compose" in last.found + last.remedy


def test_doctor_names_taken_ports_and_a_missing_image(stand, monkeypatch):
    """A taken port by number; an image that is not here is said, and fetched only by up."""
    monkeypatch.setattr("aglab.live.choices.Choices.of_environment", classmethod(lambda cls: cls(port_base=base)))
    base = stand.port_base
    stand.goes_wrong(image_inspect=[1, "No such image"])
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", base + 2))
        holder.listen()
        found = doctor(stand.home)
    assert found["ports"].found == f"{base + 2} taken" and not found["ports"].ok
    assert "not here yet" in found["image"].found


def test_doctor_tells_the_twins_image_from_sql_server(stand):
    """Containers of aglab hold the ports; the image is named for what it is."""
    stand.set("labels", {"org.aglab.twin": "1"})
    stand.set("containers", {"sql1": "running"})
    found = doctor(stand.home)
    assert "not SQL Server" in found["image"].found
    assert found["ports"].found == "in use by the containers of aglab"


# -- limits --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "answers", "applied", "said"),
    [
        ("cpu", {"inspect": "2000000000 0-1|", "exec": "2"}, True, "2 processors by quota, cpuset 0-1, 2 visible"),
        ("cpu", {"inspect": "0 |", "exec": "4"}, False, "no quota"),
        ("memory", {"inspect": "2516582400", "exec": "2516582400"}, True, "2,400 MiB in the cgroup"),
        ("memory", {"inspect": "2516582400", "exec": "max"}, False, "max in the cgroup"),
        ("blkio", {"exec": "8:0 wbps=1048576"}, True, "8:0"),
        ("blkio", {"exec": ""}, False, "dropped on the way"),
        ("log_in_memory", {"exec": "tmpfs /var/opt/mssql-log tmpfs rw 0 0"}, True, "takes O_DIRECT"),
        ("log_in_memory", {"exec": ""}, False, "no tmpfs"),
        ("delay", {"logs": "delay: not possible here: this kernel has no netem"}, False, "no netem"),
        ("rate", {"logs": "qdisc tbf 8001: root rate 100Mbit"}, True, "rate 100Mbit"),
    ],
)
def test_limits_are_read_back(stand, name, answers, applied, said):
    """In force only if something says so: Docker, the cgroup, the mounts, the service's own words."""
    from aglab.live.limits import read_back

    project = stand.project(overlays=(name,))
    stand.set("containers", {"sql1": "running"})
    stand.set("answers", {key: value for key, value in answers.items() if key != "logs"})
    stand.logs(**{f"{name}1": answers.get("logs", "")})
    [limit] = read_back(project)
    assert (limit.name, limit.applied) == (name, applied)
    assert said in limit.found


def test_a_limit_that_cannot_be_looked_at(stand):
    """No container, an overlay nobody knows: not in force, with the reason."""
    from aglab.live.limits import read_back

    cpu, other = read_back(stand.project(overlays=("cpu", "own")))
    assert not cpu.applied and "not possible here" in cpu.found
    assert not other.applied and "nothing is known" in other.found


# -- the cluster of a lab ------------------------------------------------------------------------------------------------
@pytest.fixture
def quiet(stand, monkeypatch):
    """A DockerCluster whose servers nobody asks."""
    from aglab.lab.docker_cluster import DockerCluster

    class Quiet(DockerCluster):
        def _ask_who_answers(self):
            self.server, self.simulated, self.profile = "Microsoft SQL Server 2022", False, "Microsoft SQL Server 2022"

    monkeypatch.delenv("AGLAB_TIER", raising=False)
    project = stand.project()
    project.up()
    return lambda **words: Quiet(project, **words)


def test_load_is_scaled_to_the_tier(quiet, monkeypatch):
    """A laptop gets a laptop's users whatever the lab names; tier paper gets what the lab names; a wrong tier is refused."""
    plan = quiet()._plan(125)
    assert (plan.warehouses, plan.users) == (20, 8)
    assert quiet()._plan(None).users == 8 and quiet()._plan(3).users == 3
    monkeypatch.setenv("AGLAB_TIER", "paper")
    plan = quiet()._plan(125)
    assert (plan.warehouses, plan.users) == (125, 125)
    monkeypatch.setenv("AGLAB_TIER", "huge")
    with pytest.raises(UsageError, match="'huge' is not known"):
        quiet()


def test_faults_are_checked_before_docker_is_asked(quiet, stand):
    """An unknown fault, a fault without a node, arguments that nobody reads, a distance that is none."""
    cluster = quiet()
    before = len(stand.calls)
    for wrong in (
        lambda: cluster.fault("burn", node="sql1"),
        lambda: cluster.fault("cut"),
        lambda: cluster.fault("crash", node="sql1", hard=True),
        lambda: cluster.fault("cut", node="sql9"),
        lambda: cluster.fault("delay"),
        lambda: cluster.fault("delay", rtt_us="far"),
        lambda: cluster.fault("delay", rtt_us=-1),
        lambda: cluster.fault("delay", rtt_us=2e6),
        lambda: cluster.fault("delay", node="sql1", rtt_us=100),
        lambda: cluster.fault("delay", rtt_us=100, jitter=1),
        lambda: cluster.wait(-1),
        lambda: cluster.restart("sql1", "-k750"),
    ):
        with pytest.raises(UsageError):
            wrong()
    assert len(stand.calls) == before


def test_a_kernel_without_netem(quiet, stand):
    """A distance cannot be had: the recorded reason. Next door is where containers are anyway."""
    from aglab.lab import StepNotPossible

    cluster = quiet()
    refused = "delay: not possible here: Error: Specified qdisc kind is unknown."
    stand.logs(delay1=refused, delay2=refused, delay3=refused)
    with pytest.raises(StepNotPossible, match="netem"):
        cluster.fault("delay", rtt_us=1000)
    cluster.fault("delay", rtt_us=50)
    stand.logs(**{f"delay{number}": "qdisc netem 8001: root delay 500us" for number in (1, 2, 3)})
    cluster.fault("delay", rtt_us=1000)


def test_a_measurement_says_where_it_comes_from(quiet):
    """Provenance names mode, server and tier; the label is that of a measurement, and of a simulation where one answers."""
    cluster = quiet()
    assert cluster.label == "measured on Microsoft SQL Server 2022"
    assert cluster.provenance()["tier"] == "laptop"
    cluster.simulated, cluster.profile = True, "hpe-dl380-gen9-ssd"
    assert cluster.label == "SIMULATED, profile hpe-dl380-gen9-ssd"


@pytest.fixture
def twin(stand):
    """A DockerCluster of a twin's nodes that run, as a class: nobody asks them; and their project."""
    from aglab.lab.docker_cluster import DockerCluster

    class Twin(DockerCluster):
        def _ask_who_answers(self):
            self.server, self.simulated, self.profile = "aglab twin", True, Path(self._containers.choices.profile).stem

    stand.set("labels", {"org.aglab.twin": "1"})
    project = stand.project(profile="dell-r710-ps6100xv-1", sql_image="aglab-twin-node", bare=True)
    project.up()
    return Twin, project


def test_other_hardware_is_not_for_real_servers(quiet):
    """They refuse with the recorded reason."""
    from aglab.lab import StepNotPossible

    with pytest.raises(StepNotPossible, match="have the hardware they have"):
        quiet(profile="hpe-dl380-gen9-ssd")


def test_other_hardware_is_other_machines(stand, twin):
    """They have a state of their own, cleared before and after; then the first ones are back; no session of before is used."""
    twin, project = twin
    other, ended = twin(project), []
    other._open["sql1", "master"] = type("Session", (), {"close": lambda self: ended.append("closed")})()
    begin = len(stand.calls)
    with twin(project, profile="hpe-dl380-gen9-ssd") as cluster:
        assert ended == ["closed"], "sessions of the servers' earlier life are not used again"
        assert cluster.profile == "hpe-dl380-gen9-ssd"
        assert project.docker.environment["AGLAB_TWIN_PROFILE"] == "hpe-dl380-gen9-ssd"
        assert project.docker.environment["AGLAB_TWIN_STATE"] == "other-hpe-dl380-gen9-ssd"
    assert project.choices.profile == "dell-r710-ps6100xv-1" and project.docker.environment["AGLAB_TWIN_STATE"] == ""
    stop, start = "compose stop sql1 sql2 sql3 world", "compose up --detach world sql1 sql2 sql3"
    clear = "compose run --rm --no-deps --no-TTY --entrypoint /bin/rm world -rf /var/lib/aglab/other-hpe-dl380-gen9-ssd"
    told = [call for call in stand.calls[begin:] if call in (stop, start, clear)]
    assert told == [stop, clear, start, stop, start, clear]
    with twin(project, profile="dell-r710-ps6100xv-1"):  # what they have: nothing to do
        pass
    assert stand.calls.count(start) == 2


def test_other_machines_form_their_own_group(stand, twin):
    """Where the first ones have a group, the others get one."""
    twin, project = twin
    project.choose(replace(project.choices, bare=False))
    with twin(project, profile="hpe-dl380-gen9-ssd"):
        assert stand.calls[-1].startswith("compose run --rm --no-deps --no-TTY init")


def test_other_hardware_that_does_not_start(stand, twin):
    """The error is told, and the first machines are back."""
    twin, project = twin
    stand.goes_wrong(**{"compose run": [1, "no space left on device"]})
    with pytest.raises(MissingError, match="disk is full"):
        twin(project, profile="hpe-dl380-gen9-ssd")
    assert project.choices.profile == "dell-r710-ps6100xv-1" and not project.choices.twin_state
    with pytest.raises(UsageError, match="profile 'no-such' is not known"):
        twin(project, profile="no-such")


def test_a_profile_of_your_own_goes_into_the_container(stand, capsys, twin, tmp_path):
    """The file is copied to where the world finds it, under its name; the same file is no other hardware, a changed one is."""
    twin, project = twin
    project.down(delete_data=True)
    own = tmp_path / "my own laptop.toml"
    own.write_text((bundle_path("data") / "profiles" / "laptop-generic.toml").read_text())
    words = ["--bare", "--port-base", str(stand.port_base), "--profile", str(own), "--json"]
    assert run(capsys, "up", "--mode", "docker", *words).code == 0
    project = Containers.remembered(bundle_path("docker"), stand.home / "docker")
    told = project.docker.environment
    copy = Path(told["AGLAB_TWIN_PROFILES"]) / "my-own-laptop.toml"
    assert told["AGLAB_TWIN_PROFILE"] == "/aglab/profiles/my-own-laptop.toml" and copy.read_text() == own.read_text()
    assert copy.stat().st_mode & 0o044 and copy.parent.stat().st_mode & 0o005, "the world's user can read it"
    later = Containers(project.folder, project.home, Choices(profile="laptop-generic"))
    assert later.docker.environment["AGLAB_TWIN_PROFILES"], "the state that is there names the file"
    before = len(stand.calls)
    twin(project, profile=str(own)).close()
    assert not [call for call in stand.calls[before:] if call.startswith("compose stop")]
    own.write_text(own.read_text() + "\n# changed\n")
    with twin(project, profile=str(own)) as cluster:
        assert cluster.profile == "my-own-laptop"
        assert [call for call in stand.calls[before:] if call.startswith("compose stop")]
