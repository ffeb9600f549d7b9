create procedure sys.xp_msver @optname sysname = null as
declare @facts table (place smallint not null, name nvarchar(50) not null, internal int null, text nvarchar(255) null)
declare @cpus int, @memory bigint, @version nvarchar(20) = convert(nvarchar(20), serverproperty('ProductVersion'))
select @cpus = cpu_count, @memory = physical_memory_kb * 1024 from sys.dm_os_sys_info
insert @facts values (1, 'ProductName', null, 'Microsoft SQL Server'), (2, 'ProductVersion', 1048576, @version),
    (3, 'Language', 1033, 'English (United States)'), (4, 'Platform', null, 'NT x64'), (5, 'Comments', null, 'SQL'),
    (6, 'CompanyName', null, 'Microsoft Corporation'), (7, 'FileDescription', null, 'Emulated by aglab twin'),
    (8, 'FileVersion', null, @version), (9, 'InternalName', null, 'SQLSERVR'), (10, 'LegalCopyright', null, null),
    (11, 'LegalTrademarks', null, null), (12, 'OriginalFilename', null, 'SQLSERVR.EXE'), (13, 'PrivateBuild', null, null),
    (14, 'SpecialBuild', convert(int, serverproperty('ProductBuild')) * 65536, null), (15, 'WindowsVersion', null, null),
    (16, 'ProcessorCount', @cpus, convert(nvarchar(10), @cpus)),
    (17, 'ProcessorActiveMask', null, right('0000000000000000' + convert(nvarchar(20), convert(varbinary(8), power(convert(bigint, 2), @cpus % 62) - 1), 2), 16)),
    (18, 'ProcessorType', 8664, null),
    (19, 'PhysicalMemory', @memory / 1048576, convert(nvarchar(20), @memory / 1048576) + ' (' + convert(nvarchar(20), @memory) + ')'),
    (20, 'Product ID', null, null)
select place as [Index], name as Name, internal as Internal_Value, text as Character_Value from @facts
where @optname is null or name = @optname order by place
