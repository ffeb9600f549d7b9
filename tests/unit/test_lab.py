"""The lab room without a server: labs, predictions, checks, samples, sweeps; every refusal says what to do."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from aglab.core.errors import AglabError, UsageError
from aglab.lab import labs, sampler, store, sweeps
from aglab.lab.answers import Verdict
from aglab.lab.cluster import REASONS, Cluster, Node, StepNotPossible, checked_options
from aglab.lab.results import Result
from aglab.record import Run

SLUG = "16-checkpoint-throttle"
TPS = "SQLServer:Databases(OLTP)\\Transactions/sec"
LOG = "SQLServer:Databases(OLTP)\\Percent Log Used"


class FakeCluster(Cluster):
    """A cluster that remembers what it was asked and answers T-SQL from a list."""

    mode = "fake"

    def __init__(self, tables=()):
        super().__init__([Node("sql1", "127.0.0.1", 1), Node("sql2", "127.0.0.1", 2)], "none")
        self.asked = []
        self.tables = list(tables)

    def sql(self, script, node=None, database="master"):
        self.asked.append(script)
        return Result(list(self.tables), [])

    def start_load(self, users=None):
        self.asked.append(("start", users))

    def stop_load(self):
        self.asked.append("stop")

    def restart(self, node, startup_options=()):
        self.asked.append(("restart", node, checked_options(startup_options)))

    def wait(self, seconds):
        self.asked.append(("wait", seconds))

    def _password(self):
        return "none"

    def provenance(self):
        return {"mode": "fake", "server": "nowhere"}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A learner's folder of its own."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run_of(rate, used=1.0):
    """A Run with a Transactions/sec series and a constant Percent Log Used."""
    columns = pd.MultiIndex.from_tuples([("sql1", TPS), ("sql1", LOG)])
    return Run(pd.DataFrame({0: rate, 1: np.full(len(rate), used)}).set_axis(columns, axis=1))


# -- labs ----------------------------------------------------------------------------------------------------
def test_every_lab_has_what_a_learner_needs():
    """Each lab folder has a title, load, cluster, T-SQL steps and a script with the hooks the notebook calls."""
    assert SLUG in labs.lab_slugs()
    for slug in labs.lab_slugs():
        lab = labs.Lab(slug, FakeCluster())
        assert {"title", "question", "load", "cluster", "modes"} <= lab.about.keys()
        assert lab.steps == sorted(lab.steps) and lab.steps
        for hook in ("run", "reset", "check", "break_it", "repaired"):
            assert callable(lab._hook(hook))


def test_unknown_lab_step_and_hook_are_named():
    """A wrong name is answered with the nearest right one."""
    with pytest.raises(UsageError, match="did you mean '16-checkpoint-throttle'"):
        labs.open_lab("16-checkpoint-throtle")
    lab = labs.Lab(SLUG, FakeCluster())
    with pytest.raises(UsageError, match="step '99' is not known"):
        lab.show("99")
    with pytest.raises(UsageError, match="has no dance"):
        lab._hook("dance")


def test_damaged_lab_toml_is_said(monkeypatch, tmp_path):
    """A lab.toml that is not TOML names its file; a lab without its script too."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "lab.toml").write_text("title = ")
    monkeypatch.setattr(labs, "bundle_path", lambda *parts: tmp_path.joinpath(*parts[1:]))
    with pytest.raises(AglabError, match="is not TOML"):
        labs.describe("x")
    (tmp_path / "x" / "lab.toml").write_text("title = 'x'")
    with pytest.raises(AglabError, match=r"lab\.py is missing"):
        labs.Lab("x", FakeCluster())._hook("run")


def test_a_step_shows_its_own_text():
    """What is shown is what runs, byte for byte, by number or by name."""
    lab = labs.Lab(SLUG, FakeCluster())
    step = lab.show("02")
    assert step == lab.show("02_automatic") and "TARGET_RECOVERY_TIME = 0 SECONDS" in repr(step)
    assert "TARGET_RECOVERY_TIME" in step._repr_html_()
    lab.run_step("02")
    assert lab.cluster.asked == [step.text]


