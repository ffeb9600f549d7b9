create procedure sys.sp_updatestats @resample varchar(8) = 'no' as
declare @name nvarchar(300), @command nvarchar(500)
declare tables_to_update cursor local for
    select quotename(schema_name(t.schema_id)) + '.' + quotename(t.name) from sys.tables t where t.is_memory_optimized = 0 order by t.object_id
open tables_to_update
fetch next from tables_to_update into @name
while @@fetch_status = 0
begin
    set @command = 'UPDATE STATISTICS ' + @name
    print 'Updating ' + replace(replace(@name, '[', ''), ']', '')
    exec (@command)
    fetch next from tables_to_update into @name
end
close tables_to_update
deallocate tables_to_update
print ''
print 'Statistics for all tables have been updated.'
return 0
