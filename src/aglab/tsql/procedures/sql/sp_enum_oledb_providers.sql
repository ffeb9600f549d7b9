create procedure sys.sp_enum_oledb_providers as
select convert(nvarchar(255), null) as [Provider Name], convert(nvarchar(255), null) as [Parse Name],
    convert(nvarchar(255), null) as [Provider Description] where 1 = 0