def test_a_learners_own_copy_of_a_lab_is_the_one_that_runs(tmp_path, monkeypatch):
    """An edited step in the folder beside the notebooks runs instead of the one that came with aglab."""
    shutil.copytree(labs.lab_folder(SLUG), tmp_path / "labs" / SLUG)
    (tmp_path / "labs" / SLUG / "02_automatic.sql").write_text("SELECT 'mine';")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert labs.Lab(SLUG, FakeCluster()).show("02").text == "SELECT 'mine';"
    monkeypatch.chdir(tmp_path.parent)
    assert labs.Lab(SLUG, FakeCluster()).show("02").text != "SELECT 'mine';"


def test_wrong_mode_and_seed():
    """An unknown mode, a mode that this version lacks, a negative seed, an unknown profile: each its own message."""
    with pytest.raises(UsageError, match="mode 'cloud' is not known"):
        labs.cluster("cloud")
    with pytest.raises(UsageError, match="needs a file of your servers"):
        labs.cluster("remote")
    with pytest.raises(UsageError, match="seed=-1"):
        labs.cluster(seed=-1)
    with pytest.raises(UsageError, match="profile 'nope' is not known"):
        labs.cluster(profile="nope")


def test_verbs_a_mode_cannot_do_give_the_reviewed_reason():
    """A refusal quotes the reviewed list, nothing else."""
    fake = FakeCluster()
    for verb, call in {
        "time": lambda: fake.time("1x"),
        "fault": lambda: fake.fault("cut", "sql2"),
        "snapshot": lambda: fake.snapshot("a"),
    }.items():
        with pytest.raises(StepNotPossible, match=REASONS[verb]):
            call()
    with pytest.raises(StepNotPossible):
        fake.restore("a")


def test_startup_options_are_a_list_of_options():
    """A string, and an option without its dash, are refused."""
    assert checked_options(["-k750", "-T1222"]) == ["-k750", "-T1222"]
    with pytest.raises(UsageError, match="must be a list"):
        checked_options("-k750")
    with pytest.raises(UsageError, match="must start with -"):
        checked_options(["k750"])


def test_unknown_node_is_named():
    """A node that is not there is refused before anything is sent."""
    with pytest.raises(UsageError, match="node 'sql9' is not known"):
        FakeCluster().node("sql9")


# -- predictions and checks -----------------------------------------------------------------------------------
def test_prediction_is_kept_and_read_again(kept):
    """A prediction with its reason survives the process."""
    lab = labs.Lab(SLUG, FakeCluster())
    assert "No prediction yet" in repr(lab.predict())
    lab.predict("lower", reason="the checkpoint takes longer")
    assert repr(lab.predict()) == "You predicted: lower, because the checkpoint takes longer"


def test_prediction_needs_a_known_choice_and_a_reason(kept):
    """A choice off the list and a bare guess are refused, and nothing is kept."""
    lab = labs.Lab(SLUG, FakeCluster())
    with pytest.raises(UsageError, match="prediction 'faster' is not known"):
        lab.predict("faster", reason="because I think so")
    with pytest.raises(UsageError, match="must say why"):
        lab.predict("lower", reason="no")
    assert not (kept / "progress").exists()


def test_damaged_progress_is_set_aside_not_lost(kept):
    """A damaged record moves aside; the learner starts anew and the old bytes are still there."""
    path = kept / "progress" / f"{SLUG}.json"
    path.parent.mkdir(parents=True)
    path.write_text("{half")
    assert store.read(SLUG)["predictions"] == {}
    assert path.with_suffix(".damaged.json").read_text() == "{half"


GOALS = {"slowest_share": 0.8, "throughput_share": 0.95, "log_used_percent": 5.0}
STEADY = np.full(100, 1000.0)
SWINGS = np.where(np.arange(100) % 50 < 15, 50.0, 1400.0)


