"""``docker compose up init`` alone, as somebody without aglab does it: forms the group, again and after every kind of trouble."""

from __future__ import annotations

import os

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]
STATES = """SELECT COUNT(*) FROM sys.dm_hadr_database_replica_states WHERE synchronization_state_desc = N'SYNCHRONIZED'"""
NODES = ("sql1", "sql2", "sql3")


@pytest.fixture(scope="module")
def formed(engine):
    """The group, formed after an attempt that was cut short in the middle."""
    engine.compose("up", "--detach", *NODES)
    half = "source <(sed '/^say .2/,$d' /aglab/init/form_group.sh)"  # the first of its six steps
    engine.compose("run", "--rm", "--no-deps", "--no-TTY", "--entrypoint", "/bin/bash", "init", "-c", half)
    said = engine.form()
    yield said
    engine.compose("down", "--volumes", "--remove-orphans")


def test_without_the_licence_nothing_starts(engine):
    """ACCEPT_EULA is the user's to set; its absence is explained, and no node starts."""
    done = engine.compose("up", "init", check=False, ACCEPT_EULA="")
    assert done.returncode != 0
    assert "ACCEPT_EULA is not set" in engine.compose("logs", "prepare").stdout
    assert not engine.docker("ps", "--quiet", "--filter", f"name={engine.container('sql')[:-2]}").stdout.strip()
    engine.compose("down", "--volumes")


def test_the_group_forms(engine, formed):
    """Six steps, three synchronized copies, one primary."""
    assert "availability group ag1 is ready; primary sql1" in formed
    assert engine.sqlcmd("sql1", STATES) == "3"
    assert engine.sqlcmd("sql2", "SELECT cluster_type FROM sys.availability_groups") == "1"  # NONE


def test_rows_reach_the_secondaries(engine, formed):
    """What is committed on the primary is read on a secondary."""
    engine.sqlcmd("sql1", "CREATE TABLE OLTP.dbo.kept (id int NOT NULL PRIMARY KEY); INSERT OLTP.dbo.kept VALUES (1), (2)")
    assert engine.sqlcmd("sql3", "SELECT COUNT(*) FROM OLTP.dbo.kept") == "2"


def test_again_changes_nothing(engine, formed):
    """A second run looks, finds everything and says so."""
    said = engine.form()
    assert "ag1 is there; sql1 is its primary" in said
    assert engine.sqlcmd("sql3", "SELECT COUNT(*) FROM OLTP.dbo.kept") == "2"


@pytest.mark.slow
def test_after_docker_restart(engine, formed):
    """All nodes restarted: the group is there again with its rows."""
    engine.sqlcmd("sql1", "CREATE TABLE OLTP.dbo.back (id int NOT NULL PRIMARY KEY); INSERT OLTP.dbo.back VALUES (1), (2)")
    engine.docker("restart", *(engine.container(node) for node in NODES))
    assert "is ready" in engine.form()
    assert engine.sqlcmd("sql2", "SELECT COUNT(*) FROM OLTP.dbo.back") == "2"


def test_containers_are_as_documented(engine, formed):
    """User 10001, host names, loopback ports, no password in what docker inspect shows, none in a log."""
    password = (engine.home / "docker" / "sa_password.txt").read_text().strip()
    assert (engine.home / "docker" / "sa_password.txt").stat().st_mode & 0o077 == 0
    for node in NODES:
        shown = engine.docker("inspect", engine.container(node)).stdout
        assert password not in shown
        assert '"User": "10001"' in shown and f'"Hostname": "{node}"' in shown and '"HostIp": "127.0.0.1"' in shown
        assert '"HostIp": "0.0.0.0"' not in shown
    assert password not in engine.compose("logs").stdout
    assert engine.docker("exec", engine.container("sql1"), "id", "-u").stdout.strip() == "10001"


@pytest.mark.slow
def test_another_password_is_refused_before_a_node_starts(engine, formed):
    """The volumes keep the password they were made with: said with the ways out, and the old file brings everything back."""
    path = engine.home / "docker" / "sa_password.txt"
    kept = path.read_text()
    engine.compose("stop", *NODES)
    path.write_text("Another_Password1\n")
    try:
        assert engine.compose("up", "init", check=False).returncode != 0
        assert "SQL Server ignores a new one" in engine.compose("logs", "prepare").stdout
    finally:
        path.write_text(kept)
        os.chmod(path, 0o600)  # noqa: PTH101
    assert "is ready" in engine.form()
