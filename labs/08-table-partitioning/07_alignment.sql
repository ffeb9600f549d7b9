-- 07  Is every index cut like its table? Then the same search through an index that is not.
USE PartitionLab;
SET NOCOUNT ON;
CREATE INDEX IX_CA_ID_APART ON dbo.E_TRADE (T_CA_ID) ON [PRIMARY];

SELECT i.name, ds.name AS data_space, ds.type_desc,
    CASE WHEN ds.data_space_id = t.data_space_id THEN 'aligned' ELSE 'not aligned' END AS alignment
FROM sys.indexes AS i
JOIN sys.data_spaces AS ds ON ds.data_space_id = i.data_space_id
JOIN sys.indexes AS t ON t.object_id = i.object_id AND t.index_id <= 1
WHERE i.object_id = OBJECT_ID(N'dbo.E_TRADE')
ORDER BY i.index_id;

SET STATISTICS IO ON;
SELECT COUNT(*) AS trades FROM dbo.E_TRADE WITH (INDEX (IX_CA_ID)) WHERE T_CA_ID = 77;
SELECT COUNT(*) AS trades FROM dbo.E_TRADE WITH (INDEX (IX_CA_ID_APART)) WHERE T_CA_ID = 77;
SET STATISTICS IO OFF;
DROP INDEX IX_CA_ID_APART ON dbo.E_TRADE;