@pytest.mark.parametrize(
    ("rate", "used", "k", "target", "passed", "hint"),
    [
        (STEADY, 4.0, 800, 0, True, ""),
        (STEADY, 4.0, 0, 200, True, ""),
        (SWINGS, 1.0, 0, 0, False, "throttle harder"),
        (SWINGS, 1.0, 96000, 0, False, "not pages"),
        (STEADY * 0.85, 1.0, 750, 60, False, "Give it more time"),
        (STEADY * 0.9, 1.0, 1250, 0, False, "Throttle a little harder"),
        (STEADY, 20.0, 100, 0, False, "log cannot be reused"),
    ],
)
def test_each_wrong_answer_gets_its_own_hint(rate, used, k, target, passed, hint):
    """Right answers of both kinds pass; each plausible wrong one is told what it did."""
    judge = labs.Lab(SLUG, FakeCluster())._hook("judge")
    verdict = judge(run_of(rate, used), run_of(STEADY), GOALS, k, target)
    assert bool(verdict) is passed and hint in verdict.hint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"k_mb_s": None, "target_recovery_s": None}, "k_mb_s is still None"),
        ({"k_mb_s": 750}, "target_recovery_s is still None"),
        ({"k_mb_s": "750", "target_recovery_s": 0}, "must be a number"),
        ({"k_mb_s": -1, "target_recovery_s": 0}, "k_mb_s=-1 must be"),
        ({"k_mb_s": 750, "target_recovery_s": 99999}, "target_recovery_s=99999 must be"),
    ],
)
def test_unfinished_answers_do_not_touch_the_cluster(kept, answer, words):
    """A blank or absurd answer is refused before anything is restarted, and the try is kept."""
    lab = labs.Lab(SLUG, FakeCluster())
    verdict = lab.check(answer)
    assert not verdict and words in verdict.seen and lab.cluster.asked == []
    assert store.read(SLUG)["checks"] == [{"passed": False, "seen": verdict.seen}]


def test_an_answer_must_be_a_dict(kept):
    """Anything but a dict of settings is wrong use."""
    with pytest.raises(UsageError, match="must be a dict"):
        labs.Lab(SLUG, FakeCluster()).check([750])


def test_verdict_reads_as_a_sentence():
    """Passed or not yet, what was seen, the hint."""
    assert repr(Verdict(False, "slow", "throttle")) == "NOT YET: slow\nHint: throttle"
    assert repr(Verdict(True, "fine", "unused")) == "PASSED: fine"


def test_repair_is_judged_by_state(kept):
    """Repaired means that the log is small again, whatever was typed."""
    full, empty = pd.DataFrame({"x": [40]}), pd.DataFrame({"x": [1]})
    assert not labs.Lab(SLUG, FakeCluster([full])).repaired()
    healthy = labs.Lab(SLUG, FakeCluster([empty]))
    assert healthy.repaired() and healthy.cluster.asked[-1] == "stop"


# -- samples ---------------------------------------------------------------------------------------------------
def samples(count=3, every=1.0):
    """Two result sets as the sampling script returns them: totals that grow by 10, 20, 30 ..."""
    rows, files_rows = [], []
    for sample in range(count + 1):
        at = pd.Timestamp("2026-01-01") + pd.Timedelta(seconds=sample * every)
        total = 10 * sample * (sample + 1) // 2
        rows += [
            (sample, at, "SQLServer:Databases", "Transactions/sec", "OLTP", total, 272696576),
            (sample, at, "SQLServer:Databases", "Transactions/sec", "_Total", 99 * total, 272696576),
            (sample, at, "SQLServer:Databases", "Percent Log Used", "OLTP", 7, 65792),
            (sample, at, "SQLServer:Resource Pool Stats", "CPU usage %", "default", 30, 537003264),
            (sample, at, "SQLServer:Resource Pool Stats", "CPU usage %", "internal", 20, 537003264),
            (sample, at, "SQLServer:Resource Pool Stats", "CPU usage % base", "default", 100, 1073939712),
            (sample, at, "SQLServer:Workload Group Stats", "CPU usage %", "default", 30, 537003264),
        ]
        files_rows += [
            (sample, at, "ROWS", 100 * sample, 8192 * 100 * sample, 50 * sample, 10 * sample, 8192 * 10 * sample, 20 * sample),
            (sample, at, "LOG", 0, 0, 0, 4 * sample, 4 * 512 * sample, 2 * sample),
        ]
    names = ["sample", "at_time", "object_name", "counter_name", "instance_name", "cntr_value", "cntr_type"]
    counters = pd.DataFrame(rows, columns=names)
    stats = pd.DataFrame(
        files_rows,
        columns=[
            "sample",
            "at_time",
            "type_desc",
            "num_of_reads",
            "num_of_bytes_read",
            "io_stall_read_ms",
            "num_of_writes",
            "num_of_bytes_written",
            "io_stall_write_ms",
        ],
    )
    return [counters, stats]


