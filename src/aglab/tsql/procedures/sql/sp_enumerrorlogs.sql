create procedure sys.sp_enumerrorlogs @p1 int = 1 as
select 0 as [Archive #], convert(nvarchar(16), getdate(), 101) as [Date], 0 as [Log File Size (Byte)]
