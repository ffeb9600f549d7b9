"""msdb's tables of SQL Server Agent ("SQL Server Agent Tables", SQL Server documentation).

The instance's come from the node. The msdb of a contained availability group keeps jobs, steps and servers itself; none of them
runs, and outcomes stay at "unknown" (5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database

NEVER_RUN = {"last_run_outcome": 5, "last_run_duration": 0, "last_run_date": 0, "last_run_time": 0}
Rows = Callable[[Any, Database, tuple[Any, ...]], Iterator[Any]]
_TABLES = (
    """msdb.sysjobs: job_id uniqueidentifier!, originating_server_id int!, name sysname!, enabled tinyint!, description nvarchar(512),
    start_step_id int!, category_id int!, owner_sid varbinary(85)!, notify_level_eventlog int!, notify_level_email int!,
    notify_level_netsend int!, notify_level_page int!, notify_email_operator_id int!, notify_netsend_operator_id int!,
    notify_page_operator_id int!, delete_level int!, date_created datetime!, date_modified datetime!, version_number int!""",
    """msdb.sysjobschedules: schedule_id int, job_id uniqueidentifier, next_run_date int!, next_run_time int!""",
    """msdb.sysjobhistory: instance_id int!, job_id uniqueidentifier!, step_id int!, step_name sysname!, sql_message_id int!,
    sql_severity int!, message nvarchar(4000), run_status int!, run_date int!, run_time int!, run_duration int!,
    operator_id_emailed int!, operator_id_netsent int!, operator_id_paged int!, retries_attempted int!, server sysname!""",
    """msdb.sysjobsteps: job_id uniqueidentifier!, step_id int!, step_name sysname!, subsystem nvarchar(40)!, command nvarchar(max),
    flags int!, additional_parameters nvarchar(max), cmdexec_success_code int!, on_success_action tinyint!, on_success_step_id int!,
    on_fail_action tinyint!, on_fail_step_id int!, server sysname, database_name sysname, database_user_name sysname,
    retry_attempts int!, retry_interval int!, os_run_priority int!, output_file_name nvarchar(200), last_run_outcome int!,
    last_run_duration int!, last_run_retries int!, last_run_date int!, last_run_time int!, proxy_id int, step_uid uniqueidentifier""",
    "msdb.syscategories: category_id int!, category_class int!, category_type tinyint!, name sysname!",
    """msdb.sysjobservers: job_id uniqueidentifier!, server_id int!, last_run_outcome tinyint!, last_outcome_message nvarchar(4000),
    last_run_date int!, last_run_time int!, last_run_duration int!""",
    """msdb.sysschedules: schedule_id int!, schedule_uid uniqueidentifier!, originating_server_id int!, name sysname!,
    owner_sid varbinary(85)!, enabled int!, freq_type int!, freq_interval int!, freq_subday_type int!, freq_subday_interval int!,
    freq_relative_interval int!, freq_recurrence_factor int!, active_start_date int!, active_end_date int!, active_start_time int!,
    active_end_time int!, date_created datetime!, date_modified datetime!, version_number int!""",
    """msdb.sysjobactivity: session_id int!, job_id uniqueidentifier!, run_requested_date datetime, run_requested_source sysname,
    queued_date datetime, start_execution_date datetime, last_executed_step_id int, last_executed_step_date datetime,
    stop_execution_date datetime, job_history_id int, next_scheduled_run_date datetime""",
    "msdb.syssessions: session_id int!, agent_start_date datetime!",
)


def _jobs(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    unset = ("eventlog", "email", "netsend", "page")
    for job in database.jobs.values():
        yield {
            "originating_server_id": 0,
            "category_id": 0,
            **{f"notify_level_{one}": 0 for one in unset},
            **{f"notify_{one}_operator_id": 0 for one in unset[1:]},
            "delete_level": 0,
            **{key: value for key, value in job.items() if key not in ("steps", "servers")},
        }


def _steps(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for job in database.jobs.values():
        for number, step in enumerate(job["steps"], start=1):
            yield {
                "job_id": job["job_id"],
                "step_id": number,
                "cmdexec_success_code": 0,
                "os_run_priority": 0,
                "last_run_retries": 0,
                **NEVER_RUN,
                **step,
            }


def _servers(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for job in database.jobs.values():
        for _ in job["servers"]:
            yield {"job_id": job["job_id"], "server_id": 0, **NEVER_RUN}


_CONTAINED: dict[str, Rows] = {"msdb.sysjobs": _jobs, "msdb.sysjobsteps": _steps, "msdb.sysjobservers": _servers}


def _table(view: str) -> Rows:
    def rows(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Any]:
        if not database.part:
            yield from runtime.host.view_rows(view.replace("msdb.", "agent."), arguments, runtime.session) or ()
        elif view in _CONTAINED:
            yield from _CONTAINED[view](runtime, database, arguments)

    return rows


for _text in _TABLES:
    provide(_text)(_table(_text.partition(":")[0]))
