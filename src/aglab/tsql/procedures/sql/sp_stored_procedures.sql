create procedure sys.sp_stored_procedures @sp_name nvarchar(390) = null, @sp_owner nvarchar(384) = null, @sp_qualifier sysname = null,
    @fUsePattern bit = 1 as
select db_name() as PROCEDURE_QUALIFIER, s.name as PROCEDURE_OWNER, convert(nvarchar(134), o.name + ';1') as PROCEDURE_NAME,
    -1 as NUM_INPUT_PARAMS, -1 as NUM_OUTPUT_PARAMS, -1 as NUM_RESULT_SETS, convert(varchar(254), null) as REMARKS,
    convert(smallint, case o.type when 'P' then 1 else 2 end) as PROCEDURE_TYPE
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
where o.type in ('P', 'FN', 'TF', 'IF') and (@sp_name is null or o.name like @sp_name) and (@sp_owner is null or s.name like @sp_owner)
order by 2, 3
