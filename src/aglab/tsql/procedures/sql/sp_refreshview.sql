create procedure sys.sp_refreshview @viewname nvarchar(776) as
if object_id(@viewname, 'V') is null or object_definition(object_id(@viewname)) is null
begin
    raiserror(15165, 16, 1, @viewname)
    return 1
end
return 0
