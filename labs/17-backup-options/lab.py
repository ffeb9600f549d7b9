"""Lab 17: the arms of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster.
"""

from __future__ import annotations

import threading

from aglab.core.errors import AglabError
from aglab.lab import Verdict, number_in, sampler

NODE = "sql1"
TPS = "Transactions/sec"
BACKUP = "Backup/Restore Throughput/sec"
FILE = "OLTP_lab17.bak"
WAITS = "SELECT waiting_tasks_count, wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type = N'WRITELOG';"
CHAIN = """
SELECT b.type, CASE WHEN f.physical_device_name LIKE N'NUL%' THEN 1 ELSE 0 END AS lost, b.backup_set_id
FROM msdb.dbo.backupset AS b
JOIN msdb.dbo.backupmediafamily AS f ON f.media_set_id = b.media_set_id AND f.family_sequence_number = 1
WHERE b.database_name = N'OLTP' AND b.is_copy_only = 0
ORDER BY b.backup_set_id;"""


def reset(lab):
    """Back to the chapter's start: no load, full recovery, the server's own defaults, no trace flags."""
    lab.cluster.stop_load()
    lab.sql("ALTER DATABASE [OLTP] SET RECOVERY FULL; ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 60 SECONDS;", NODE)
    lab.sql("DBCC TRACEOFF(3213, 3605, -1);", NODE)


def run(lab, progress):
    """The load alone, then beside each arm's backup to a file."""
    lab.measure("alone", progress=progress)
    for name, options in lab.about["arms"].items():
        lab.runs[name] = beside(lab, name, statement(options))


def statement(options):
    """A backup to the lab's file."""
    return f"BACKUP DATABASE [OLTP] TO DISK = N'{FILE}' WITH FORMAT, COPY_ONLY, {options};"


def beside(lab, name, text):
    """A Run of the load while a backup shares its machine; the load ends then, the backup goes on to its end.

    The sampling session is enrolled and idle until the backup runs, so that both begin at the same moment.
    """
    cluster, load = lab.cluster, lab.about["load"]
    cluster.start_load(load["users"])
    cluster.wait(load["warm_up_s"])
    failures = []

    def work(connection):
        try:
            connection.run(text)
        except AglabError as error:
            failures.append(error)

    try:
        with cluster.connect(NODE) as sampling, cluster.connect(NODE) as backing:
            cluster.enroll(sampling)
            spid = backing.run("SELECT @@SPID AS spid;").value
            thread = threading.Thread(target=work, args=(backing,), daemon=True)
            thread.start()
            while thread.is_alive() and not percent_done(lab, spid):
                thread.join(0.01)
            before = lab.cluster.sql(WAITS, NODE).table
            answer = sampling.run(sampler.script(load["seconds"], load["sample_s"], cluster.database))
            after = lab.cluster.sql(WAITS, NODE).table
            cluster.stop_load()
            cluster.leave(sampling)
            while thread.is_alive():
                thread.join(0.2)  # so that Ctrl-C is heard
    finally:
        cluster.stop_load()
    if failures:
        raise failures[0]
    return as_run(lab, name, answer, before, after)


def percent_done(lab, spid):
    """Whether the backup of a session has begun."""
    asked = f"SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = {spid} AND command = N'BACKUP DATABASE'"
    return lab.cluster.sql(f"{asked} AND wait_type IS NOT NULL;", NODE).value


def as_run(lab, name, answer, before, after):
    """The samples as a Run, with the average wait of a commit for its log."""
    from aglab.record import Run

    load = lab.about["load"]
    counters = sampler.frame(NODE, answer.tables, load["sample_s"], lab.cluster.database)
    waited = (after - before).iloc[0]
    commit_ms = float(waited["wait_time_ms"] / max(1, waited["waiting_tasks_count"]))
    return Run(counters, [], {**lab.cluster.provenance(), "lab": lab.slug, "arm": name, "commit_ms": round(commit_ms, 3)})


