"""SQL Server Agent's tables in msdb: jobs, their steps and the servers they are meant for.

Columns: "SQL Server Agent tables" (SQL Server documentation). No job runs here: outcomes stay at "unknown" (5).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database

NEVER_RUN = {"last_run_outcome": 5, "last_run_duration": 0, "last_run_date": 0, "last_run_time": 0}


@provide(
    """msdb.sysjobs: job_id uniqueidentifier!, originating_server_id int!, name sysname!, enabled tinyint!, description nvarchar(512),
    start_step_id int!, category_id int!, owner_sid varbinary(85)!, notify_level_eventlog int!, notify_level_email int!,
    notify_level_netsend int!, notify_level_page int!, notify_email_operator_id int!, notify_netsend_operator_id int!,
    notify_page_operator_id int!, delete_level int!, date_created datetime!, date_modified datetime!, version_number int!"""
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


@provide(
    """msdb.sysjobsteps: job_id uniqueidentifier!, step_id int!, step_name sysname!, subsystem nvarchar(40)!, command nvarchar(max),
    flags int!, additional_parameters nvarchar(max), cmdexec_success_code int!, on_success_action tinyint!, on_success_step_id int!,
    on_fail_action tinyint!, on_fail_step_id int!, server sysname, database_name sysname, database_user_name sysname,
    retry_attempts int!, retry_interval int!, os_run_priority int!, output_file_name nvarchar(200), last_run_outcome int!,
    last_run_duration int!, last_run_retries int!, last_run_date int!, last_run_time int!, proxy_id int, step_uid uniqueidentifier"""
)
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


@provide(
    """msdb.sysjobservers: job_id uniqueidentifier!, server_id int!, last_run_outcome tinyint!, last_outcome_message nvarchar(4000),
    last_run_date int!, last_run_time int!, last_run_duration int!"""
)
def _servers(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for job in database.jobs.values():
        for _ in job["servers"]:
            yield {"job_id": job["job_id"], "server_id": 0, **NEVER_RUN}
