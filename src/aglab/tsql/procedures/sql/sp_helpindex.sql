create procedure sys.sp_helpindex @objname nvarchar(776) as
select i.name as index_name, lower(i.type_desc) + case when i.is_unique = 1 then ', unique' else '' end
    + case when i.is_primary_key = 1 then ', primary key' else '' end + ' located on PRIMARY' as index_description,
    (select string_agg(c.name + case when k.is_descending_key = 1 then '(-)' else '' end, ', ') within group (order by k.key_ordinal)
     from sys.index_columns k join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
     where k.object_id = i.object_id and k.index_id = i.index_id and k.is_included_column = 0) as index_keys
from sys.indexes i where i.object_id = object_id(@objname) and i.index_id > 0 order by i.name
