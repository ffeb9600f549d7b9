"""SQL Server Agent: jobs run as their owner, on their schedules, and msdb says how it went."""

import contextlib

import pytest
from twin_client import fails, run

PASSWORD = "Str0ng-Password"
HISTORY = """SELECT h.step_id, h.run_status, h.message FROM msdb.dbo.sysjobhistory h
JOIN msdb.dbo.sysjobs j ON j.job_id = h.job_id
WHERE j.name = '{}' ORDER BY h.instance_id"""


def make(sql, name, *steps, schedule=""):
    """A job at the local server."""
    text = f"USE msdb; EXEC dbo.sp_add_job @job_name = N'{name}'; "
    for number, step in enumerate(steps, start=1):
        text += f"EXEC dbo.sp_add_jobstep @job_name = N'{name}', @step_name = N'step {number}', {step}; "
    if schedule:
        text += f"EXEC dbo.sp_add_jobschedule @job_name = N'{name}', @name = N'{name} times', {schedule}; "
    sql(text + f"EXEC dbo.sp_add_jobserver @job_name = N'{name}'")


def finish(link, name):
    """Wait on the twin's clock until the job has stopped; its history."""
    link.sql(f"""DECLARE @n int = 0
    WHILE @n < 200 AND EXISTS (SELECT 1 FROM msdb.dbo.sysjobactivity a JOIN msdb.dbo.sysjobs j ON j.job_id = a.job_id
        WHERE j.name = N'{name}' AND a.start_execution_date IS NOT NULL AND a.stop_execution_date IS NULL)
    BEGIN WAITFOR DELAY '00:00:01'; SET @n += 1 END""")
    return [tuple(row.values()) for row in link.rows(HISTORY.format(name))]


def test_the_backup_job_of_a_group_runs_on_its_preferred_replica(own):
    """The same job on each node: one of them backs up, the others end with success and do nothing."""
    command = """@database_name = N'master', @command = N'IF sys.fn_hadr_backup_is_preferred_replica(N''OLTP'') = 1
        BACKUP LOG OLTP TO DISK = N''NUL''', @on_success_action = 1"""
    taken = {}
    for node in ("sql1", "sql2", "sql3"):
        with contextlib.closing(own.connect(node)) as link:
            make(lambda text, link=link: run(link, text), "log backup", command)
            run(link, "EXEC msdb.dbo.sp_start_job N'log backup'")
            run(link, "WAITFOR DELAY '00:01:00'")
            done = run(link, HISTORY.format("log backup"))[0]
            assert [(row["step_id"], row["run_status"]) for row in done] == [(1, 1), (0, 1)]
            taken[node] = run(link, "SELECT COUNT(*) AS n FROM msdb.dbo.backupset WHERE type = 'L'")[0][0]["n"]
    assert sorted(taken.values()) == [0, 0, 1]
    preferred = [n for n in taken if own.value("SELECT sys.fn_hadr_backup_is_preferred_replica('OLTP')", node=n)]
    assert [node for node, count in taken.items() if count] == preferred


def test_steps_follow_their_actions_and_failures_are_told(own):
    """A failed step is retried, then goes where it should; rows it wrote stay, history has each try and the outcome."""
    own.sql("CREATE TABLE dbo.told (n int)", database="OLTP")
    make(
        own.sql,
        "two",
        "@database_name = N'OLTP', @command = N'INSERT dbo.told VALUES (1)\nGO\nRAISERROR(N''not today'', 16, 1)', "
        "@retry_attempts = 1, @retry_interval = 5, @on_fail_action = 4, @on_fail_step_id = 3",
        "@database_name = N'OLTP', @command = N'INSERT dbo.told VALUES (2)'",
        "@database_name = N'OLTP', @command = N'PRINT N''last''; INSERT dbo.told VALUES (3)'",
    )
    began = own.value("SELECT SYSDATETIME()")
    own.sql("EXEC msdb.dbo.sp_start_job @job_name = N'two'")
    history = finish(own, "two")
    assert [(step, status) for step, status, _ in history] == [(1, 2), (1, 0), (3, 1), (0, 1)]
    assert "not today [SQLSTATE 42000] (Error 50000).  The step failed." in history[1][2]
    assert history[3][2].endswith("The last step to run was step 3 (step 3).")
    assert [row["n"] for row in own.rows("SELECT n FROM dbo.told ORDER BY n", database="OLTP")] == [1, 1, 3]
    assert (own.value("SELECT SYSDATETIME()") - began).total_seconds() >= 300
    help_rows = own.rows("EXEC msdb.dbo.sp_help_job @job_name = N'two'")
    assert [(row["last_run_outcome"], row["has_step"], row["current_execution_status"]) for row in help_rows] == [(1, 3, 4)]
    assert len(own.rows("EXEC msdb.dbo.sp_help_jobhistory @job_name = N'two', @mode = 'FULL'")) == 4


def test_a_schedule_runs_as_time_passes(own):
    """Every ten minutes within an hour of waiting: six runs; a disabled schedule runs no more; time alone makes nothing jump."""
    own.sql("CREATE TABLE dbo.ticks (at_time datetime)", database="OLTP")
    every = "@freq_type = 4, @freq_interval = 1, @freq_subday_type = 4, @freq_subday_interval = 10"
    make(own.sql, "tick", "@database_name = N'OLTP', @command = N'INSERT dbo.ticks VALUES (GETDATE())'", schedule=every)
    before = own.value("SELECT SYSDATETIME()")
    assert (own.value("SELECT SYSDATETIME()") - before).total_seconds() < 60
    own.sql("WAITFOR DELAY '01:00:00'")
    rows = own.rows("SELECT at_time AS t FROM dbo.ticks ORDER BY t", database="OLTP")
    assert len(rows) == 6
    assert all(row["t"].minute % 10 == 0 and row["t"].second == 0 for row in rows)
    assert own.value("SELECT DISTINCT run_requested_source FROM msdb.dbo.sysjobactivity") == "3"
    own.sql("EXEC msdb.dbo.sp_update_schedule @name = N'tick times', @enabled = 0; WAITFOR DELAY '01:00:00'")
    assert own.value("SELECT COUNT(*) FROM dbo.ticks", database="OLTP") == 6


