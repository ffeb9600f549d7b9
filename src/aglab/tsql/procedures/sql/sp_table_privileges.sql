create procedure sys.sp_table_privileges @table_name nvarchar(384), @table_owner nvarchar(384) = null, @table_qualifier sysname = null,
    @fUsePattern bit = 1 as
-- The owner has every privilege and may pass it on; others have what they were granted.
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, o.name as TABLE_NAME, g.grantor as GRANTOR, g.grantee as GRANTEE,
    convert(varchar(32), g.privilege) as PRIVILEGE, convert(varchar(3), g.grantable) as IS_GRANTABLE
from sys.objects o join sys.schemas s on s.schema_id = o.schema_id
    join (select t.object_id, p.privilege, N'dbo' as grantor, N'dbo' as grantee, 'YES' as grantable
        from sys.objects t cross join (values ('DELETE'), ('INSERT'), ('REFERENCES'), ('SELECT'), ('UPDATE')) p(privilege)
        union all select p.major_id, p.permission_name, user_name(p.grantor_principal_id), user_name(p.grantee_principal_id),
            case p.state when 'W' then 'YES' else 'NO' end
        from sys.database_permissions p
        where p.class = 1 and p.minor_id = 0 and p.state in ('G', 'W') and p.permission_name in ('DELETE', 'INSERT', 'REFERENCES', 'SELECT', 'UPDATE')) g
        on g.object_id = o.object_id
where o.type in ('U', 'V') and o.name like @table_name and (@table_owner is null or s.name like @table_owner)
order by 1, 2, 3, 6, 5
