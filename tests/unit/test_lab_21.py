"""Lab 21: its judges and hooks, on a server that only remembers what it was asked, and what its explorable answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from aglab.core.errors import AglabError
from aglab.lab import labs
from aglab.lab.cluster import Cluster, Node
from aglab.lab.results import Result
from aglab.record import Run

SLUG = "21-tail-of-the-log"
RATE = "SQLServer:SQL Statistics\\Batch Requests/sec"
GOALS = {"rate_min": 42000, "response_ms_max": 2.2}


def run_of(rate):
    """A Run of a constant rate."""
    columns = pd.MultiIndex.from_tuples([("sql1", RATE)])
    return Run(pd.DataFrame({0: np.full(10, float(rate))}).set_axis(columns, axis=1))


def files(*rows):
    """Log files beyond the first."""
    return pd.DataFrame(rows, columns=["name", "physical_name", "is_persistent_log_buffer"])


class Server(Cluster):
    """One node that keeps what it was told and has the log files it was given."""

    mode = "fake"

    def __init__(self, *extra, refuses=""):
        super().__init__([Node("sql1", "127.0.0.1", 1)], "none")
        self.asked, self.extra, self.refuses = [], list(extra), refuses

    def sql(self, script, node=None, database="master"):
        self.asked.append(script.strip())
        if self.refuses and self.refuses in script:
            raise AglabError("Directory lookup failed", "")
        if "is_persistent_log_buffer" in script:
            return Result([files(*self.extra)], [])
        if "ADD LOG FILE" in script:
            self.extra.append(("OLTP_tail", "/mnt/dax/OLTP_tail.pldf", True))
        if "REMOVE FILE" in script:
            self.extra.pop()
        return Result([], [])

    def run_load(self, seconds, users=None, **more):
        self.asked.append(("load", users))
        return run_of(45_000)

    def start_load(self, users=None):
        self.asked.append(("start", users))

    def stop_load(self):
        self.asked.append("stop")

    def restart(self, node, startup_options=()):
        self.asked.append(("restart", tuple(startup_options)))

    def wait(self, seconds):
        self.asked.append(("wait", seconds))

    def _password(self):
        return ""

    def provenance(self):
        return {}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A learner's folder of its own."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))


BUFFER = files(("OLTP_tail", "/mnt/dax/OLTP_tail.pldf", True))
ORDINARY = files(("OLTP_tail", "/var/opt/mssql/data/OLTP_tail.pldf", False))
NONE = files()


@pytest.mark.parametrize(
    ("rate", "users", "durability", "directory", "found", "passed", "hint"),
    [
        (45_000, 80, "DISABLED", "/mnt/dax", BUFFER, True, ""),
        (43_400, 92, "ALLOWED", "", NONE, True, ""),
        (45_000, 80, "FORCED", "/mnt/dax", BUFFER, False, "takes acknowledged commits away"),
        (45_000, 80, "DISABLED", "/var/opt/mssql/data", ORDINARY, False, "ordinary second log file"),
        (51_000, 160, "DISABLED", "/mnt/dax", BUFFER, False, "Send some home"),
        (35_900, 60, "DISABLED", "/mnt/dax", BUFFER, False, "Users = rate x time"),
    ],
)
def test_each_wrong_answer_gets_its_own_hint(rate, users, durability, directory, found, passed, hint):
    """A log buffer and more users pass; an unsafe, a mistaken, a crowded and a slow answer are told apart."""
    verdict = labs.Lab(SLUG, Server())._hook("judge")(run_of(rate), GOALS, users, durability, directory, found)
    assert bool(verdict) is passed and hint in verdict.hint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"users": None, "directory": None, "delayed_durability": None}, "users is still None"),
        ({"users": 80, "directory": None, "delayed_durability": "DISABLED"}, "directory=None"),
        ({"users": 80, "directory": "", "delayed_durability": None}, "delayed_durability=None"),
        ({"users": 80, "directory": "", "delayed_durability": "DISABLED; DROP DATABASE OLTP"}, "Give 'DISABLED'"),
        ({"users": 0, "directory": "", "delayed_durability": "DISABLED"}, "users=0 must be"),
    ],
)
def test_unfinished_answers_do_not_touch_the_server(kept, answer, words):
    """A blank or absurd answer is refused before anything is changed or loaded."""
    lab = labs.Lab(SLUG, Server())
    verdict = lab.check(answer)
    assert not verdict and words in verdict.seen + verdict.hint and lab.cluster.asked == []


def test_a_directory_that_the_server_refuses_is_told(kept):
    """The server's own words and a hint, no load; a quote in the directory stays inside its literal."""
    lab = labs.Lab(SLUG, Server(refuses="K:"))
    verdict = lab.check({"users": 80, "directory": "K:", "delayed_durability": "DISABLED"})
    assert not verdict and "Directory lookup failed" in verdict.seen and ("load", 80) not in lab.cluster.asked
    lab.check({"users": 80, "directory": "/mnt/o'hara", "delayed_durability": "DISABLED"})
    assert any("N'/mnt/o''hara/OLTP_tail.pldf'" in str(one) for one in lab.cluster.asked)


def test_run_and_reset_take_what_is_there_away_first():
    """Each arm starts from one log file; a buffer is removed in single-user mode and the database opened again."""
    lab = labs.Lab(SLUG, Server(("old", "/mnt/dax/old.pldf", True)))
    assert list(lab.run()) == list(lab.about["arms"])
    alone = lab.cluster.asked.index("ALTER DATABASE [OLTP] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;")
    assert lab.cluster.asked[alone + 1 : alone + 3] == [
        "ALTER DATABASE [OLTP] REMOVE FILE [old];",
        "ALTER DATABASE [OLTP] SET MULTI_USER;",
    ]
    lab.reset()
    assert lab.cluster.extra == [] and lab.cluster.asked[-1] == "ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = DISABLED;"


@pytest.mark.parametrize(
    ("durability", "access", "found", "hint"),
    [
        ("DISABLED", "MULTI_USER", BUFFER, ""),
        ("FORCED", "MULTI_USER", BUFFER, "nothing is guaranteed"),
        ("DISABLED", "MULTI_USER", ORDINARY, "OLTP_tail looks like a log buffer"),
        ("DISABLED", "MULTI_USER", NONE, "still missing"),
        ("DISABLED", "SINGLE_USER", BUFFER, "single-user mode"),
    ],
)
def test_repair_is_judged_by_state(durability, access, found, hint):
    """Durability, files and access count, in this order; what was typed does not."""
    options = pd.DataFrame([(durability, access)])
    waits = pd.DataFrame([(0 if durability == "FORCED" else 1000, 10)])
    verdict = labs.Lab(SLUG, Server())._hook("judge_state")(options, found, waits)
    assert bool(verdict) is (hint == "") and hint in verdict.hint


def test_explorable_shows_who_gains():
    """A spinning disk gains most; with four times the users nothing is left; reads that do not commit dilute it."""
    from aglab.viz import load_explorable

    answer = load_explorable(SLUG).compute

    def gain(**changes):
        setting = {"log_write_us": 145.4, "users": 60.0, "read_only_share": 0.0, "cores": 16, **changes}
        with_buffer, without = (answer({**setting, "tail_of_log_us": tail}).outputs["rate"] for tail in (3, 0))
        return with_buffer / without

    assert gain(log_write_us=4000) > 3 > gain() > gain(log_write_us=20) > 1
    assert gain(users=240.0) < 1.02 and gain(read_only_share=0.9) < gain(read_only_share=0.5) < gain()
