create procedure sys.sp_monitor as
select sysdatetime() as last_run, sysdatetime() as current_run, convert(int, 0) as seconds
select convert(varchar(30), @@cpu_busy) + '(' + convert(varchar(30), @@cpu_busy) + ')-0%' as cpu_busy,
    convert(varchar(30), @@io_busy) + '(' + convert(varchar(30), @@io_busy) + ')-0%' as io_busy,
    convert(varchar(30), @@idle) + '(' + convert(varchar(30), @@idle) + ')-0%' as idle
select convert(varchar(30), @@pack_received) + '(' + convert(varchar(30), @@pack_received) + ')' as packets_received,
    convert(varchar(30), @@pack_sent) + '(' + convert(varchar(30), @@pack_sent) + ')' as packets_sent,
    convert(varchar(30), @@packet_errors) + '(' + convert(varchar(30), @@packet_errors) + ')' as packet_errors
select convert(varchar(30), @@total_read) + '(' + convert(varchar(30), @@total_read) + ')' as total_read,
    convert(varchar(30), @@total_write) + '(' + convert(varchar(30), @@total_write) + ')' as total_write,
    convert(varchar(30), @@total_errors) + '(' + convert(varchar(30), @@total_errors) + ')' as total_errors,
    convert(varchar(30), @@connections) + '(' + convert(varchar(30), @@connections) + ')' as connections
return 0