def check(lab, answer, progress):
    """Back up beside the load with the answer's options and judge the three goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    size_kb, wrong = number_in(answer, "maxtransfersize_kb", 64, 4096)
    if not wrong and size_kb % 64:
        wrong = f"maxtransfersize_kb={size_kb!r} must be a multiple of 64"
    if wrong:
        return Verdict(False, wrong, "MAXTRANSFERSIZE goes from 64 KB to 4 MB in steps of 64 KB.")
    buffers, wrong = number_in(answer, "buffercount", 1, 100_000)
    if wrong:
        return Verdict(False, wrong, "BUFFERCOUNT is a whole number of buffers, 1 or more.")
    compression = answer.get("compression")
    if not isinstance(compression, bool):
        return Verdict(False, f"compression={compression!r} must be True or False", "Say whether to compress.")
    if "alone" not in lab.runs:
        lab.measure("alone", progress=progress)
    word = "COMPRESSION" if compression else "NO_COMPRESSION"
    options = f"{word}, MAXTRANSFERSIZE = {int(size_kb) * 1024}, BUFFERCOUNT = {int(buffers)}"
    measured = beside(lab, "answer", statement(options))
    memory_mb = buffers * size_kb / 1024 * (3 if compression else 1)
    return judge(measured, lab.runs["alone"], goals, compression, size_kb, memory_mb)


def judge(measured, alone, goals, compression, size_kb, memory_mb):
    """The verdict on one measurement."""
    mb_s = measured.series(BACKUP, NODE).mean() / 1e6
    share = measured.series(TPS, NODE).mean() / alone.series(TPS, NODE).mean()
    seen = f"{mb_s:,.0f} MB/s, the load at {share:.0%} of its rate, {memory_mb:,.0f} MB of buffers"
    if share < goals["load_share"]:
        hint = "The backup has a worker on so many schedulers that every commit waits behind one. Give it fewer buffers."
    elif mb_s < goals["mb_s"] and not compression:
        hint = "The target is the limit: it takes so many bytes of file a second. Buffers do not change that; send fewer bytes."
    elif mb_s < goals["mb_s"] and size_kb < 128:
        hint = "Many small writes: after each, the one device waits for a processor. Make each transfer larger."
    elif mb_s < goals["mb_s"]:
        hint = (
            "Each buffer is compressed by one worker at a time, and there are too few buffers in flight to keep the target busy."
        )
    elif memory_mb > goals["memory_mb"]:
        hint = "Quick enough and kind enough, but it takes too much memory: compressed backups need three sets of buffers."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """A benchmark's log backup to NUL stayed in the nightly job: the history looks complete."""
    lab.cluster.stop_load()
    lab.sql(f"BACKUP DATABASE [OLTP] TO DISK = N'{FILE}' WITH FORMAT, {lab.about['arms']['switches']};", NODE)
    lab.cluster.start_load(lab.about["load"]["users"])
    for device in ("NUL", "OLTP_lab17.trn"):
        lab.cluster.wait(120)
        lab.sql(f"BACKUP LOG [OLTP] TO DISK = N'{device}' WITH COMPRESSION;", NODE)
    lab.cluster.stop_load()


def repaired(lab):
    """Healthy: a data backup bridges the hole, on a device that keeps it, and the log goes on from there."""
    sets = lab.cluster.sql(CHAIN, NODE).table
    return judge_chain([(one.type, bool(one.lost)) for one in sets.itertuples()])


def judge_chain(sets):
    """The verdict on backup sets, oldest first: type (D, I, L) and whether its device keeps nothing."""
    holes = [place for place, (kind, lost) in enumerate(sets) if kind == "L" and lost]
    hole = holes[-1] if holes else -1
    after = sets[hole + 1 :]
    data = [place for place, (kind, lost) in enumerate(after) if kind in "DI" and not lost]
    log = any(kind == "L" and not lost for kind, lost in after[data[-1] + 1 :]) if data else False
    seen = f"{len(sets)} sets, {len(holes)} log backup(s) on NUL, {len(data)} data backup(s) kept since"
    if not data and any(kind in "DI" for kind, _ in after):
        return Verdict(False, seen, "That backup went to NUL as well: nothing can be restored from it. Use a file.")
    if not data:
        return Verdict(
            False, seen, "A log backup is missing in the middle. No later log backup closes that hole; a data backup does."
        )
    if not log:
        return Verdict(False, seen, "The base is there again. Now back up the log to a file, so that the chain goes on from it.")
    return Verdict(True, seen)