def test_a_job_runs_as_its_owner_and_can_be_stopped(own):
    """A login without permission fails in its own name; a running job is stopped, its session is gone."""
    own.sql(f"CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}'")
    make(own.sql, "of ann", "@command = N'BACKUP DATABASE OLTP TO DISK = N''NUL'''")
    own.sql("EXEC msdb.dbo.sp_update_job @job_name = N'of ann', @owner_login_name = N'ann'; EXEC msdb.dbo.sp_start_job N'of ann'")
    history = finish(own, "of ann")
    assert [(step, status) for step, status, _ in history] == [(1, 0), (0, 0)]
    assert "Executed as user: guest." in history[0][2]
    make(own.sql, "long", "@command = N'WAITFOR DELAY ''23:00:00'''")
    with contextlib.closing(own.connect()) as link:
        run(link, "EXEC twin.enroll")
        run(link, "EXEC msdb.dbo.sp_start_job N'long'")
        assert run(link, "SELECT COUNT(*) AS n FROM sys.dm_exec_sessions WHERE program_name LIKE N'SQLAgent%'")[0][0]["n"] == 1
        assert "already running" in fails(link, "EXEC msdb.dbo.sp_start_job N'long'")
        run(link, "EXEC msdb.dbo.sp_stop_job N'long'")
        run(link, "WAITFOR DELAY '00:00:01'")
        assert run(link, "SELECT COUNT(*) AS n FROM sys.dm_exec_sessions WHERE program_name LIKE N'SQLAgent%'")[0][0]["n"] == 0
        assert "not currently running" in fails(link, "EXEC msdb.dbo.sp_stop_job N'long'")
    assert own.rows(HISTORY.format("long"))[-1]["run_status"] == 3


def test_jobs_survive_a_restart_and_start_with_the_agent(own):
    """Definitions and history are kept; a job with freq_type 64 runs when the instance starts."""
    own.sql("CREATE TABLE dbo.woke (n int)", database="OLTP", node="sql1")
    make(own.sql, "wake", "@database_name = N'master', @command = N'PRINT N''up'''", schedule="@freq_type = 64")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    own.sql("WAITFOR DELAY '00:00:05'")
    assert [(step, status) for step, status, _ in finish(own, "wake")] == [(1, 1), (0, 1)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("EXEC msdb.dbo.sp_start_job N'nosuch'", "The specified @job_name ('nosuch') does not exist."),
        ("EXEC msdb.dbo.sp_start_job N'bare'", "does not have any job server or servers defined"),
        ("EXEC msdb.dbo.sp_add_job N'bare'", "The specified @job_name ('bare') already exists."),
        ("EXEC msdb.dbo.sp_add_job N'x', @wrong = 1", "@wrong is not a parameter for procedure sp_add_job"),
        ("EXEC sp_add_job N'x'", "Could not find stored procedure"),
        ("EXEC msdb.dbo.sp_add_jobstep @job_name = N'bare', @step_name = N's', @subsystem = N'CmdExec'", "does not implement"),
        ("EXEC msdb.dbo.sp_add_jobstep @job_name = N'bare', @step_name = N's', @database_name = N'no'", "@database_name ('no')"),
        ("EXEC msdb.dbo.sp_add_schedule N's', @freq_type = 7", "The specified '@freq_type' is invalid"),
        ("EXEC msdb.dbo.sp_add_schedule N's', @freq_type = 8, @freq_interval = 0", "The schedule for this job is invalid"),
        ("EXEC msdb.dbo.sp_add_schedule N's', @freq_type = 4, @freq_interval = 1, @active_start_time = 250000", "invalid time"),
        ("EXEC msdb.dbo.sp_attach_schedule @job_name = N'bare', @schedule_name = N'no'", "The specified @schedule_name ('no')"),
        ("EXEC msdb.dbo.sp_add_job N'y', @owner_login_name = N'no'", "The specified '@owner_login_name' is invalid"),
        ("EXEC msdb.dbo.sp_add_job N'y', @category_name = N'no'", "The specified '@category_name' is invalid"),
        ("EXEC msdb.dbo.sp_delete_job", "Supply either @job_id or @job_name to identify the job."),
        ("EXEC xp_servicecontrol N'QueryState', N'SQLServerAgent'", "does not implement xp_servicecontrol"),
    ],
)
def test_what_is_wrong_is_named(own, text, words):
    """Each mistake has the words of SQL Server, or the twin's own refusal by name."""
    own.sql("EXEC msdb.dbo.sp_add_job N'bare'")
    with contextlib.closing(own.connect()) as link:
        assert words in fails(link, text)


def test_permission_on_jobs(own):
    """Without a role of msdb a login may do nothing with jobs."""
    own.sql(f"CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}'")
    with contextlib.closing(own.connect(user="ann", password=PASSWORD)) as link:
        assert "The EXECUTE permission was denied on the object 'sp_add_job'" in fails(link, "EXEC msdb.dbo.sp_add_job N'x'")
