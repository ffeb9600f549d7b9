"""Mode remote by its other ways: keyring, strict encryption, a load by HammerDB; a lab that fails or is interrupted halfway."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from test_remote_mode import DOP, RECOVERY, VARIABLE, file, twin, written  # noqa: F401 - fixtures

from aglab.cli.app import main
from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.lab.remote_cluster import RemoteCluster
from aglab.lab.remote_probe import Look, labs_for
from aglab.live.servers import load_servers

HAMMERDB = Path(__file__).parents[2] / "docker" / "node" / "hammerdbcli"


class KeyringError(Exception):
    """As keyring.errors has it."""


@pytest.fixture
def keyring(monkeypatch):
    """A keyring in memory, under the package's name: the package is an extra."""
    kept = {}

    def get_password(entry, user):
        if "locked" in kept:
            raise KeyringError("the collection is locked")
        return kept.get((entry, user))

    monkeypatch.setitem(sys.modules, "keyring", types.SimpleNamespace(get_password=get_password))
    monkeypatch.setitem(sys.modules, "keyring.errors", types.SimpleNamespace(KeyringError=KeyringError))
    return kept


def changed(path, old, new):
    path.write_text(path.read_text().replace(old, new))
    return path


def test_a_password_of_the_keyring(twin, tmp_path, keyring):  # noqa: F811
    """Asked for by entry and user; an entry that is not there, and a keyring that does not answer, have their remedy."""
    path = changed(written(tmp_path, twin), f'password_env = "{VARIABLE}"', 'keyring = "class"')
    with pytest.raises(MissingError, match="keyring set class sa"):
        RemoteCluster.opened(path)
    keyring["class", "sa"] = twin._password()
    with RemoteCluster.opened(path) as remote:
        assert remote.sql("SELECT 41 + 1").value == 42
        assert twin._password() not in repr(remote.file)
    keyring["locked"] = True
    with pytest.raises(MissingError, match=r"does not answer \(the collection is locked\).*password_env"):
        RemoteCluster.opened(path)


def test_without_the_package_keyring(twin, tmp_path, monkeypatch):  # noqa: F811
    """The extra that is missing is named."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    path = changed(written(tmp_path, twin), f'password_env = "{VARIABLE}"', 'keyring = "class"')
    with pytest.raises(MissingError, match="pip install keyring"):
        RemoteCluster.opened(path)


def test_strict_encryption_checks_the_certificate(twin, tmp_path, file):  # noqa: F811
    """TDS 8.0 with the server's own certificate pinned; another certificate lets nobody in."""
    certificate = next(Path(twin._twin.state_dir).glob("node_certificate.pem"))
    strict = f'encrypt = "strict"\ncertificate = "{certificate}"'
    path = changed(written(tmp_path, twin), "trust_certificate = true", strict)
    with RemoteCluster.opened(path) as remote:
        query = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
        assert remote.sql(query).value == "TRUE"
        remote.allowed = frozenset(["load"])
        remote.file.hammerdb.update(home="/nowhere")
        twin.sql("IF OBJECT_ID(N'dbo.warehouse') IS NULL CREATE TABLE dbo.warehouse (w_id int)", database="OLTP")
        with pytest.raises(AglabError, match="HammerDB cannot do"):
            remote.start_load()
    other = tmp_path / "other.pem"
    subprocess.run(
        [sys.executable, "-c", "import sys; from aglab.tds.certificate import self_signed_certificate as made; "
         "sys.stdout.buffer.write(made(['127.0.0.1']).certificate_pem)"],
        stdout=other.open("wb"), check=True,
    )  # fmt: skip
    with pytest.raises(MissingError, match="check encrypt"):
        RemoteCluster.opened(changed(path, str(certificate), str(other)))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('encrypt = "strict"\ntrust_certificate = true', "always checks"),
        ('certificate = "c.pem"', 'is for encrypt = "strict"'),
        ('encrypt = "strict"\ncertificate = "no-such.pem"', "does not exist"),
        ('encrypt = "strict"\ncertificate = "a;b"', "must not be empty or hold"),
    ],
)
def test_certificates_that_are_wrong(tmp_path, lines, said):
    """A file that says two things, or names what is not there."""
    path = tmp_path / "s.toml"
    path.write_text(f'{lines}\n[[server]]\nname = "a"\nserver = "h"\nuser = "u"\npassword_env = "X"\n')
    with pytest.raises(UsageError, match=said):
        load_servers(path)


@pytest.mark.skipif(sys.platform != "linux", reason="HammerDB's shell is Linux's")
def test_hammerdb_loads_servers_of_ones_own(twin, tmp_path, file):  # noqa: F811
    """Where it is allowed and the schema is there: users of HammerDB on the primary, counted by the server; then gone."""
    home = tmp_path / "hammerdb"
    home.mkdir()
    shutil.copy(HAMMERDB, home / "stand_in")
    (home / "hammerdbcli").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{home}/stand_in" "$@"\n')
    (home / "hammerdbcli").chmod(0o755)
    twin.sql("IF OBJECT_ID(N'dbo.warehouse') IS NULL CREATE TABLE dbo.warehouse (w_id int)", database="OLTP")
    path = written(tmp_path, twin, f'allow = ["load"]\n[hammerdb]\nhome = "{home}"\nusers = 4\n')
    twin.time("1x")  # HammerDB works by the wall's clock
    try:
        with RemoteCluster.opened(path) as remote:
            run = remote.run_load(5, sample_s=1, warm_up_s=1)
    finally:
        twin.time("fast")
    rate = next(run.counters[column].mean() for column in run.counters if column[1].endswith("Transactions/sec"))
    assert rate > 100 and run.provenance["mode"] == "remote"
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob(f"aglab-hammerdb-*/{home.name}"))
    before = twin.sql("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE status = N'running'").value
    assert before <= 2, "the load has not gone"


