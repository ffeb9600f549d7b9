"""Mode remote against the nodes of a twin: they speak TDS with a certificate of their own, as a user's servers may."""

from __future__ import annotations

import json
import socket

import pytest

from aglab.cli.app import main
from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.lab import cluster
from aglab.lab.cluster import REASONS, StepNotPossible
from aglab.lab.remote_changes import KINDS, changes
from aglab.lab.remote_cluster import RemoteCluster
from aglab.live.servers import load_servers

VARIABLE = "AGLAB_TEST_SERVERS_PASSWORD"
RECOVERY = "SELECT target_recovery_time_in_seconds FROM sys.databases WHERE name = N'OLTP'"
DOP = "SELECT CAST(value AS int) FROM sys.configurations WHERE name = N'max degree of parallelism'"
SET_RECOVERY = "ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = {} SECONDS;"


@pytest.fixture(scope="module")
def twin():
    """The stand-in servers."""
    with cluster("twin") as made:
        yield made


@pytest.fixture
def file(twin, tmp_path, monkeypatch):
    """A file that names them."""
    monkeypatch.setenv(VARIABLE, twin._password())
    return written(tmp_path, twin)


def written(folder, twin, head="", port=None):
    text = f'user = "sa"\npassword_env = "{VARIABLE}"\ntrust_certificate = true\n{head}\n'
    for node in twin.nodes:
        text += f'[[server]]\nname = "{node.name}"\nserver = "{node.server}"\nport = {port or node.port}\n'
    path = folder / "servers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reading_goes_through_and_the_password_stays_hidden(twin, file, capsys):
    """Version, role, permissions, databases and labs as JSON; the password is in nothing that is printed or kept."""
    assert main(["status", "--mode", "remote", "--servers", str(file), "--json"]) == 0
    text = capsys.readouterr().out
    assert twin._password() not in text
    said = json.loads(text)
    assert [node["role"] for node in said["nodes"]] == ["PRIMARY", "SECONDARY", "SECONDARY"]
    assert said["nodes"][0]["permissions"]["VIEW SERVER STATE"] and "OLTP" in said["nodes"][0]["databases"]
    assert said["label"].startswith("SIMULATED")  # the stand-in says what it is
    lab = next(lab for lab in said["labs"] if lab["lab"].startswith("16-"))
    assert "01_which_checkpoint" in lab["steps"] and "database-options" in lab["refused"]["02_automatic"]
    assert not lab["experiment"] and REASONS["load"] in lab["reasons"]
    build = next(lab for lab in said["labs"] if lab["lab"].startswith("10-"))
    assert "it wants servers without an availability group" in build["reasons"]
    assert main(["status", "--mode", "remote", "--servers", str(file)]) == 0
    assert main(["sql", "sql2", "SELECT 41 + 1 AS n", "--mode", "remote", "--servers", str(file), "--json"]) == 0
    out = capsys.readouterr().out
    assert '"sql2"' in out and "42" in out and twin._password() not in out
    with RemoteCluster.opened(file) as remote:
        assert twin._password() not in repr((remote.provenance(), remote.file))


def test_a_change_is_refused_before_it_is_sent(twin, file, capsys):
    """Without a flag nothing changes, on no way in; the refusal names statement and flag."""
    before = twin.sql(RECOVERY).value
    with RemoteCluster.opened(file) as remote:
        with pytest.raises(UsageError, match=r"TARGET_RECOVERY_TIME.*--allow database-options"):
            remote.sql("SELECT 1;\n" + SET_RECOVERY.format(17))
        with remote.connect() as connection:
            with pytest.raises(UsageError, match="--allow data"):
                connection.run("CREATE TABLE dbo.left_behind (a int)")
            with pytest.raises(UsageError, match="no bare cursor"):
                connection.cursor()
    assert main(["sql", "sql1", SET_RECOVERY.format(17), "--mode", "remote", "--servers", str(file)]) == 2
    assert "--allow database-options" in capsys.readouterr().err
    assert twin.sql(RECOVERY).value == before
    assert twin.sql("SELECT COUNT(*) FROM master.sys.tables WHERE name = N'left_behind'").value == 0


