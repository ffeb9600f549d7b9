"""Random schedules through TDS: running nodes, a real driver, and a checker that sees result sets only.

``AGLAB_TDS_SCHEDULES`` sets how many (12 by default; CI 50). A failing seed is printed with the statements before the failure;
``AGLAB_TDS_SEED=123`` runs that one alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tds_checker import PROMISES, Broken
from tds_schedule import TOTAL, Link, TdsSchedule

from aglab.ag import Group
from aglab.twin import Twin
from aglab.twin.shipping import Shipping

SCHEDULES = int(os.environ.get("AGLAB_TDS_SCHEDULES", "12"))
ONE_SEED = os.environ.get("AGLAB_TDS_SEED")
REPLICA = (
    "N'{0}' WITH (ENDPOINT_URL = N'TCP://{0}:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = {1}, "
    "SEEDING_MODE = AUTOMATIC, SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL))"
)
NODES = ("sql1", "sql2", "sql3")


def form(link: Link, kind: str, failover: str) -> None:
    """Drop what is there, form the group anew with this cluster type, and keep it as a snapshot."""
    for node in NODES:
        link.run(node, "DROP AVAILABILITY GROUP ag1")
    for node in NODES[1:]:
        link.run(node, "IF DB_ID('OLTP') IS NOT NULL DROP DATABASE [OLTP]")
    replicas = ", ".join(REPLICA.format(node, failover) for node in NODES)
    link.run("sql1", f"CREATE AVAILABILITY GROUP ag1 WITH (CLUSTER_TYPE = {kind}) FOR DATABASE [OLTP] REPLICA ON {replicas}")
    for node in NODES[1:]:
        link.run(node, f"ALTER AVAILABILITY GROUP ag1 JOIN WITH (CLUSTER_TYPE = {kind})")
        link.run(node, "ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE")
    link.run("sql1", "EXEC twin.advance @seconds = 3600")  # seeding
    link.run("sql1", f"EXEC twin.snapshot @name = '{kind}'")
    link.forget()


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """Three nodes with snapshots EXTERNAL, NONE and WSFC of a group with the tables of the schedules."""
    twin = Twin.start(profile="laptop-generic", state_dir=Path(tmp_path_factory.mktemp("tds")) / "s")
    made = Link(twin)
    try:
        made.run(
            "sql1",
            "CREATE TABLE dbo.work (k varchar(20) PRIMARY KEY); CREATE TABLE dbo.account (id int PRIMARY KEY, balance int);"
            f"INSERT INTO dbo.account VALUES (1, {TOTAL // 4}), (2, {TOTAL // 4}), (3, {TOTAL // 4}), (4, {TOTAL // 4});"
            "BACKUP DATABASE [OLTP] TO DISK = N'NUL'",
            "OLTP",
        )
        for kind, failover in (("EXTERNAL", "EXTERNAL"), ("NONE", "MANUAL"), ("WSFC", "AUTOMATIC")):
            form(made, kind, failover)
        yield made
    finally:
        made.forget()
        twin.stop()


def run_seed(link: Link, seed: int) -> TdsSchedule:
    """One schedule; a broken promise is reported with the seed and what was said before."""
    schedule = TdsSchedule(link, seed)
    try:
        return schedule.run()
    except Broken as broken:
        tail = "\n".join(f"  {line}" for line in schedule.history[-40:])
        raise AssertionError(f"AGLAB_TDS_SEED={seed} ({schedule.kind}): {broken}\n{tail}") from broken


def test_random_schedules_keep_the_promises(link: Link) -> None:
    """Every promise holds over random schedules, and each one was put to the test."""
    judged = dict.fromkeys(PROMISES, 0)
    for seed in [int(ONE_SEED)] if ONE_SEED else range(SCHEDULES):
        for key, count in run_seed(link, seed).checker.judged.items():
            judged[key] += count
    assert ONE_SEED or all(judged.values()), judged


def _acknowledges_at_once(self: Any, primary: Any, commit: Any) -> bool:
    return True


def _any_may_fail_over(self: Any, node: Any) -> bool:
    return all(copy.joined for copy in node.databases.values())


def _keeps_diverged_log(self: Any, node: str, database: str, to_lsn: int) -> None:
    return None


def _ships_nothing_late(self: Any, name: str, queue: list[Any]) -> None:
    queue.clear()


def _never_renews(self: Any, name: str, database: str) -> None:
    return None


MUTANTS: list[tuple[type, str, Callable[..., Any]]] = [
    (Group, "may_acknowledge", _acknowledges_at_once),
    (Group, "may_fail_over", _any_may_fail_over),
    (Group, "rewind", _keeps_diverged_log),
    (Shipping, "_apply", _ships_nothing_late),
    (Shipping, "_renew", _never_renews),
]
SEEDS_MAX = 20


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: f"{one[0].__name__}.{one[1]}")
def test_a_broken_rule_shows_to_clients(
    link: Link, monkeypatch: pytest.MonkeyPatch, mutant: tuple[type, str, Callable[..., Any]]
) -> None:
    """With a rule switched off in the nodes, some schedule breaks a promise."""
    monkeypatch.setattr(*mutant)
    for seed in range(SEEDS_MAX):
        try:
            run_seed(link, seed)
        except AssertionError:
            return
    pytest.fail(f"no schedule of {SEEDS_MAX} noticed")
