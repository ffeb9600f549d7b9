create procedure dbo.sp_help_job @job_id uniqueidentifier = null, @job_name sysname = null, @job_aspect varchar(9) = null as
if @job_id is null and @job_name is not null
begin
    select @job_id = job_id from msdb.dbo.sysjobs where name = @job_name
    if @job_id is null
    begin
        raiserror(14262, 16, 1, '@job_name', @job_name)
        return 1
    end
end
select j.job_id, originating_server = convert(nvarchar(30), @@servername), j.name, j.enabled, j.description, j.start_step_id,
    category = convert(sysname, c.name), owner = convert(sysname, suser_sname(j.owner_sid)), j.notify_level_eventlog,
    j.notify_level_email, j.notify_level_netsend, j.notify_level_page, notify_email_operator = convert(sysname, '(unknown)'),
    notify_netsend_operator = convert(sysname, '(unknown)'), notify_page_operator = convert(sysname, '(unknown)'), j.delete_level,
    j.date_created, j.date_modified, j.version_number, last_run_date = isnull(s.last_run_date, 0),
    last_run_time = isnull(s.last_run_time, 0), last_run_outcome = convert(int, isnull(s.last_run_outcome, 5)),
    next_run_date = convert(int, isnull(convert(char(8), a.next_scheduled_run_date, 112), '0')),
    next_run_time = convert(int, isnull(replace(convert(char(8), a.next_scheduled_run_date, 108), ':', ''), '0')),
    next_run_schedule_id = isnull((select min(schedule_id) from msdb.dbo.sysjobschedules x where x.job_id = j.job_id), 0),
    current_execution_status = case when a.start_execution_date is not null and a.stop_execution_date is null then 1 else 4 end,
    current_execution_step = convert(sysname, case when a.start_execution_date is not null and a.stop_execution_date is null
        then convert(varchar(10), isnull(a.last_executed_step_id, 0)) + ' (' + isnull((select step_name from msdb.dbo.sysjobsteps p
            where p.job_id = j.job_id and p.step_id = a.last_executed_step_id), 'unknown') + ')' else '0 (unknown)' end),
    current_retry_attempt = 0, has_step = (select count(*) from msdb.dbo.sysjobsteps p where p.job_id = j.job_id),
    has_schedule = (select count(*) from msdb.dbo.sysjobschedules x where x.job_id = j.job_id),
    has_target = (select count(*) from msdb.dbo.sysjobservers y where y.job_id = j.job_id), type = 1
from msdb.dbo.sysjobs j
left join msdb.dbo.syscategories c on c.category_id = j.category_id
left join msdb.dbo.sysjobservers s on s.job_id = j.job_id
left join msdb.dbo.sysjobactivity a on a.job_id = j.job_id
where @job_id is null or j.job_id = @job_id
order by j.name
return 0
