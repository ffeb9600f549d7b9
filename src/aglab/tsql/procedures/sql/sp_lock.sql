create procedure sys.sp_lock @spid1 int = null, @spid2 int = null as
select convert(smallint, request_session_id) as spid, convert(smallint, resource_database_id) as dbid,
    convert(int, case resource_type when 'OBJECT' then resource_associated_entity_id else 0 end) as ObjId, convert(smallint, 0) as IndId,
    case resource_type when 'DATABASE' then 'DB' when 'OBJECT' then 'TAB' when 'APPLICATION' then 'APP' else resource_type end as Type,
    substring(resource_description, 1, 32) as Resource, request_mode as Mode, request_status as Status
from sys.dm_tran_locks where @spid1 is null or request_session_id in (@spid1, @spid2)
order by request_session_id
