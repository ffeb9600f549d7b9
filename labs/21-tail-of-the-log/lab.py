"""Lab 21: the arms of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster; a server without a
volume for direct access refuses the log buffer with its own message.
"""

from __future__ import annotations

from aglab.core.errors import AglabError
from aglab.lab import Verdict, number_in

NODE = "sql1"
RATE = "Batch Requests/sec"
BUFFER = "OLTP_tail"
ORDINARY = "/var/opt/mssql/data"

LOG_FILES = """
SELECT name, physical_name, is_persistent_log_buffer
FROM sys.database_files WHERE type_desc = N'LOG' AND file_id <> 2 ORDER BY file_id;
"""
OPTIONS = "SELECT delayed_durability_desc, user_access_desc FROM sys.databases WHERE name = N'OLTP';"
WAITS = "SELECT waiting_tasks_count, wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type = N'WRITELOG';"


def settle(lab, directory, delayed_durability):
    """Harden commits as told: a log buffer in ``directory`` (empty for none), and with or without delayed durability."""
    extra = list(lab.sql(LOG_FILES, NODE).table.itertuples())
    if extra:
        lab.sql("ALTER DATABASE [OLTP] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;", NODE)
        for file in extra:
            lab.sql(f"ALTER DATABASE [OLTP] REMOVE FILE [{file.name}];", NODE)
    lab.sql("ALTER DATABASE [OLTP] SET MULTI_USER;", NODE)
    lab.sql(f"ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = {delayed_durability};", NODE)
    if directory:
        add_log_file(lab, directory)


def add_log_file(lab, directory):
    """A log file in a directory: a log buffer where the volume is one for direct access, an ordinary file elsewhere."""
    path = f"{directory.rstrip('/')}/{BUFFER}.pldf".replace("'", "''")
    lab.sql(f"ALTER DATABASE [OLTP] ADD LOG FILE (NAME = N'{BUFFER}', FILENAME = N'{path}', SIZE = 20MB, FILEGROWTH = 0);", NODE)


def run(lab, progress):
    """One arm for each way to harden a commit, with the paper's number of users."""
    for name, arm in lab.about["arms"].items():
        settle(lab, **arm)
        lab.measure(name, progress=progress)


def reset(lab):
    """Back to the chapter's start: nobody works, one log file, full durability, a checkpoint that disturbs nobody."""
    lab.cluster.stop_load()
    lab.cluster.restart(NODE, startup_options=["-k750"])  # chapter 16 says why
    lab.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS;", NODE)
    settle(lab, "", "DISABLED")


def check(lab, answer, progress):
    """Apply the answer, load the server, and judge the goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    users, wrong = number_in(answer, "users", 1, 100_000)
    if wrong:
        return Verdict(False, wrong, "Give the number of users who work at the same time.")
    directory, durability = answer.get("directory"), answer.get("delayed_durability")
    if not isinstance(directory, str):
        return Verdict(False, f"directory={directory!r}", "Give the directory of a log buffer as text, or '' for none.")
    if durability not in ("DISABLED", "ALLOWED", "FORCED"):
        return Verdict(False, f"delayed_durability={durability!r}", "Give 'DISABLED', 'ALLOWED' or 'FORCED'.")
    try:
        settle(lab, directory, durability)
    except AglabError as error:
        return Verdict(False, f"the server refused: {error.message}", "Which directory of this server is on a DAX volume?")
    measured = lab.measure("answer", users=users, seconds=goals["seconds"], warm_up_s=goals["warm_up_s"], progress=progress)
    buffers = lab.sql(LOG_FILES, NODE).table
    return judge(measured, goals, users, durability, directory, buffers)


def judge(measured, goals, users, durability, directory, files):
    """The verdict on one measurement."""
    rate = measured.series(RATE, NODE).mean()
    response_ms = 1000 * users / rate
    seen = f"{rate:,.0f} batch requests/s, {response_ms:.2f} ms for one (users / Batch Requests/sec)"
    if durability == "FORCED":
        hint = "Quick, but every answer comes before the commit is hardened: a power failure takes acknowledged commits away."
    elif directory and not files["is_persistent_log_buffer"].any():
        hint = "That made an ordinary second log file, and nobody commits faster for it. Look at is_persistent_log_buffer."
    elif response_ms > goals["response_ms_max"]:
        hint = "The processors are the limit now; more users only queue for them. Send some home."
    elif rate < goals["rate_min"]:
        hint = (
            "Nothing is overloaded; the users wait most of the time. Users = rate x time: shorten the time, or bring more users."
        )
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """The log buffer went to a volume without direct access; that was slow, so somebody threw a switch. Two minutes pass."""
    settle(lab, ORDINARY, "FORCED")
    lab.cluster.start_load(lab.about["load"]["users"])
    lab.cluster.wait(120)


def repaired(lab):
    """Healthy: under load, commits are hardened in a log buffer before they are answered."""
    options, files = lab.sql(OPTIONS, NODE).table, lab.sql(LOG_FILES, NODE).table
    before = lab.sql(WAITS, NODE).table
    lab.cluster.wait(30)
    after = lab.sql(WAITS, NODE).table
    verdict = judge_state(options, files, after - before)
    if verdict:
        lab.cluster.stop_load()
    return verdict


def judge_state(options, files, waits):
    """The verdict on options, log files beyond the first, and what WRITELOG grew by."""
    durability, access = options.iloc[0]
    commits, waited_ms = waits.iloc[0]
    buffers = files[files["is_persistent_log_buffer"].astype(bool)]
    others = sorted(set(files["name"]) - set(buffers["name"]))
    wait = f"{1000 * waited_ms / commits:.0f} us" if commits else "nothing"
    seen = f"DELAYED_DURABILITY is {durability}, log buffers: {len(buffers)}, a commit waits for {wait}"
    if durability != "DISABLED":
        hint = "Nobody waits because nothing is guaranteed. First take back what puts acknowledged commits at risk."
        return Verdict(False, seen, hint)
    if others:
        hint = f"{', '.join(others)} looks like a log buffer and is an ordinary log file: where does its physical_name lie?"
        return Verdict(False, seen, hint)
    if buffers.empty:
        return Verdict(False, seen, "Safe again, and slow again: the log buffer is still missing.")
    if access != "MULTI_USER":
        return Verdict(False, seen, "The database is still in single-user mode: nobody can work.")
    return Verdict(True, seen)
