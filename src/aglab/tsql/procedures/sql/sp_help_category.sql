create procedure dbo.sp_help_category @class varchar(8) = 'JOB', @type varchar(12) = null, @name sysname = null as
select category_id, category_type, name from msdb.dbo.syscategories where @name is null or name = @name order by category_type, name
return 0
