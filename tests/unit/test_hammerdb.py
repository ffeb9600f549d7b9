"""HammerDB as the load of real servers: what is asked of it, what is read from it, and what a failure says.

A stand-in plays hammerdbcli (tests/live/stand_in_hammerdbcli.py): this proves generation and parsing, not HammerDB.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.core.paths import bundle_path
from aglab.lab.labs import describe, lab_slugs
from aglab.live import hammerdb, hammerdb_script
from aglab.live.hammerdb import HammerDB, HammerDBError, Plan, Target, interleaved, local, plan_for
from aglab.live.hammerdb_errors import CAUSES, why
from aglab.live.hammerdb_output import NODE, TCOUNT, parse
from aglab.record import Run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="HammerDB's shell is Linux's")

STAND_IN = Path(__file__).resolve().parents[1] / "live" / "stand_in_hammerdbcli.py"
PASSWORD = "Only-4-this!{test}[x]$"
PLAN = Plan(warehouses=4, users=3, build_users=2, ramp_up_min=1, minutes=2)


@pytest.fixture
def home(tmp_path):
    """A folder that looks like HammerDB's, one level down as in its images."""
    folder = tmp_path / "HammerDB-5.0"
    folder.mkdir()
    shutil.copy(STAND_IN, folder / "hammerdbcli")
    return tmp_path


def load(home, execute=local):
    """A HammerDB on the stand-in."""
    return HammerDB(execute, Target("sql1", 1433), PASSWORD, str(home))


def test_a_run_gives_its_result_with_labels_and_timing(home):
    """NOPM, TPM, users, job, response times and the transaction counter are read, and each count says who counted what."""
    output = load(home).run(PLAN)
    assert (output.nopm, output.tpm, output.users, output.version) == (18000, 42000, 3, "5.0")
    assert output.job == "63F495ED5F5303E263837373" and output.unread == []
    assert output.timing["NEWORD"].calls == 90000 and output.timing["NEWORD"].p95_ms == 4.5
    assert output.nopm_label == "NOPM (new orders a minute, HammerDB 5.0)"
    assert output.tpm_label == "SQL Server TPM (batch requests a minute, HammerDB 5.0)"


def test_the_words_of_version_3_are_read_too(home, monkeypatch):
    """Up to version 3 the result names TPM first."""
    monkeypatch.setenv("STAND_IN", "old")
    output = load(home).run(PLAN)
    assert (output.nopm, output.tpm, output.version) == (18000, 42000, "3.3")


def test_counts_stand_beside_the_sampled_counters(home):
    """HammerDB's counts are a node of their own: no column of the servers changes."""
    columns = pd.MultiIndex.from_tuples([("sql1", "Transactions/sec")])
    sampled = Run(pd.DataFrame({columns[0]: [1.0, 2.0, 3.0]}, index=[0.0, 5.0, 10.0]), [], {"mode": "docker"})
    run = load(home).run(PLAN).beside(sampled)
    assert run.series("Transactions/sec", "sql1").tolist() == [1.0, 2.0, 3.0]
    assert run.series(TCOUNT, NODE).tolist() == [41000, 41000, 43000]
    assert run.provenance["hammerdb"]["nopm"] == 18000 and sampled.nodes == ["sql1"]


def test_the_password_is_in_no_argument_no_script_no_line(home):
    """It travels by standard input; HammerDB's echo of it is cleaned."""
    seen, lines = [], []

    def watched(argv, stdin_text, on_line):
        seen.append((list(argv), stdin_text))
        return local(argv, stdin_text, on_line)

    load(home, watched).run(PLAN, on_line=lines.append)
    argv, stdin = seen[0]
    assert PASSWORD not in " ".join(argv) and PASSWORD not in stdin.split("\n", 1)[1]
    assert any("mssqls_pass" in line and "********" in line for line in lines), "the echo should be there, cleaned"
    assert not any(PASSWORD in line for line in lines)


def test_the_working_folder_is_private_and_goes(home, monkeypatch):
    """Nothing of a run stays where hammerdbcli lives."""
    folders = []

    def watched(argv, stdin_text, on_line):
        folders.append(Path(os.environ.get("TMPDIR", "/tmp"), argv[4]))
        modes = []
        code = local(argv, stdin_text, lambda line: (modes.append(folders[0].stat().st_mode & 0o777), on_line(line)))
        assert set(modes) == {0o700}
        return code

    load(home, watched).build(PLAN)
    assert not folders[0].exists()


@pytest.mark.parametrize(
    ("wrong", "cause", "remedy"),
    [
        ("login", "refuses the login", "check user and password"),
        ("certificate", "does not trust", "mssqls_trust_server_cert true"),
        ("bcp", "called bcp", "mssqls_use_bcp false"),
        ("driver", "no ODBC driver", "msodbcsql18"),
    ],
)
def test_failed_virtual_users_say_why(home, monkeypatch, wrong, cause, remedy):
    """The driver's words become a cause and a remedy; the words themselves are kept."""
    monkeypatch.setenv("STAND_IN", wrong)
    with pytest.raises(HammerDBError, match="virtual users 2, 3") as caught:
        load(home).build(PLAN)
    assert cause in caught.value.message and remedy in caught.value.remedy and caught.value.said


