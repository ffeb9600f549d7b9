create procedure dbo.sp_help_schedule @schedule_id int = null, @schedule_name sysname = null as
select s.schedule_id, s.schedule_uid, schedule_name = s.name, s.enabled, s.freq_type, s.freq_interval, s.freq_subday_type,
    s.freq_subday_interval, s.freq_relative_interval, s.freq_recurrence_factor, s.active_start_date, s.active_end_date,
    s.active_start_time, s.active_end_time, s.date_created,
    job_count = (select count(*) from msdb.dbo.sysjobschedules x where x.schedule_id = s.schedule_id)
from msdb.dbo.sysschedules s
where (@schedule_id is null or s.schedule_id = @schedule_id) and (@schedule_name is null or s.name = @schedule_name)
order by s.schedule_id
return 0
