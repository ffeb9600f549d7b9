"""Lab 13: the failover procedures of a group without a cluster manager, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster; one whose network
and servers are not ours to break refuses ``fault`` with its recorded reason.
"""

from __future__ import annotations

from aglab.core.errors import UsageError
from aglab.lab import StepNotPossible, Verdict, number_in

PRIMARY = "sql1"
TARGET = "sql2"
TPS = "Transactions/sec"
LOADED = "three minutes of load"
OFFLINE = "ALTER AVAILABILITY GROUP [ag1] OFFLINE;"
FOLLOW = "ALTER AVAILABILITY GROUP [ag1] SET (ROLE = SECONDARY);"
RESUME = "ALTER DATABASE [OLTP] SET HADR RESUME;"
REQUIRED = "ALTER AVAILABILITY GROUP [ag1] SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = {});"
CLUSTER_TYPE = "SELECT cluster_type_desc FROM sys.availability_groups WHERE name = N'ag1';"
ROLE = "SELECT role_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1;"
REDO = "SELECT redo_queue_size, redo_rate FROM sys.dm_hadr_database_replica_states WHERE is_local = 1;"
DRAINED_S = 60  # how long to wait between two looks at a queue that drains
DRAINED_LOOKS = 240
STATES = """
SELECT r.replica_server_name, d.synchronization_state_desc, d.is_suspended
FROM sys.dm_hadr_database_replica_states AS d
JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id
ORDER BY r.replica_server_name;
"""


def run(lab, progress):
    """The whole experiment: load, look at the queues, fail over to sql2 without loss."""
    lab.measure(LOADED, progress=progress)
    fail_over(lab, PRIMARY, TARGET)


def role(lab, node):
    """Role of a server in its own eyes."""
    return lab.sql(ROLE, node).value


def recovery_s(lab, node):
    """Seconds that redo on a secondary still needs, by the DMV."""
    queue_kb, rate_kb_s = lab.sql(REDO, node).table.iloc[0]
    return float(queue_kb) / float(rate_kb_s) if rate_kb_s and queue_kb else 0.0


def drain(lab):
    """Wait until every secondary has redone what it has."""
    for node in (one.name for one in lab.cluster.nodes):
        for _ in range(DRAINED_LOOKS):
            if role(lab, node) != "SECONDARY" or recovery_s(lab, node) == 0.0:
                break
            lab.cluster.wait(DRAINED_S)


def settle(lab, primary):
    """Everybody but ``primary`` follows it, data moves, and commits insist on nobody."""
    for node in (one.name for one in lab.cluster.nodes if one.name != primary):
        if role(lab, node) == "PRIMARY":
            lab.sql(OFFLINE, node)
        if role(lab, node) == "RESOLVING":
            lab.sql(FOLLOW, node)
        lab.sql(RESUME, node)
    lab.sql(REQUIRED.format(0), primary)


def fail_over(lab, old, target):
    """The documented procedure for CLUSTER_TYPE = NONE; seconds until the new primary's database was open."""
    if role(lab, old) == "PRIMARY":
        lab.sql(REQUIRED.format(1), old)
        lab.sql(OFFLINE, old)
    took_s = lab.run_step("06", target).table["recovery_s"].iloc[0]
    settle(lab, target)
    return took_s


def reset(lab):
    """Back to the chapter's start: every server runs and is connected, sql1 is primary, nothing is queued, nobody works."""
    found = str(lab.sql(CLUSTER_TYPE, PRIMARY).value).upper()
    if found != "NONE":
        raise UsageError(
            f"group ag1 has CLUSTER_TYPE = {found}, lab {lab.slug} needs NONE",
            "start the servers with: aglab up --cluster-type NONE",
        )
    lab.cluster.stop_load()
    for node in (one.name for one in lab.cluster.nodes):
        try:
            lab.cluster.fault("start", node=node)
            lab.cluster.fault("heal", node=node)
        except StepNotPossible:
            break  # nothing of theirs was stopped or cut by this lab
    primaries = [one.name for one in lab.cluster.nodes if role(lab, one.name) == "PRIMARY"]
    if PRIMARY not in primaries or len(primaries) > 1:
        serving = next((one for one in primaries if one != PRIMARY), PRIMARY)
        settle(lab, serving)
        drain(lab)
        if serving != PRIMARY:
            fail_over(lab, serving, PRIMARY)
    settle(lab, PRIMARY)
    drain(lab)
    lab.cluster.restart(PRIMARY, startup_options=["-k750"])  # as the paper's server; chapter 16 says why
    lab.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS;", PRIMARY)
    lab.cluster.wait(30)


