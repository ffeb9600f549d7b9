-- 05  Which index does the stock have, and what does finding one row cost? Compare with the other tables.
SELECT t.name AS table_name, i.name AS index_name, i.type_desc, p.rows
FROM sys.tables AS t
JOIN sys.indexes AS i ON i.object_id = t.object_id
JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE t.name IN (N'stock', N'item', N'district')
ORDER BY t.name, i.index_id;