def test_totals_become_rates_by_the_servers_clock():
    """Cumulative counters are differenced over the server's own time; values stay; CPU adds up the pools."""
    run = Run(sampler.frame("sql1", samples(every=2.0), 2.0, "OLTP"))
    assert run.series("Transactions/sec").tolist() == [5.0, 10.0, 15.0]
    assert run.series("Percent Log Used").tolist() == [7.0, 7.0, 7.0]
    assert run.series("% Processor Time").tolist() == [50.0, 50.0, 50.0]
    assert run.counters.index.tolist() == [2.0, 4.0, 6.0]
    assert run.series("PhysicalDisk(D:)\\Avg. Disk sec/Read").tolist() == [0.0005] * 3
    assert run.series("PhysicalDisk(L:)\\Disk Transfers/sec").tolist() == [2.0] * 3


def test_counters_and_files_have_their_own_times():
    """A busy server reads its counters late: rows keep their times, and their mean is what happened over the time it took."""
    counters, stats = samples()
    counters.loc[counters["sample"] == 2, "at_time"] += pd.Timedelta(seconds=0.5)
    run = Run(sampler.frame("sql1", [counters, stats], 1.0, "OLTP"))
    at_2 = 10.0 + 20.0 / 1.5  # a third of the late interval belongs to the third row
    assert run.series("Transactions/sec").tolist() == pytest.approx([10.0, at_2 - 10.0, 60.0 - at_2])
    assert run.series("Transactions/sec").mean() == pytest.approx(60.0 / 3.0)
    assert run.series("PhysicalDisk(L:)\\Disk Transfers/sec").tolist() == [4.0] * 3


def test_what_comes_after_the_time_asked_for_is_left_out():
    """Samples that all come late describe the time that was asked for, when users worked, not the time after it."""
    counters, stats = samples()
    late = counters["sample"] * pd.Timedelta(seconds=0.5)
    counters["at_time"] += late
    counters.loc[(counters["sample"] == 3) & (counters["counter_name"] == "Transactions/sec"), "cntr_value"] = 30  # nobody works
    run = Run(sampler.frame("sql1", [counters, stats], 1.0, "OLTP"))
    assert run.series("Transactions/sec").tolist() == pytest.approx([10.0 / 1.5, 5.0 / 1.5 + 10.0 / 1.5, 20.0 / 1.5])


def test_a_clock_set_back_is_not_believed():
    """Times that do not rise are put aside for the times asked for."""
    counters, stats = samples()
    counters.loc[counters["sample"] == 2, "at_time"] -= pd.Timedelta(seconds=5)
    run = Run(sampler.frame("sql1", [counters, stats], 1.0, "OLTP"))
    assert run.series("Transactions/sec").tolist() == [10.0, 20.0, 30.0]


def test_a_named_instance_has_the_same_columns():
    """MSSQL$NAME:Databases is the same object."""
    tables = samples()
    tables[0]["object_name"] = tables[0]["object_name"].str.replace("SQLServer:", "MSSQL$A:")
    assert Run(sampler.frame("sql1", tables, 1.0, "OLTP")).series("Transactions/sec").tolist() == [10.0, 20.0, 30.0]


