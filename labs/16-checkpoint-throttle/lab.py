"""Lab 16: the arms of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster.
"""

from __future__ import annotations

from aglab.lab import Verdict, number_in

NODE = "sql1"
TPS = "Transactions/sec"
LOG_USED = "Percent Log Used"


def start(lab):
    """The chapter's start: no startup options, simple recovery, automatic checkpoints."""
    settle(lab, k_mb_s=None, target_recovery_s=0)


def settle(lab, k_mb_s, target_recovery_s):
    """Restart with or without -k and set the checkpoint mode."""
    options = [f"-k{k_mb_s:g}"] if k_mb_s else []
    lab.cluster.restart(NODE, startup_options=options)
    lab.sql("ALTER DATABASE [OLTP] SET RECOVERY SIMPLE;", NODE)
    lab.sql(f"ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = {int(target_recovery_s)} SECONDS;", NODE)


def run(lab, progress):
    """Three arms: automatic, automatic with -k750, indirect with -k750 still on."""
    for name, k_mb_s, target in (("automatic", None, 0), ("-k750", 750, 0), ("indirect", 750, 60)):
        settle(lab, k_mb_s, target)
        lab.measure(name, progress=progress)


def reset(lab):
    """Back to the chapter's start."""
    start(lab)


def check(lab, answer, progress):
    """Apply the answer, load the server, and judge the three goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    k_mb_s, wrong = number_in(answer, "k_mb_s", 0, 1_000_000)
    if wrong:
        return Verdict(False, wrong, "Give -k in MB/s, or 0 for no throttle.")
    target, wrong = number_in(answer, "target_recovery_s", 0, 3600)
    if wrong:
        return Verdict(False, wrong, "Give TARGET_RECOVERY_TIME in seconds; 0 means automatic checkpoints.")
    length = {"seconds": goals["seconds"], "warm_up_s": goals["warm_up_s"], "progress": progress}
    if "reference" not in lab.runs:
        settle(lab, 750, 0)
        lab.measure("reference", **length)
    settle(lab, k_mb_s, target)
    measured = lab.measure("answer", **length)
    return judge(measured, lab.runs["reference"], goals, k_mb_s, target)


def judge(measured, reference, goals, k_mb_s, target):
    """The verdict on one measurement."""
    rate = measured.series(TPS, NODE)
    share = rate.mean() / reference.series(TPS, NODE).mean()
    slowest = rate.rolling(10).mean().min() / rate.mean()
    used = measured.series(LOG_USED, NODE).max()
    seen = f"{share:.0%} of the reference rate, slowest ten seconds at {slowest:.0%} of the average, log used up to {used:.1f} %"
    if slowest < goals["slowest_share"]:
        if k_mb_s > 20_000:
            hint = f"-k counts MB/s, not pages: {k_mb_s:g} MB/s is {k_mb_s * 128:,.0f} pages/s, which throttles nothing."
        else:
            hint = "Checkpoints still flood the data volume: look at Avg. Disk sec/Read while they run, and throttle harder."
    elif share < goals["throughput_share"]:
        if target > 0:
            hint = "The background writer writes hot pages too often to keep this target; -k cannot help it. Give it more time."
        else:
            hint = "Steady, but too slow: the checkpoint still takes reads' place on the data volume. Throttle a little harder."
    elif used > goals["log_used_percent"]:
        hint = "Fast and steady, but the checkpoint takes so long that the log cannot be reused. Let it write faster."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """Somebody set a far too low throttle on a database with automatic checkpoints, and let it run for half an hour."""
    settle(lab, 10, 0)
    lab.cluster.start_load()
    lab.cluster.wait(1800)


def repaired(lab):
    """Healthy: with the load still running, the log is reused again."""
    lab.cluster.wait(300)
    state = lab.sql("SELECT log_reuse_wait_desc FROM sys.databases WHERE name = N'OLTP';", NODE).value
    used = lab.sql(
        """SELECT cntr_value FROM sys.dm_os_performance_counters
           WHERE counter_name = N'Percent Log Used' AND instance_name = N'OLTP';""",
        NODE,
    ).value
    seen = f"log_reuse_wait_desc is {state}, Percent Log Used is {used}"
    if used > lab.about["exercise"]["log_used_percent"]:
        return Verdict(False, seen, "The log waits for the throttled checkpoint. Which kind of checkpoint does -k leave alone?")
    lab.cluster.stop_load()
    return Verdict(True, seen)