def test_allowed_changes_are_written_back(twin, file):
    """The value of before comes back at the end, after two changes and after Ctrl-C; the record names what was changed."""
    twin.sql(SET_RECOVERY.format(45))
    dop = twin.sql(DOP).value
    with pytest.raises(KeyboardInterrupt), RemoteCluster.opened(file, ["database-options", "server-options"]) as remote:
        for seconds in (30, 20):
            remote.sql(SET_RECOVERY.format(seconds))
        remote.sql("USE OLTP")
        remote.sql("ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED", database="OLTP")
        remote.sql("EXEC sp_configure N'show advanced options', 1; RECONFIGURE;")
        remote.sql("EXEC sp_configure N'max degree of parallelism', 3; RECONFIGURE;")
        assert (twin.sql(RECOVERY).value, twin.sql(DOP).value) == (20, 3)
        assert "TARGET_RECOVERY_TIME = 45 SECONDS" in remote.ledger.file.read_text()
        assert {one["kind"] for one in remote.provenance()["changed"]} == {"database-options", "server-options"}
        raise KeyboardInterrupt
    assert (twin.sql(RECOVERY).value, twin.sql(DOP).value) == (45, dop)
    assert twin.sql("SELECT delayed_durability_desc FROM sys.databases WHERE name = N'OLTP'").value == "DISABLED"
    assert twin.sql("SELECT CAST(value AS int) FROM sys.configurations WHERE name = N'show advanced options'").value == 0
    assert not remote.ledger.file.exists()


def test_trace_flags_are_put_back(twin, file):
    """A global flag that was off is off again; one that was on stays on."""
    twin.sql("DBCC TRACEON(3605, -1)")
    with RemoteCluster.opened(file, ["trace-flags"]) as remote:
        remote.sql("DBCC TRACEON(3605, 1204, -1) WITH NO_INFOMSGS")
    assert list(twin.sql("DBCC TRACESTATUS(-1)").table["TraceFlag"]) == [3605]
    twin.sql("DBCC TRACEOFF(3605, -1)")


def test_what_cannot_be_undone_is_refused_or_kept_in_a_file(file, monkeypatch):
    """An option that cannot be read before is refused; a server that is gone at the end leaves the T-SQL to run by hand."""
    remote = RemoteCluster.opened(file, ["database-options", "server-options"])
    for text, said in (
        ("ALTER DATABASE OLTP SET SINGLE_USER WITH ROLLBACK IMMEDIATE", "ends other sessions"),
        ("ALTER DATABASE OLTP SET AUTO_SHRINK ON", "could not undo"),
        ("ALTER DATABASE nope SET RECOVERY SIMPLE", "'nope' is not there"),
        ("USE OLTP; ALTER DATABASE CURRENT SET RECOVERY SIMPLE", "name the database"),
        ("EXEC sp_configure 'max deg', 1", "exactly this name"),
    ):
        with pytest.raises(AglabError, match=said):
            remote.sql(text)
    remote.sql(SET_RECOVERY.format(33))
    with monkeypatch.context() as patch:

        def gone(node, text):
            raise MissingError("server sql1 is not reached", "")

        patch.setattr(remote, "_write_back", gone)
        with pytest.raises(AglabError, match="could not be undone"):
            remote.close()
    assert "ALTER DATABASE [OLTP]" in remote.ledger.file.read_text()
    remote.close()
    assert not remote.ledger.file.exists()


def test_verbs_that_are_not_ours_give_their_reason(file):
    """Clock, snapshot, fault, restart and a load that nobody configured."""
    with RemoteCluster.opened(file) as remote:
        for verb, call in {
            "time": lambda: remote.time("1x"),
            "snapshot": lambda: remote.snapshot("a"),
            "fault": lambda: remote.fault("cut", "sql2"),
            "restart": lambda: remote.restart("sql1", ["-k1"]),
            "load": lambda: remote.run_load(10),
        }.items():
            with pytest.raises(StepNotPossible, match=REASONS[verb]):
                call()
        frames = remote._sample_all(["sql1", "sql2"], [remote.connect(name) for name in ("sql1", "sql2")], _sampling(), 1)
        assert len(frames) == 2 and len(frames[0]) == 3


def _sampling():
    from aglab.lab import sampler

    return sampler.script(3, 1, "OLTP")


def test_load_and_sampling_want_what_they_need(twin, file, tmp_path):
    """Load needs its flag and a built schema; sampling a permission, said with the GRANT that gives it."""
    path = written(tmp_path, twin, '[hammerdb]\nhome = "/nowhere"\n')
    with RemoteCluster.opened(path) as remote, pytest.raises(UsageError, match="--allow load"):
        remote.start_load()
    with RemoteCluster.opened(path, ["load"]) as remote:
        remote.looks()[0].permissions.update(dict.fromkeys(remote.looks()[0].permissions, False))
        with pytest.raises(AglabError, match="GRANT VIEW SERVER STATE"):
            remote.run_load(10)


