create procedure sys.sp_recompile @objname nvarchar(776) as
if object_id(@objname) is null
begin
    raiserror(15165, 16, 1, @objname)
    return 1
end
raiserror(15070, 10, 1, @objname)
return 0
