create procedure dbo.sp_help_jobstep @job_id uniqueidentifier = null, @job_name sysname = null, @step_id int = null as
if @job_id is null
    select @job_id = job_id from msdb.dbo.sysjobs where name = @job_name
if @job_id is null
begin
    raiserror(14262, 16, 1, '@job_name', @job_name)
    return 1
end
select step_id, step_name, subsystem, command, flags, cmdexec_success_code, on_success_action, on_success_step_id, on_fail_action,
    on_fail_step_id, server, database_name, database_user_name, retry_attempts, retry_interval, os_run_priority, output_file_name,
    last_run_outcome, last_run_duration, last_run_retries, last_run_date, last_run_time, proxy_id
from msdb.dbo.sysjobsteps where job_id = @job_id and (@step_id is null or step_id = @step_id) order by step_id
return 0
