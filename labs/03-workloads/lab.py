"""Lab 3: rows, the mix on concurrent sessions, the arms of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pandas as pd

from aglab.lab import Verdict, number_in

PRIMARY = "sql1"
SCHEMA = Path(__file__).resolve().parent / "schema"
WEIGHTS = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}
REFERENCE: dict[str, float] = {}  # counts of the mix as it came, and orders a minute before something was broken
COUNTS = ["new_orders", "others", "rolled_back", "deadlock_victims"]


def load_rows(lab):
    """Tables, procedures and rows, as new; the last script's counts."""
    for name in ("01_tables", "02_procedures", "03_load"):
        result = lab.sql((SCHEMA / f"{name}.sql").read_text(encoding="utf-8"), PRIMARY)
    return result.table


def consistency(lab):
    """One row for each condition, with the number of places where it does not hold."""
    return lab.sql((SCHEMA / "04_consistency.sql").read_text(encoding="utf-8"), PRIMARY).table


def mix(lab, sort_lines=False, **weights):
    """Let sessions run the mix side by side; one row of counts for each.

    Rows are loaded anew first, so that every arm starts from the same database. ``weights`` are percent by procedure.
    """
    load_rows(lab)
    return work(lab, sort_lines, **weights)


def work(lab, sort_lines=False, **weights):
    """The mix on the rows as they are."""
    about = lab.about["mix"]
    given = {**WEIGHTS, **weights}
    options = ", ".join(f"@{name} = {int(percent)}" for name, percent in given.items())
    rest = f"@seed = {about['seed']}, @pause = '{about['pause']}', @sort_lines = {int(sort_lines)}, {options}"
    connections = [lab.cluster.connect(PRIMARY, lab.cluster.database) for _ in range(about["sessions"])]
    tables, failures = {}, []

    def user(number, connection):
        text = f"WAITFOR DELAY '00:00:01'; EXEC dbo.run_mix @user = {number}, @transactions = {about['transactions']}, {rest};"
        try:
            tables[number] = connection.run(text).table
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(error)
        finally:
            lab.cluster.leave(connection)

    try:
        for connection in connections:
            lab.cluster.enroll(connection)
        threads = [threading.Thread(target=user, args=pair, daemon=True) for pair in enumerate(connections, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # so that Ctrl-C is heard
    finally:
        for connection in connections:
            connection.close()
    if failures:
        raise failures[0]
    return pd.concat([tables[number] for number in sorted(tables)], ignore_index=True)


def sums(lab, rows):
    """Counts over all sessions, and new orders a minute from the slowest session's time on the server."""
    found = {name: int(rows[name].sum()) for name in COUNTS}
    return {**found, "orders_a_minute": float(60_000 * found["new_orders"] / rows["elapsed_ms"].max())}


def settle(lab, k_mb_s=None):
    """Restart with or without -k; automatic checkpoints and simple recovery, as Table 6 is read."""
    lab.cluster.restart(PRIMARY, startup_options=[f"-k{k_mb_s}"] if k_mb_s else [])
    lab.sql("ALTER DATABASE [OLTP] SET RECOVERY SIMPLE; ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS;", PRIMARY)


def run(lab, progress):
    """The load with and without -k750, then the mix as it came and with sorted orders."""
    for name, k_mb_s in (("default", None), ("-k750", 750)):
        settle(lab, k_mb_s)
        lab.measure(name, progress=progress)
    for sort_lines in (False, True):
        mix(lab, sort_lines)


def reset(lab):
    """Back to the chapter's start: nobody works, no startup options, new rows."""
    lab.cluster.stop_load()
    settle(lab)
    load_rows(lab)


def check(lab, answer, progress):
    """Run the mix as the answer says, and judge the goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    shares = {}
    for name in ("new_order", "payment"):
        shares[name], wrong = number_in(answer, name, 0, 100)
        if wrong:
            return Verdict(False, wrong, f"Give the share of dbo.{name} in percent.")
    sort_lines, wrong = number_in(answer, "sort_lines", 0, 1)
    if wrong:
        return Verdict(False, wrong, "1 sorts the items of an order before their stock is locked, 0 does not.")
    rest = 100 - sum(shares.values())
    seen = f"{shares['new_order']:g} % new_order, {shares['payment']:g} % payment, {rest:g} % for the other three"
    if rest < 3 * goals["other_min"] or shares["payment"] < goals["payment_min"]:
        hint = (
            f"The specification wants at least {goals['payment_min']} % payments and {goals['other_min']} % of each other kind."
        )
        return Verdict(False, seen, hint)
    if "deadlock_victims" not in REFERENCE:
        REFERENCE.update(sums(lab, mix(lab)))
    third = rest // 3
    others = {"order_status": third, "delivery": third, "stock_level": rest - 2 * third}
    measured = sums(lab, mix(lab, bool(sort_lines), **shares, **others))
    return judge(measured, REFERENCE, goals)


def judge(measured, reference, goals):
    """The verdict on one run of the mix."""
    share = measured["orders_a_minute"] / reference["orders_a_minute"]
    seen = f"{measured['deadlock_victims']} deadlock victims, {share:.0%} of the new orders a minute of the mix as it came"
    if measured["deadlock_victims"] > goals["victims_max"]:
        if measured["deadlock_victims"] < reference["deadlock_victims"]:
            hint = "Fewer, not none: fewer orders meet, but those that meet still lock their stock in any order."
        else:
            hint = "Two orders that name the same two items the other way round wait for each other. Which order prevents it?"
    elif share < goals["orders_share"]:
        hint = "No victims, and too few orders: the weights removed the work with the deadlocks. Remove the cause instead."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """Somebody found the primary key of the stock in the way of a load and did not put it back."""
    REFERENCE["healthy"] = sums(lab, mix(lab, sort_lines=True))["orders_a_minute"]
    lab.sql("ALTER TABLE dbo.stock DROP CONSTRAINT pk_stock;", PRIMARY)


def repaired(lab):
    """Healthy: sorted orders get through as they did before, and every condition holds."""
    counts = sums(lab, work(lab, sort_lines=True))
    share = counts["orders_a_minute"] / REFERENCE["healthy"]
    broken = int((consistency(lab)["violations"] > 0).sum())
    seen = f"{share:.0%} of the new orders a minute of before, {broken} conditions broken"
    if share < lab.about["exercise"]["orders_share"] or broken:
        hint = "To find one row of the stock an order looks at all, and waits for any that is locked. What would lead to it?"
        return Verdict(False, seen, hint)
    return Verdict(True, seen)