def check(lab, answer, progress):
    """Apply the answer, load the servers for five minutes, and judge the goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    users, wrong = number_in(answer, "users", 1, 100_000)
    if wrong:
        return Verdict(False, wrong, "Give the number of users who work at the same time.")
    said_s, wrong = number_in(answer, "recovery_s", 0, 1e12)
    if wrong:
        return Verdict(False, wrong, "Give the seconds that a failover after these five minutes would wait for redo.")
    drain(lab)
    measured = lab.measure("answer", seconds=goals["seconds"], users=users, progress=progress)
    return judge(measured.series(TPS, PRIMARY).mean(), recovery_s(lab, TARGET), said_s, goals)


def judge(rate, real_s, said_s, goals):
    """The verdict on one measurement."""
    seen = f"{rate:,.0f} transactions/s; a failover to {TARGET} would wait {real_s:.0f} s for redo, you said {said_s:,.0f} s"
    if real_s > goals["recovery_s_max"]:
        hint = "Log arrives faster than one database can be redone, and the difference piles up. Fewer users, or a lower rate."
    elif rate < goals["rate_min"]:
        hint = f"Safe, but the business needs {goals['rate_min']:,} transactions/s. How much log a second can redo take?"
    elif abs(said_s - real_s) <= max(goals["tolerance_s"], goals["tolerance"] * real_s):
        return Verdict(True, seen)
    elif said_s > 100 * max(real_s, goals["tolerance_s"]):
        hint = "Is that KB? redo_queue_size is in KB; divided by redo_rate in KB/s it becomes seconds."
    else:
        hint = "The load is right, the time is not. Queue = (log made - log redone) x 300 s; time = queue / redo rate."
    return Verdict(False, seen, hint)


def break_it(lab):
    """Somebody failed over to sql2 by the book, was called away after the third step, and went home."""
    lab.cluster.stop_load()
    drain(lab)
    lab.sql(REQUIRED.format(1), PRIMARY)
    lab.sql(OFFLINE, PRIMARY)
    lab.run_step("06", TARGET)
    lab.cluster.wait(60)


def repaired(lab):
    """Healthy: one primary, every other copy follows it, is synchronized and not suspended."""
    lab.cluster.wait(60)
    roles = {one.name: role(lab, one.name) for one in lab.cluster.nodes}
    primaries = [name for name, said in roles.items() if said == "PRIMARY"]
    states = lab.sql(STATES, primaries[0]).tables[0] if len(primaries) == 1 else None
    return judge_states(roles, states)


def judge_states(roles, states):
    """The verdict on the roles of the servers and on what the one primary says of the copies."""
    said = ", ".join(f"{name} is {word}" for name, word in roles.items())
    primaries = [name for name, word in roles.items() if word == "PRIMARY"]
    if len(primaries) != 1:
        hint = "There must be one primary. Which server has the newest data, and which one only believes that it is in charge?"
        return Verdict(False, said, hint)
    idle = [name for name, word in roles.items() if word == "RESOLVING"]
    if idle:
        hint = f"{', '.join(idle)} has no role: it was taken offline and never told whom to follow. Which step does that?"
        return Verdict(False, said, hint)
    suspended = [row.replica_server_name for row in states.itertuples() if row.is_suspended]
    if suspended:
        hint = f"Every copy follows, but no log moves to {', '.join(suspended)}: a forced failover suspends the others."
        return Verdict(False, said, hint)
    late = [row.replica_server_name for row in states.itertuples() if row.synchronization_state_desc != "SYNCHRONIZED"]
    if late:
        return Verdict(False, said, f"{', '.join(late)} still catches up. Wait, then ask again.")
    return Verdict(True, said + "; every copy is SYNCHRONIZED")