def test_a_run_without_a_result_is_an_error(home, monkeypatch):
    """Virtual users that all end well and measure nothing are no measurement."""
    monkeypatch.setenv("STAND_IN", "no result")
    with pytest.raises(HammerDBError, match="printed no TEST RESULT"):
        load(home).run(PLAN)


def test_hammerdb_that_is_not_there_is_missing(tmp_path):
    """Where hammerdbcli is not, the folder is named."""
    with pytest.raises(MissingError, match=str(tmp_path)):
        load(tmp_path).run(PLAN)


def test_docker_that_is_not_there_is_missing(tmp_path):
    """A program that cannot be started is named."""
    with pytest.raises(MissingError, match="no-such-docker"):
        load(tmp_path, hammerdb.in_container("box", docker=str(tmp_path / "no-such-docker"))).delete()


def test_in_container_goes_through_docker_exec(home, tmp_path):
    """The same call, with docker exec -i before it."""
    docker = tmp_path / "docker"
    docker.write_text('#!/bin/sh\n[ "$1 $2 $3" = "exec -i box" ] || exit 9\nshift 3\nexec "$@"\n', encoding="utf-8")
    docker.chmod(0o700)
    assert load(home, hammerdb.in_container("box", docker=str(docker))).run(PLAN).nopm == 18000


def test_background_load_ends_with_its_block(home, monkeypatch):
    """The load is running inside the block, and its process is gone after it."""
    monkeypatch.setenv("STAND_IN", "hang")
    ended = []

    def watched(argv, stdin_text, on_line):
        if argv[3] == "aglab-start":
            assert "mssqls_raiseerror false" in stdin_text, "one deadlock victim must not end the load"
        code = local(argv, stdin_text, on_line)
        ended.append((argv[3], code))
        return code

    with load(home, watched).background(PLAN) as running:
        assert running.output is None
        running.failed()
    assert "aglab-start" in [who for who, _ in ended], "the run itself should have ended"


def test_background_load_that_cannot_start_says_so(home, monkeypatch):
    """The block is not entered without a load."""
    with pytest.raises(MissingError), load(home / "nowhere").background(PLAN):
        pytest.fail("there is no load")


def test_ctrl_c_ends_the_process(home, monkeypatch):
    """An interrupt in the middle leaves nothing running."""
    monkeypatch.setenv("STAND_IN", "hang")
    stops = []

    def watched(argv, stdin_text, on_line):
        if argv[3] == "aglab-stop":
            stops.append(argv[4])
        return local(argv, stdin_text, on_line)

    def interrupt(line):
        if "rampup" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(home, watched).run(PLAN, on_line=interrupt)
    assert len(stops) == 1
    gone = threading.Event()
    for _ in range(100):
        if not Path(stops[0]).exists():
            gone.set()
            break
        gone.wait(0.05)
    assert gone.is_set(), "the working folder goes with the process"


def test_arms_are_interleaved_and_compared_by_median(home):
    """Every other round runs backwards, so that a drift of the machine hits all arms alike."""
    order = []
    driver = load(home)
    runs, medians = interleaved(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, lambda: driver.run(PLAN), repetitions=3
    )
    assert order == ["a", "b", "b", "a", "a", "b"] and len(runs) == 6
    assert medians == {"a": 18000, "b": 18000}
    with pytest.raises(UsageError, match="repetitions=0"):
        interleaved({"a": lambda: None}, lambda: driver.run(PLAN), 0)


def test_scripts_keep_clear_of_known_traps():
    """bcp off, certificate trusted, port used, errors raised, and a build with no more users than warehouses."""
    build, run = hammerdb_script.build_script(Target("sql1"), PLAN), hammerdb_script.run_script(Target("sql1"), PLAN)
    assert "mssqls_use_bcp false" in build and "mssqls_num_vu 2" in build
    for script in (build, run):
        assert "mssqls_trust_server_cert true" in script and "mssqls_tcp true" in script
    assert "mssqls_raiseerror true" in run and "vuset vu 3" in run and "mssqls_duration 2" in run
    assert "deleteschema" in hammerdb_script.delete_script(Target("sql1"))


# keys of config/mssqlserver.xml of TPC-Council/HammerDB, versions 5 and 6, by section
KEYS = {
    "connection": "server linux_server tcp port azure authentication linux_authent odbc_driver linux_odbc uid pass"
    " encrypt_connection trust_server_cert",
    "tpcc": "count_ware num_vu dbase imdb bucket durability use_bcp total_iterations raiseerror keyandthink checkpoint driver"
    " rampup duration allwarehouse timeprofile async_scale async_client async_verbose async_delay connect_pool",
}