# -- undo ----------------------------------------------------------------------------------------------------------------
LAB = """
import sys
from aglab.lab.remote_cluster import RemoteCluster
with RemoteCluster.opened(sys.argv[1], ["database-options", "server-options"]) as cluster:
    cluster.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 7 SECONDS;")
    cluster.sql("EXEC sp_configure N'show advanced options', 1; RECONFIGURE;")
    cluster.sql("EXEC sp_configure N'max degree of parallelism', 5; RECONFIGURE;")
    print("changed", flush=True)
    sys.stdin.readline()
    raise RuntimeError("the lab fails here")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["fails", "Ctrl-C", "terminated", "killed"])
def test_a_lab_that_ends_halfway_leaves_the_servers_as_they_were(twin, file, tmp_path, how, capsys, monkeypatch):  # noqa: F811
    """An error, Ctrl-C and a friendly end write everything back; after a kill the T-SQL that does it lies in a file."""
    before = (twin.sql(RECOVERY).value, twin.sql(DOP).value)
    home = tmp_path / "home"
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "AGLAB_HOME": str(home)}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert lab.stdout.readline() == "changed\n"
    assert (twin.sql(RECOVERY).value, twin.sql(DOP).value) == (7, 5)
    if how == "fails":
        lab.communicate("go on\n", timeout=60)
    else:
        lab.send_signal({"Ctrl-C": signal.SIGINT, "terminated": signal.SIGTERM, "killed": signal.SIGKILL}[how])
        lab.wait(60)
    left = list((home / "remote").glob("undo-*.sql"))
    if how == "killed":
        [text] = [one.read_text() for one in left]
        monkeypatch.setenv("AGLAB_HOME", str(home))
        assert main(["status", "--mode", "remote", "--servers", str(file), "--json"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["left_over"] == [str(left[0])] and "by hand" in said.err
        assert "max degree of parallelism" in text and "TARGET_RECOVERY_TIME" in text
        for batch in text.split("\nGO"):
            twin.sql(batch) if batch.strip() else None
    else:
        assert not left
    assert (twin.sql(RECOVERY).value, twin.sql(DOP).value) == before


def test_what_a_login_may_do_decides_about_labs(twin, file):  # noqa: F811
    """With fewer permissions fewer experiments, each with the permission that is missing."""
    with RemoteCluster.opened(file) as remote:
        looks = remote.looks()
    allowed = frozenset(
        ["load", "database-options", "availability-group", "maintenance", "data", "backup", "other", "trace-flags"]
    )
    full = {lab["lab"]: lab for lab in labs_for(looks, "OLTP", allowed, load=True)}
    for one in looks:
        one.permissions = dict.fromkeys(one.permissions, False)
    few = {lab["lab"]: lab for lab in labs_for(looks, "OLTP", allowed, load=True)}
    assert not any(lab["experiment"] for lab in few.values())
    assert all("VIEW SERVER STATE is missing on sql1, sql2, sql3" in lab["reasons"] for lab in few.values())
    blind = Look("x", "v", "16", "e", "l", {"VIEW SERVER STATE": None, "VIEW SERVER PERFORMANCE STATE": True})
    assert blind.sampling and sum(len(lab["reasons"]) for lab in full.values()) < sum(len(lab["reasons"]) for lab in few.values())


@pytest.mark.parametrize("may_see", [False, True])
def test_a_login_that_may_do_little(twin, file, monkeypatch, may_see):  # noqa: F811
    """By the server's own permissions: each step that it could not run is named with the reason, before anybody tries."""
    name, secret = ("viewer" if may_see else "stranger"), "Poor_login_1!"
    for node in twin.nodes:
        twin.sql(f"CREATE LOGIN [{name}] WITH PASSWORD = '{secret}'", node.name)
        if may_see:
            twin.sql(f"GRANT VIEW SERVER STATE TO [{name}]", node.name)
    if may_see:
        twin.sql(f"USE OLTP; CREATE USER [{name}] FOR LOGIN [{name}]")
    monkeypatch.setenv("AGLAB_TEST_POOR_PASSWORD", secret)
    with RemoteCluster.opened(changed(changed(file, '"sa"', f'"{name}"'), VARIABLE, "AGLAB_TEST_POOR_PASSWORD")) as remote:
        looks = remote.looks()
        labs = {lab["lab"]: lab for lab in labs_for(looks, "OLTP", frozenset(), load=False)}
        if may_see:
            assert len(labs["12-synchronous-commit"]["steps"]) == 5
            assert remote.sql("SELECT COUNT(*) FROM sys.dm_os_wait_stats", "sql2", "master").value > 0
        else:
            assert labs["12-synchronous-commit"]["steps"] == []
            assert "begins in OLTP" in labs["12-synchronous-commit"]["refused"]["02_commit_waits"]
            assert "VIEW SERVER STATE is missing" in labs["12-synchronous-commit"]["refused"]["02_commit_waits"]
            with pytest.raises(AglabError, match="VIEW SERVER PERFORMANCE STATE permission was denied"):
                remote.sql("SELECT COUNT(*) FROM sys.dm_os_wait_stats", "sql2", "master")


def test_time_is_only_waited_for(twin, file):  # noqa: F811
    """A wait of a second passes on the server's clock."""
    begin = time.monotonic()
    with RemoteCluster.opened(file) as remote:
        first = remote.sql("SELECT SYSDATETIME()").value
        remote.wait(2)
        assert (remote.sql("SELECT SYSDATETIME()").value - first).total_seconds() >= 2
    assert time.monotonic() - begin < 60
