"""Several databases on the same machines: closed forms, fairness, and what they take from each other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, steady
from aglab.engine.databases import Databases
from aglab.engine.jit import plain
from aglab.engine.machine import cpu_utilisation
from aglab.engine.params import machine_row
from aglab.engine.together import settle, work_of
from aglab.scenario import Scenario


def database(name: str, replicas: int = 1, **settings) -> Scenario:
    """One of several databases, each a quarter of the paper's."""
    base = Scenario.default("hpe-dl380-gen9-ssd", replicas)
    usual = {"noise": 0, "k": 200, "warehouses": 1000, "users": 30, "log_gb": 1e4}
    return dataclasses.replace(base.with_settings({**usual, **settings}), database=name)


def rates(several: Databases, seconds: float = 20, node: str = "sql1") -> dict[str, float]:
    """Transactions/s of each database after a while."""
    several.advance(20)
    before = {name: flow.totals(node)["transactions"] for name, flow in several.flows.items()}
    several.advance(seconds)
    return {name: (flow.totals(node)["transactions"] - before[name]) / seconds for name, flow in several.flows.items()}


def test_one_database_alone_is_a_flow():
    """The loop over databases adds nothing to one."""
    one = database("A")
    several, alone = Databases([one]), Flow(one)
    several.advance(30)
    alone.advance(30)
    assert several.flows["A"].totals("sql1") == pytest.approx(alone.totals("sql1"), rel=1e-9)


@pytest.mark.parametrize("count", [2, 4])
def test_readers_of_several_databases_are_as_many_readers_of_one(count):
    """Where only processors and the data volume are shared, n databases of N users do what one of n*N users does."""
    reads = {"read_only_share": 1.0, "cold_touches_per_tx": 0, "hot_pages": 1e5}
    found = rates(Databases([database(f"D{number}", users=40, **reads) for number in range(count)]))
    together = steady(database("all", users=40 * count, **reads)).throughput_s
    assert sum(found.values()) == pytest.approx(together, rel=0.01)
    assert max(found.values()) == pytest.approx(min(found.values()), rel=1e-6)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("load", [{}, {"users": 90}, {"cpu_us": 2000, "users": 60}, {"read_only_share": 0.5}])
def test_n_equal_databases_are_one_of_n_fold_demand(count, load):
    """Within 1 %, with throttled page writes and log.

    Commits wait for no log here, because each database has a log writer of its own; its checkpoints begin on their own as well.
    """
    load = {"delayed_durability": "FORCED", **load}
    several = Databases([database(f"D{number}", **load) for number in range(count)])
    found = rates(several)
    all_of = {"users": load.get("users", 30) * count, "warehouses": 1000 * count, "k": 200 * count}
    big = database("all", **{**load, **all_of})
    assert sum(found.values()) == pytest.approx(rates(Databases([big]))["all"], rel=0.01)
    assert max(found.values()) == pytest.approx(min(found.values()), rel=1e-6)
    assert several.unsettled == 0


def test_the_order_of_databases_does_not_matter():
    """To the last bit: counters, totals and who waited behind whom, with noise and a job."""
    each = [database("B", users=60, noise=0.05), database("A", users=90, cpu_us=900), database("C", 1, users=20, noise=0.05)]
    seen = []
    for order in (each, each[::-1], [each[1], each[0], each[2]]):
        several = Databases(order, seed=4)
        several.advance(1)
        several.flows["B"].change(backup={"devices": 4, "gb": 2})
        frame = several.advance(4)
        totals = {name: several.flows[name].totals("sql1") for name in "ABC"}
        seen.append((totals, frame[sorted(frame.columns)].to_numpy().tobytes(), several.waits()))
    assert seen[0] == seen[1] == seen[2]


def test_a_change_is_felt_in_its_own_tick():
    """A database that starts its load slows the other at once and not a tick later, and no machine does more than it can."""
    several = Databases([database("A", users=300), database("B", users=300)])
    several.flows["B"].change(users=0)
    several.advance(10)
    alone = several.flows["A"].totals("sql1")["transactions"]
    several.advance(0.1)
    alone = several.flows["A"].totals("sql1")["transactions"] - alone
    several.flows["B"].change(users=300)
    before = {name: flow.totals("sql1") for name, flow in several.flows.items()}
    several.advance(0.1)
    done = {name: flow.totals("sql1")["transactions"] - before[name]["transactions"] for name, flow in several.flows.items()}
    assert done["A"] == pytest.approx(done["B"], rel=0.02) and done["A"] < 0.7 * alone
    assert sum(done.values()) <= 1.02 * alone


def test_waits_are_divided_among_those_who_kept_the_station_busy():
    """All of a database's wait for processors is told, and most of it behind the one that computes most."""
    several = Databases([database("Small", users=20), database("Large", users=200, cpu_us=1500)])
    several.advance(5)
    rows = {(row["station"], row["database"], row["behind"]): row["ms"] for row in several.waits()}
    for name, flow in several.flows.items():
        told = rows["processors", name, "Small"] + rows["processors", name, "Large"]
        assert told == pytest.approx(flow.totals("sql1")["wait_ms.SOS_SCHEDULER_YIELD"], rel=1e-9)
    run = several.run(1)
    assert run.provenance["waits_between"][0] == several.waits()[0] and "unsettled_ticks" not in run.provenance
    assert rows["processors", "Small", "Large"] > 3 * rows["processors", "Small", "Small"] > 0
    assert Databases([database("A")]).waits() == []


