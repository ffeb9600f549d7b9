create procedure sys.sp_refreshsqlmodule @name nvarchar(776), @namespace nvarchar(20) = null as
if object_definition(object_id(@name)) is null
begin
    raiserror(15165, 16, 1, @name)
    return 1
end
return 0