def test_counters_that_a_server_lacks_are_left_out():
    """A counter with missing samples gives no column rather than a wrong one."""
    tables = samples()
    tables[0] = tables[0][~((tables[0]["counter_name"] == "Percent Log Used") & (tables[0]["sample"] == 1))]
    tables[0] = tables[0][~tables[0]["counter_name"].str.startswith("CPU")]
    tables[1] = tables[1][tables[1]["type_desc"] == "ROWS"]
    paths = [path for _, path in sampler.frame("sql1", tables, 1.0, "OLTP").columns]
    assert TPS in paths and LOG not in paths and not any("Processor" in path or "L:" in path for path in paths)


def test_no_samples_is_an_error():
    """A server that answers nothing is said."""
    with pytest.raises(AglabError, match="returned no samples"):
        sampler.frame("sql1", [], 1.0, "OLTP")


def test_sampling_script_limits():
    """Distance and number of samples have limits; the script quotes the database name."""
    text = sampler.script(3600, 60, "it's")
    assert "'00:01:00'" in text and "it''s" in text and "@sample <= 60" in text
    for seconds, every in ((600, 0.5), (600, 7200), (1, 1), (1e6, 1)):
        with pytest.raises(UsageError):
            sampler.script(seconds, every, "OLTP")


# -- sweeps ----------------------------------------------------------------------------------------------------
def test_grid_texts():
    """Ranges and lists of values are read; anything else is refused with an example."""
    assert sweeps.grid("k=250:1000:4") == ("k", [250.0, 500.0, 750.0, 1000.0])
    assert sweeps.grid("users=50,100") == ("users", [50.0, 100.0])
    assert sweeps.grid("k=5:9:1") == ("k", [5.0])
    for text in ("k", "k=", "k=1:2", "k=1:2:0", "=1,2", "k=a,b"):
        with pytest.raises(UsageError, match="--over"):
            sweeps.grid(text)


def test_a_sweep_is_the_same_as_single_runs():
    """Each row is what one run gives, in the order of the grid, whatever thread did it."""
    from aglab.scenario import Scenario

    scenario = Scenario.default(replicas=1).with_settings({"checkpoint": "automatic"})
    table = sweeps.sweep(scenario, {"k": [500, 1000]}, seconds=20, warm_up_s=5)
    alone = sweeps.one(scenario.with_settings({"k": 1000}), 20, 5, 1)
    assert table["k"].tolist() == [500, 1000]
    assert table.iloc[1]["transactions_per_s.avg"] == alone["transactions_per_s.avg"]


def test_an_interrupted_sweep_gives_what_is_done():
    """Ctrl-C after the first point: its row is returned, in the place it has in the grid."""
    from aglab.scenario import Scenario

    def stop(done: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    scenario = Scenario.default(replicas=1)
    table = sweeps.sweep(scenario, {"k": [500, 600, 700, 800]}, seconds=5, warm_up_s=0, progress=stop)
    assert len(table) == 1 and table["k"].iloc[0] in (500, 600, 700, 800)


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bytes():
    """Two workers in processes of their own: the same table as local threads, byte for byte."""
    distributed = pytest.importorskip("distributed")
    from aglab.scenario import Scenario

    scenario = Scenario.default(replicas=2).with_settings({"noise": 0.05})
    over = {"k": [0, 500, 750], "users": [20, 100]}
    local = sweeps.sweep(scenario, over, seconds=10, warm_up_s=2, seed=3)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tcp://127.0.0.1")
        remote = sweeps.sweep(scenario, over, seconds=10, warm_up_s=2, seed=3, scheduler=address)
    assert list(remote.columns) == list(local.columns) and len(local) == 6
    assert remote.to_numpy().tobytes() == local.to_numpy().tobytes()


def test_sweep_refusals():
    """No points, too many, no time, a wrong setting, a wrong scheduler: each refused before anything runs."""
    from aglab.scenario import Scenario

    scenario = Scenario.default(replicas=1)
    for over, more in (
        ({}, {}),
        ({"k": range(1, 30_000)}, {}),
        ({"k": [500]}, {"seconds": 0}),
        ({"kk": [1]}, {}),
        ({"k": [500]}, {"scheduler": "http://x"}),
    ):
        with pytest.raises(UsageError):
            sweeps.sweep(scenario, over, **more)
