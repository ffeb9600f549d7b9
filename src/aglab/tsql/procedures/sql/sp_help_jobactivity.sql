create procedure dbo.sp_help_jobactivity @job_id uniqueidentifier = null, @job_name sysname = null, @session_id int = null as
select a.session_id, a.job_id, job_name = j.name, a.run_requested_date, a.run_requested_source, a.queued_date, a.start_execution_date,
    a.last_executed_step_id, last_executed_step_date = a.last_executed_step_date, a.stop_execution_date, a.next_scheduled_run_date,
    a.job_history_id, h.message, h.run_status, operator_id_emailed = h.operator_id_emailed, h.operator_id_netsent, h.operator_id_paged
from msdb.dbo.sysjobactivity a
join msdb.dbo.sysjobs j on j.job_id = a.job_id
left join msdb.dbo.sysjobhistory h on h.instance_id = a.job_history_id
where (@job_id is null or a.job_id = @job_id) and (@job_name is null or j.name = @job_name)
order by j.name
return 0
