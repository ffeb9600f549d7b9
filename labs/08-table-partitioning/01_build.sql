-- 01  A database with one hot table. Runs as it is in SSMS or sqlcmd; makes database PartitionLab anew.
-- E_TRADE grows at its end: T_ID only rises. Three nonclustered indexes, as in the paper; everything in one file.
USE master;
SET NOCOUNT ON;
IF DB_ID(N'PartitionLab') IS NOT NULL DROP DATABASE PartitionLab;
CREATE DATABASE PartitionLab;
GO
USE PartitionLab;
SET NOCOUNT ON;
CREATE TABLE dbo.E_TRADE (
    T_ID    bigint         NOT NULL,
    T_CA_ID int            NOT NULL,   -- customer account
    T_DAY   int            NOT NULL,
    T_QTY   int            NOT NULL,
    T_PRICE decimal(8, 2)  NOT NULL,
    T_NOTE  char(80)       NOT NULL,
    CONSTRAINT PK_E_TRADE PRIMARY KEY CLUSTERED (T_ID));
CREATE INDEX IX_CA_ID ON dbo.E_TRADE (T_CA_ID);
CREATE INDEX IX_DAY   ON dbo.E_TRADE (T_DAY);
CREATE INDEX IX_QTY   ON dbo.E_TRADE (T_QTY);
CREATE TABLE dbo.E_ACCOUNT (
    CA_ID   int       NOT NULL CONSTRAINT PK_E_ACCOUNT PRIMARY KEY CLUSTERED,
    CA_NAME char(60)  NOT NULL);
GO
USE PartitionLab;
SET NOCOUNT ON;
WITH ten AS (SELECT v FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS t(v)),
     n AS (SELECT 1 + a.v + 10 * b.v + 100 * c.v + 1000 * d.v + 10000 * e.v AS n
           FROM ten AS a CROSS JOIN ten AS b CROSS JOIN ten AS c CROSS JOIN ten AS d
           CROSS JOIN (VALUES (0), (1)) AS e(v))
INSERT dbo.E_TRADE (T_ID, T_CA_ID, T_DAY, T_QTY, T_PRICE, T_NOTE)
SELECT n, n % 1000, n / 100, n % 500, 10 + n % 90, 'trade' FROM n;
INSERT dbo.E_ACCOUNT (CA_ID, CA_NAME) SELECT T_ID - 1, 'account' FROM dbo.E_TRADE WHERE T_ID <= 1000;
CHECKPOINT;
SELECT t.name, SUM(p.rows) AS [rows]
FROM sys.tables AS t JOIN sys.partitions AS p ON p.object_id = t.object_id AND p.index_id <= 1
GROUP BY t.name ORDER BY t.name;
