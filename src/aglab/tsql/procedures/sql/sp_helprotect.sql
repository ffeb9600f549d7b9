create procedure sys.sp_helprotect @name sysname = null, @username sysname = null as
select coalesce(schema_name(o.schema_id), '.') as Owner, coalesce(o.name, '.') as Object, g.name as Grantee, r.name as Grantor,
    case p.state when 'D' then 'Deny' when 'W' then 'Grant_WGO' else 'Grant' end as ProtectType, p.permission_name as Action,
    coalesce(c.name, case when o.object_id is null then '.' else '(All)' end) as [Column]
from sys.database_permissions p join sys.database_principals g on g.principal_id = p.grantee_principal_id
    left join sys.database_principals r on r.principal_id = p.grantor_principal_id
    left join sys.all_objects o on p.class = 1 and o.object_id = p.major_id
    left join sys.columns c on p.class = 1 and c.object_id = p.major_id and c.column_id = p.minor_id
where (@name is null or o.name = @name or p.permission_name = @name) and (@username is null or g.name = @username)
order by Object, Grantee, Action
return 0
