create procedure sys.sp_statistics @table_name sysname, @table_owner sysname = null, @table_qualifier sysname = null, @index_name sysname = '%',
    @is_unique char(1) = 'N', @accuracy char(1) = 'Q' as
select db_name() as TABLE_QUALIFIER, s.name as TABLE_OWNER, t.name as TABLE_NAME, convert(smallint, null) as NON_UNIQUE, convert(sysname, null) as INDEX_QUALIFIER,
    convert(sysname, null) as INDEX_NAME, convert(smallint, 0) as TYPE, convert(smallint, null) as SEQ_IN_INDEX, convert(sysname, null) as COLUMN_NAME,
    convert(char(1), null) as COLLATION, convert(int, p.row_count) as CARDINALITY, convert(int, p.used_page_count) as PAGES, convert(varchar(128), null) as FILTER_CONDITION
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id
    join sys.dm_db_partition_stats p on p.object_id = t.object_id and p.index_id < 2
where t.name = @table_name and (@table_owner is null or s.name = @table_owner)
union all
select db_name(), s.name, t.name, convert(smallint, case i.is_unique when 1 then 0 else 1 end), t.name, i.name,
    convert(smallint, case i.index_id when 1 then 1 else 3 end), convert(smallint, k.key_ordinal), c.name,
    convert(char(1), case k.is_descending_key when 1 then 'D' else 'A' end), convert(int, p.row_count), convert(int, p.used_page_count), null
from sys.tables t join sys.schemas s on s.schema_id = t.schema_id join sys.indexes i on i.object_id = t.object_id and i.index_id > 0
    join sys.index_columns k on k.object_id = i.object_id and k.index_id = i.index_id and k.is_included_column = 0
    join sys.columns c on c.object_id = k.object_id and c.column_id = k.column_id
    join sys.dm_db_partition_stats p on p.object_id = i.object_id and p.index_id = i.index_id
where t.name = @table_name and (@table_owner is null or s.name = @table_owner) and i.name like @index_name
    and (@is_unique <> 'Y' or i.is_unique = 1)
order by 4, 7, 6, 8