def test_every_key_is_one_that_hammerdb_5_and_6_have():
    """In generated scripts and in those of the labs: the key, in its section, with true or false where it is a flag."""
    target = Target("sql1", trust_certificate=False)
    texts = [
        hammerdb_script.build_script(target, PLAN),
        hammerdb_script.run_script(target, PLAN),
        hammerdb_script.delete_script(target),
    ]
    texts += [path.read_text(encoding="utf-8") for path in bundle_path("labs").glob("*/hammerdb_*.tcl")]
    assert len(texts) > 5
    for text in texts:
        found = re.findall(r"^diset (\w+) mssqls_(\w+) (.+)$", text, flags=re.M)
        assert found and not [one for one in found if one[1] not in KEYS[one[0]].split()]
        flags = {
            "tcp",
            "encrypt_connection",
            "trust_server_cert",
            "use_bcp",
            "raiseerror",
            "allwarehouse",
            "checkpoint",
            "timeprofile",
        }
        assert not [one for one in found if one[1] in flags and one[2] not in ("true", "false")]
    assert "mssqls_trust_server_cert false" in texts[0]


def test_labels_say_which_version_counted():
    """NOPM and TPM of a version whose keys nobody has checked carry that."""
    assert parse(["HammerDB CLI v6.0"]).nopm_label == "NOPM (new orders a minute, HammerDB 6.0)"
    assert "keys checked for 5 and 6 only" in parse(["HammerDB CLI v4.10"]).tpm_label
    assert "version not printed" in parse([]).nopm_label


@pytest.mark.parametrize(
    "wrong", [{"server": "sql1;exit"}, {"database": "[exec rm]"}, {"user": "$env"}, {"odbc_driver": "a}b"}, {"port": 0}]
)
def test_names_that_tcl_would_read_as_commands_are_refused(wrong):
    """A script is made of names and numbers only."""
    with pytest.raises(UsageError):
        Target(**{"server": "sql1", **wrong})


@pytest.mark.parametrize(
    "wrong", [{"warehouses": 0}, {"users": 0}, {"minutes": 0}, {"ramp_up_min": -1}, {"build_users": 9}, {"build_users": 0}]
)
def test_plans_out_of_range_are_refused(wrong):
    """Zero users, zero minutes, or more loaders than warehouses measure nothing."""
    with pytest.raises(UsageError):
        Plan(**{"warehouses": 4, "users": 2, **wrong})


def test_a_tier_is_cut_to_the_machine_and_says_so():
    """Warehouses fit on the disk, each virtual user has a home, loaders are no more than processors."""
    tier = {"warehouses": 100, "users": 32, "minutes": 5}
    whole = plan_for(tier, cpus=8, disk_free_gib=500)
    assert (whole.warehouses, whole.users, whole.build_users, whole.notes) == (100, 32, 8, ())
    small = plan_for(tier, cpus=2, disk_free_gib=3)
    assert (small.warehouses, small.users, small.build_users) == (20, 20, 2) and len(small.notes) == 2
    with pytest.raises(UsageError, match="holds no warehouse"):
        plan_for(tier, cpus=2, disk_free_gib=0.1)
    with pytest.raises(UsageError, match="minutes"):
        plan_for({"warehouses": 1, "users": 1}, cpus=2, disk_free_gib=3)


def test_every_lab_with_tiers_makes_a_plan():
    """laptop, workshop and server of every lab.toml are plans HammerDB can run."""
    tiers = [tier for slug in lab_slugs() for tier in describe(slug).get("tier", {}).values()]
    assert tiers and all(plan_for(tier, cpus=64, disk_free_gib=1000).notes == () for tier in tiers)


@pytest.mark.parametrize("password", ["", "two\nlines"])
def test_passwords_that_cannot_travel_are_refused(password, tmp_path):
    """One line, not empty."""
    with pytest.raises(UsageError, match="one line"):
        HammerDB(local, Target("sql1"), password, str(tmp_path))


def test_damaged_json_is_named_not_swallowed():
    """A part of the job that is no JSON leaves the rest readable and is listed."""
    lines = ["AGLAB timing begins", '{"NEWORD": {"calls": "x"}}', "AGLAB timing ends", "AGLAB tcount begins", "AGLAB tcount ends"]
    output = parse([*lines, "Vuser 1:TEST RESULT : System achieved 1 NOPM from 2 SQL Server TPM"])
    assert output.unread == ["timing", "tcount"] and output.nopm == 1
    assert output.tpm_label.endswith("HammerDB, version not printed)")


@pytest.mark.parametrize("words", [[], ["something nobody has seen"]])
def test_unknown_words_are_passed_on(words):
    """A cause that is not known is not invented."""
    cause, remedy = why(words)
    assert cause == (words[0] if words else "HammerDB gave no reason") and remedy


def test_each_cause_is_found_by_words_of_its_own():
    """No cause hides behind one that stands before it."""
    samples = [
        'couldn\'t execute "bcp"', "certificate verify failed", "Login failed for user 'sa'", "Can't open lib 'x'",
        "Cannot open database \"tpcc\"", "is participating in an availability group", "NativeError = 3752", "NativeError = 1801",
        "The transaction log for database 'tpcc' is full", "Could not allocate space", "Communication link failure",
        "Login timeout expired", "NativeError = 1205", "can't use empty string as operand of",
    ]  # fmt: skip
    assert [why([words])[0] for words in samples] == [cause for _, cause, _ in CAUSES]
