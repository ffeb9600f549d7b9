"""Lab 12: the arms of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster; one whose
network is not ours to stretch refuses ``fault`` with its recorded reason.
"""

from __future__ import annotations

from aglab.lab import Verdict, number_in

PRIMARY = "sql1"
SECONDARIES = ("sql2", "sql3")
TPS = "Transactions/sec"
LOCAL = "local, 0.05 ms"
REGION = "region, 10 ms"

STATES = """
SELECT r.replica_server_name, d.synchronization_state_desc, d.log_send_queue_size
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
WHERE d.database_id = DB_ID(N'OLTP') AND d.is_primary_replica = 0
ORDER BY r.replica_server_name;
"""


def stretch(lab, rtt_us):
    """Give the network between the replicas this round trip."""
    lab.cluster.fault("delay", rtt_us=rtt_us)


def run(lab, progress):
    """One arm for each round trip of lab.toml, with the lab's own number of users."""
    for name, rtt_us in lab.about["arms"].items():
        stretch(lab, rtt_us)
        lab.measure(name, progress=progress)


def reset(lab):
    """Back to the chapter's start: nobody works, checkpoints as on the paper's server, all data moves, the network is local."""
    lab.cluster.stop_load()
    lab.cluster.restart(PRIMARY, startup_options=["-k750"])  # as the paper's server; chapter 16 says why
    lab.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS;", PRIMARY)
    for node in SECONDARIES:
        lab.sql("ALTER DATABASE [OLTP] SET HADR RESUME;", node)
    stretch(lab, lab.about["arms"][LOCAL])


def check(lab, answer, progress):
    """Apply the answer, load the servers, and judge the goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    rtt_us, wrong = number_in(answer, "rtt_us", 0, 1_000_000)
    if wrong:
        return Verdict(False, wrong, "Give the round trip in microseconds: 1 ms is 1000.")
    users, wrong = number_in(answer, "users", 1, 100_000)
    if wrong:
        return Verdict(False, wrong, "Give the number of users who work at the same time.")
    if rtt_us < goals["rtt_us_min"]:
        return Verdict(False, f"a round trip of {rtt_us:g} us", _too_near(rtt_us, goals))
    length = {"seconds": goals["seconds"], "warm_up_s": goals["warm_up_s"], "progress": progress}
    if LOCAL not in lab.runs:
        stretch(lab, lab.about["arms"][LOCAL])
        lab.measure(LOCAL, **length)
    stretch(lab, rtt_us)
    measured = lab.measure("answer", users=users, **length)
    return judge(measured, lab.runs[LOCAL], goals, rtt_us, users)


def _too_near(rtt_us, goals):
    if rtt_us <= 100 and rtt_us * 1000 >= goals["rtt_us_min"]:
        return f"Is that milliseconds? rtt_us counts microseconds: {rtt_us:g} ms is {rtt_us * 1000:,.0f}."
    return f"Light in fibre needs {goals['rtt_us_min']:,} us to the other site and back; no network is quicker than that."


def judge(measured, local, goals, rtt_us, users):
    """The verdict on one measurement."""
    rate = measured.series(TPS, PRIMARY).mean()
    share = rate / local.series(TPS, PRIMARY).mean()
    response_ms = 1000 * users / rate
    seen = f"{share:.0%} of the local rate, {response_ms:.1f} ms for a transaction (users / Transactions/sec)"
    if rtt_us / 1000 >= goals["response_ms_max"]:
        hint = f"One round trip is {rtt_us / 1000:g} ms, more than a transaction may take: no number of users helps. Move nearer."
    elif share < goals["throughput_share"]:
        hint = "Nothing is overloaded, there are too few users: each mostly waits for the network. Users = rate x time."
    elif response_ms > goals["response_ms_max"]:
        hint = "The rate is as high as the processor allows; more users only queue for it. Send some home."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """The secondaries stand 10 ms away; for quick commits somebody suspended data movement on both. Three minutes pass."""
    stretch(lab, lab.about["arms"][REGION])
    for node in SECONDARIES:
        lab.sql("ALTER DATABASE [OLTP] SET HADR SUSPEND;", node)
    lab.cluster.start_load(lab.about["load"]["users"])
    lab.cluster.wait(180)


def repaired(lab):
    """Healthy: with the load still running, both copies are synchronized and have been sent everything."""
    lab.cluster.wait(60)
    return judge_states(lab, lab.sql(STATES, PRIMARY).tables[0])


def judge_states(lab, states):
    """The verdict on what the primary says of its secondaries."""
    said, stopped, behind = [], [], []
    for row in states.itertuples():
        name, state = row.replica_server_name, row.synchronization_state_desc
        queue_mb = (row.log_send_queue_size or 0) / 1024
        said.append(f"{name} is {state} with {queue_mb:,.0f} MB to be sent")
        if state == "NOT SYNCHRONIZING":
            stopped.append(name)
        elif state != "SYNCHRONIZED" or queue_mb >= 1:
            behind.append(name)
    seen = "; ".join(said)
    if stopped:
        where = ", ".join(stopped)
        hint = f"Data movement is suspended; resume it where the copy is: {where}. Slow commits are the price of safe ones."
        return Verdict(False, seen, hint)
    if behind:
        hint = f"Data moves again, and {', '.join(behind)} must be sent what it missed. Wait, then ask again."
        return Verdict(False, seen, hint)
    lab.cluster.stop_load()
    return Verdict(True, seen)
