-- 06  What does a query have to read? Four questions to the same table; read Scan count and logical reads in the messages.
USE PartitionLab;
SET NOCOUNT ON;
SET STATISTICS IO ON;
-- the whole table
SELECT SUM(T_PRICE) AS total FROM dbo.E_TRADE;
-- a range of the clustering key
SELECT SUM(T_PRICE) AS total FROM dbo.E_TRADE WHERE T_ID >= 15001 AND T_ID <= 20000;
-- another column: the index is cut like the table, so every partition has to be asked
SELECT COUNT(*) AS trades FROM dbo.E_TRADE WHERE T_CA_ID = 77;
-- the same search among the newest trades: the partitioning column says where
SELECT COUNT(*) AS trades FROM dbo.E_TRADE WHERE T_CA_ID = 77 AND T_ID >= 15001;
SET STATISTICS IO OFF;
