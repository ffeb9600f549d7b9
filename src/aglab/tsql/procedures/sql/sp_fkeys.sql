create procedure sys.sp_fkeys @pktable_name sysname = null, @pktable_owner sysname = null, @pktable_qualifier sysname = null,
    @fktable_name sysname = null, @fktable_owner sysname = null, @fktable_qualifier sysname = null as
select db_name() as PKTABLE_QUALIFIER, ps.name as PKTABLE_OWNER, p.name as PKTABLE_NAME, pc.name as PKCOLUMN_NAME,
    db_name() as FKTABLE_QUALIFIER, fs.name as FKTABLE_OWNER, f.name as FKTABLE_NAME, fc.name as FKCOLUMN_NAME,
    convert(smallint, k.constraint_column_id) as KEY_SEQ,
    convert(smallint, case fk.update_referential_action when 1 then 0 when 0 then 1 else fk.update_referential_action end) as UPDATE_RULE,
    convert(smallint, case fk.delete_referential_action when 1 then 0 when 0 then 1 else fk.delete_referential_action end) as DELETE_RULE,
    fk.name as FK_NAME, i.name as PK_NAME, convert(smallint, 7) as DEFERRABILITY
from sys.foreign_keys fk join sys.foreign_key_columns k on k.constraint_object_id = fk.object_id
    join sys.tables p on p.object_id = fk.referenced_object_id join sys.schemas ps on ps.schema_id = p.schema_id
    join sys.tables f on f.object_id = fk.parent_object_id join sys.schemas fs on fs.schema_id = f.schema_id
    join sys.columns pc on pc.object_id = k.referenced_object_id and pc.column_id = k.referenced_column_id
    join sys.columns fc on fc.object_id = k.parent_object_id and fc.column_id = k.parent_column_id
    left join sys.indexes i on i.object_id = p.object_id and i.index_id = fk.key_index_id
where (@pktable_name is null or p.name = @pktable_name) and (@pktable_owner is null or ps.name = @pktable_owner)
    and (@fktable_name is null or f.name = @fktable_name) and (@fktable_owner is null or fs.name = @fktable_owner)
order by 6, 7, 9
