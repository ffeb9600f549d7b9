create procedure sys.sp_column_privileges @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null,
    @column_name nvarchar(384) = null as
-- The owner's, and what was granted on the table or on the column.
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, o.name as TABLE_NAME, c.name as COLUMN_NAME, g.grantor as GRANTOR,
    g.grantee as GRANTEE, convert(varchar(32), g.privilege) as PRIVILEGE, convert(varchar(3), g.grantable) as IS_GRANTABLE
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id join sys.columns c on c.object_id = o.object_id
    join (select t.object_id, 0 as column_id, p.privilege, N'dbo' as grantor, N'dbo' as grantee, 'YES' as grantable
        from sys.objects t cross join (values ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) p(privilege)
        union all select p.major_id, p.minor_id, p.permission_name, user_name(p.grantor_principal_id), user_name(p.grantee_principal_id),
            case p.state when 'W' then 'YES' else 'NO' end
        from sys.database_permissions p
        where p.class = 1 and p.state in ('G', 'W') and p.permission_name in ('INSERT', 'REFERENCES', 'SELECT', 'UPDATE')) g
        on g.object_id = o.object_id and g.column_id in (0, c.column_id)
where o.type in ('U', 'V') and o.name = @table_name and (@table_owner is null or s.name = @table_owner)
    and (@column_name is null or c.name like @column_name)
order by 1, 2, 3, 4, 7, 6
