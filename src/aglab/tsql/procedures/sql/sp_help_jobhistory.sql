create procedure dbo.sp_help_jobhistory @job_id uniqueidentifier = null, @job_name sysname = null, @step_id int = null,
    @sql_message_id int = null, @sql_severity int = null, @start_run_date int = null, @end_run_date int = null,
    @start_run_time int = null, @end_run_time int = null, @minimum_run_duration int = null, @run_status int = null,
    @minimum_retries int = null, @oldest_first int = 0, @server sysname = null, @mode varchar(7) = 'SUMMARY' as
if @job_id is null and @job_name is not null
begin
    select @job_id = job_id from msdb.dbo.sysjobs where name = @job_name
    if @job_id is null
    begin
        raiserror(14262, 16, 1, '@job_name', @job_name)
        return 1
    end
end
select h.instance_id, h.job_id, job_name = j.name, h.step_id, h.step_name, h.sql_message_id, h.sql_severity, h.message,
    h.run_status, h.run_date, h.run_time, h.run_duration, operator_emailed = convert(nvarchar(20), null),
    operator_netsent = convert(nvarchar(20), null), operator_paged = convert(nvarchar(20), null), h.retries_attempted, h.server
into #found
from msdb.dbo.sysjobhistory h
join msdb.dbo.sysjobs j on j.job_id = h.job_id
where (@job_id is null or h.job_id = @job_id) and (@step_id is null or h.step_id = @step_id)
    and (@sql_message_id is null or h.sql_message_id = @sql_message_id) and (@sql_severity is null or h.sql_severity = @sql_severity)
    and (@start_run_date is null or h.run_date >= @start_run_date) and (@end_run_date is null or h.run_date <= @end_run_date)
    and (@start_run_time is null or h.run_time >= @start_run_time) and (@end_run_time is null or h.run_time <= @end_run_time)
    and (@minimum_run_duration is null or h.run_duration >= @minimum_run_duration)
    and (@run_status is null or h.run_status = @run_status) and (@minimum_retries is null or h.retries_attempted >= @minimum_retries)
if @mode = 'FULL'
    select * from #found order by case when @oldest_first = 1 then instance_id else -instance_id end
else
    select job_id, job_name, run_status, run_date, run_time, run_duration, operator_emailed, operator_netsent, operator_paged,
        retries_attempted, server
    from #found where step_id = 0 order by case when @oldest_first = 1 then instance_id else -instance_id end
return 0