def test_a_server_that_does_not_let_in(twin, file, tmp_path, monkeypatch):
    """Nobody listens, a wrong password, none at all: where, and what to check; the password is not repeated."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(MissingError, match=f"sql1 is not reached at 127.0.0.1,{port}.*firewall"):
            RemoteCluster.opened(written(tmp_path, twin, port=port))
    path = written(tmp_path, twin)
    monkeypatch.setenv(VARIABLE, "Wr0ng-secret")
    with pytest.raises(AglabError, match=f"refuses user 'sa'.*{VARIABLE}") as refused:
        RemoteCluster.opened(path)
    assert "Wr0ng" not in str(refused.value)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(MissingError, match=f"{VARIABLE} is not set"):
        RemoteCluster.opened(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[server]\n", "not valid TOML"),
        ("", "names no server"),
        ('pasword_env = "X"\n', "did you mean 'password_env'"),
        ('[[server]]\nname = "a"\nserver = "h"\nuser = "u"\npassword = "p4ss"\n', "does not belong in a file"),
        ('[[server]]\nname = "a"\nserver = "h"\nuser = "u"\n', "one place for its password"),
        ('[[server]]\nname = "a"\nserver = "h"\npassword_env = "X"\n', "user is missing"),
        ('[[server]]\nname = "a"\nserver = "h;UID=x"\nuser = "u"\npassword_env = "X"\n', "must not be empty or hold"),
        ('[[server]]\nname = "a"\nserver = "h,1433"\nuser = "u"\npassword_env = "X"\n', "port ="),
        ('[[server]]\nname = "a"\nserver = "h"\nuser = "u"\npassword_env = "X"\nport = 0\n', "1 to 65535"),
        ('[[server]]\nname = "a"\nserver = "h"\nuser = "u"\npassword_env = "X"\nencrypt = "no"\n', "yes, strict"),
        ('[[server]]\nname = "a"\nserver = "h"\nuser = "u"\npassword_env = "X"\ntrust_certificate = 1\n', "type bool"),
    ],
)
def test_a_file_that_is_wrong(tmp_path, text, said):
    """Key, value and remedy; a password is never repeated."""
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said) as error:
        load_servers(path)
    assert "p4ss" not in str(error.value)


def test_no_file_and_unknown_kind(tmp_path, file):
    """A file that is not there, and a kind of change that does not exist."""
    with pytest.raises(UsageError, match="does not exist"):
        load_servers(tmp_path / "nope.toml")
    with pytest.raises(UsageError, match="did you mean 'database-options'"):
        cluster("remote", servers=file, allow=["database-option"])
    with pytest.raises(UsageError, match="for mode remote"):
        cluster("twin", servers=file)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1 INTO #a; UPDATE #a SET x = 2; DROP TABLE #a", ""),
        ("IF 1 = 1 BEGIN SELECT 1 INTO dbo.a END", "data"),
        ("INSERT INTO #a EXEC dbo.mine", "other"),
        ("DELETE FROM #a OUTPUT deleted.x INTO dbo.b", "data"),
        ("EXEC sp_executesql N'SELECT 1'", ""),
        ("EXEC sp_executesql N'DROP TABLE dbo.a'", "other"),
        ("EXEC sp_executesql @params = N'@a int', @stmt = N'DROP TABLE dbo.a'", "other"),
        ("EXEC sp_configure", ""),
        ("EXEC sp_configure 'a', 1", "server-options"),
        ("DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)", "maintenance"),
        ("DBCC SQLPERF(LOGSPACE)", ""),
        ("ALTER SERVER CONFIGURATION SET MEMORY_OPTIMIZED ON", "server-configuration"),
        ("ALTER AVAILABILITY GROUP ag1 FAILOVER", "availability-group"),
        ("ALTER DATABASE a SET HADR SUSPEND", "availability-group"),
        ("SELECT * FROM OPENQUERY(other, 'DROP TABLE a')", "other"),
        ("SHUTDOWN", "other"),
        ("no such statement at all ,", "other"),
        ("/* /* */ SHUTDOWN */ SELECT 1", ""),
    ],
)
def test_which_statements_change_a_server(text, kind):
    """By the parser, inside other statements too; what it does not know counts as changing."""
    assert {one.kind for one in changes(text)} == ({kind} if kind else set())
    assert not kind or kind in KINDS