def test_a_balance_that_is_not_found_is_counted():
    """An answer that jumps for ever ends after its tries and says so; one that settles is found."""
    jumping = settle(lambda x: np.where(x > 0.5, 0.0, 1.0), np.zeros(1), np.ones(1))
    assert not jumping[1] and np.isfinite(jumping[0]).all()
    steep, found = settle(lambda x: np.maximum(0.0, 0.98 - 0.99 * x[::-1]), np.array([0.9, 0.0]), np.ones(2))
    assert found and steep.sum() == pytest.approx(2 * 0.98 / 1.99, rel=1e-3)


def test_n_databases_on_n_fold_hardware_are_one():
    """Three times the cores, disks and links: each database as fast as one alone, but for what pooling gains."""
    big = {"cores": 96, "ssds": 18, "log_ssds": 12, "bandwidth_gbit_s": 240}
    small = {"bandwidth_gbit_s": 80}
    found = rates(Databases([database(f"D{number}", 2, users=60, **big) for number in range(3)]))
    alone = rates(Databases([database("A", 2, users=60, **small)]))["A"]
    assert all(alone * 0.99 <= rate <= alone * 1.1 for rate in found.values())


def test_another_database_never_helps():
    """Each further one takes from the first; on a secondary too."""
    first = [rates(Databases([database(f"D{n}", 2, users=80) for n in range(count)]))["D0"] for count in (1, 2, 4)]
    assert first[0] > first[1] > first[2] > 0


def test_the_machine_is_not_asked_for_more_than_it_can():
    """Processors stay below 100 % and are shared by need, when all together want far more."""
    several = Databases([database("A", users=200), database("B", users=100, cpu_us=600), database("C", users=100)])
    found = rates(several, 40)
    run = several.run(20)
    assert run.series("% Processor Time", "sql1").mean() <= 100
    assert set(run.provenance["databases"]) == {"A", "B", "C"}
    capacity = work_of(1.0, machine_row(several.scenarios[0]))
    asked = sum(
        rate * flow.scenario.workload.cpu_us * 1e-6 for rate, flow in zip(found.values(), several.flows.values(), strict=True)
    )
    assert 0.8 * capacity < asked <= 1.02 * capacity
    assert found["A"] > found["C"] > 0.3 * found["A"]


def test_groups_with_different_primaries_share_both_nodes():
    """Two groups, each primary on its own node: each node serves one and redoes the other."""
    several = Databases([database("A", 2), database("B", 2)])
    several.flows["B"].change(primary="sql2")
    several.advance(20)
    one, other = several.flows["A"], several.flows["B"]
    assert (
        one.totals("sql1")["log_bytes_flushed"] > 0 < other.totals("sql2")["redone_bytes"] + other.totals("sql1")["redone_bytes"]
    )
    assert one.totals("sql2")["redone_bytes"] > 0


def test_a_job_on_one_database_slows_the_other():
    """A backup of one takes processors and disk from both."""
    quiet, busy = (Databases([database("A", users=60), database("B", users=60)]) for _ in range(2))
    busy.advance(1)
    busy.flows["A"].change(backup={"compression": True, "devices": 8, "buffercount": 64, "gb": 1e4})
    assert rates(busy)["B"] < 0.97 * rates(quiet)["B"]


def test_a_run_has_the_counters_of_every_database():
    """PerfMon's instance is the database; the machine's counters stand once."""
    one = database("A")
    timed = dataclasses.replace(database("B"), timeline=())
    run = Databases([one, timed]).run(5)
    assert "SQLServer:Databases(A)\\Transactions/sec" in run.counters["sql1"].columns
    assert "SQLServer:Databases(B)\\Transactions/sec" in run.counters["sql1"].columns
    assert len(run.counters) == 5 and run.counters.columns.is_unique
    alone = Databases([database("A")]).run(5)
    both = [one.series("Batch Requests/sec").mean() for one in (alone, run)]
    assert both[1] > 1.5 * both[0]


@pytest.mark.parametrize("util", [0.1, 0.4, 0.5, 0.8, 1.0])
def test_work_is_the_inverse_of_utilisation(util):
    """Below and above the point where second threads begin to work."""
    hw = machine_row(database("A"))
    assert plain(cpu_utilisation)(work_of(util, hw), hw) == pytest.approx(util)


@pytest.mark.parametrize(
    ("scenarios", "message"),
    [
        ([], "no database is given"),
        ([database("A"), database("A")], "names must differ"),
        ([database("A"), database("B", 2)], "must have the profile, nodes"),
        ([database("A", warehouses=15000), database("B", warehouses=15000)], "do not fit the data volume"),
    ],
)
def test_databases_that_cannot_share_are_refused(scenarios, message):
    """What, and why."""
    with pytest.raises(UsageError, match=message):
        Databases(scenarios)


def test_time_moves_by_whole_ticks():
    """A part of a tick is refused."""
    with pytest.raises(UsageError, match="must be a multiple of tick_s="):
        Databases([database("A")]).advance(0.25)
