"""msdb's procedures of SQL Server Agent: their parameters in order; the node carries them out (command AGENT).

Source: the procedures' pages (SQL Server documentation). A parameter in capitals is an output. In the msdb of a
contained availability group: :mod:`.contained_jobs`.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, SqlType
from aglab.tsql.host import Command
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.procedures import contained_jobs
from aglab.tsql.procedures.registry import procedure

GUID = SqlType("uniqueidentifier")
_NOTIFY = (
    "notify_level_eventlog notify_level_email notify_level_netsend notify_level_page notify_email_operator_name "
    "notify_netsend_operator_name notify_page_operator_name delete_level"
)
_STEP = (
    "job_id job_name step_id step_name subsystem command additional_parameters cmdexec_success_code on_success_action "
    "on_success_step_id on_fail_action on_fail_step_id server database_name database_user_name retry_attempts retry_interval "
    "os_run_priority output_file_name flags proxy_id proxy_name"
)
_TIMES = (
    "enabled freq_type freq_interval freq_subday_type freq_subday_interval freq_relative_interval freq_recurrence_factor "
    "active_start_date active_end_date active_start_time active_end_time"
)
SIGNATURES = {
    "sp_add_job": "job_name enabled description start_step_id category_name category_id owner_login_name "
    + _NOTIFY
    + " JOB_ID originating_server",
    "sp_update_job": "job_id job_name new_name enabled description start_step_id category_name owner_login_name " + _NOTIFY,
    "sp_delete_job": "job_id job_name originating_server delete_history delete_unused_schedule",
    "sp_add_jobstep": _STEP + " STEP_UID",
    "sp_update_jobstep": _STEP,
    "sp_delete_jobstep": "job_id job_name step_id",
    "sp_add_schedule": "schedule_name " + _TIMES + " owner_login_name SCHEDULE_UID SCHEDULE_ID originating_server",
    "sp_add_jobschedule": "job_id job_name name " + _TIMES + " SCHEDULE_ID automatic_post SCHEDULE_UID",
    "sp_update_schedule": "schedule_id name new_name " + _TIMES + " owner_login_name automatic_post",
    "sp_attach_schedule": "job_id job_name schedule_id schedule_name automatic_post",
    "sp_detach_schedule": "job_id job_name schedule_id schedule_name delete_unused_schedule automatic_post",
    "sp_delete_schedule": "schedule_id schedule_name force_delete automatic_post",
    "sp_add_jobserver": "job_id job_name server_name automatic_post",
    "sp_delete_jobserver": "job_id job_name server_name",
    "sp_start_job": "job_name job_id error_flag server_name step_name output_flag",
    "sp_stop_job": "job_name job_id originating_server server_name",
    "sp_purge_jobhistory": "job_name job_id oldest_date",
    "sp_add_category": "class type name",
}
_OUTPUTS = {"JOB_ID": GUID, "STEP_UID": GUID, "SCHEDULE_UID": GUID, "SCHEDULE_ID": INT}


def _register(name: str, parameters: list[str]) -> None:
    @procedure(name, in_msdb=True)
    def run(executor: Any, arguments: Any) -> Any:
        if executor.target.part:
            if name not in contained_jobs.PROCEDURES:
                raise not_implemented(f"{name} in the msdb of a contained availability group")
            return (yield from contained_jobs.PROCEDURES[name](executor, arguments))
        known = {f"@{one.lower()}" for one in parameters}
        for item in arguments.items:
            if item.name and item.name.lower() not in known:
                raise error(8145, item.name, name)
        given = {}
        for position, one in enumerate(parameters):
            found = arguments.find(f"@{one}", position)
            if found is not None and not found.default:
                given[one.lower()] = found.value
        made: dict[str, Any] = {}
        yield from executor._node(Command("AGENT", name, {"GIVEN": given, "MADE": made}), 0)
        for position, one in enumerate(parameters):
            if one in _OUTPUTS and one in made:
                arguments.output(f"@{one.lower()}", position, made[one], _OUTPUTS[one])
        return 0


for _name, _text in SIGNATURES.items():
    _register(_name, _text.split())


@procedure("xp_servicecontrol")
def xp_servicecontrol(executor: Any, arguments: Any) -> Any:
    """Services are not steered through T-SQL here."""
    raise not_implemented("xp_servicecontrol (twin.stop_node, twin.start_node and twin.restart_node steer an instance)")
    yield
