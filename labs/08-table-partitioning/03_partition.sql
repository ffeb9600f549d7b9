-- 03  Cut E_TRADE into four: filegroups and files, function, scheme, then the clustered key and its indexes on the scheme.
-- The files go to the instance's default folder here; on your servers give each filegroup a volume of its own.
USE PartitionLab;
SET NOCOUNT ON;
DECLARE @folder nvarchar(260) = CONVERT(nvarchar(260), SERVERPROPERTY('InstanceDefaultDataPath'));
DECLARE @fg int = 1, @sql nvarchar(1000);
WHILE @fg <= 4
BEGIN
    SET @sql = N'ALTER DATABASE PartitionLab ADD FILEGROUP trade' + CAST(@fg AS nvarchar(2)) + N';
    ALTER DATABASE PartitionLab ADD FILE (NAME = trade' + CAST(@fg AS nvarchar(2)) + N', FILENAME = N''' + @folder
        + N'PartitionLab_trade' + CAST(@fg AS nvarchar(2)) + N'.ndf'', SIZE = 16MB, FILEGROWTH = 16MB)
    TO FILEGROUP trade' + CAST(@fg AS nvarchar(2)) + N';';
    EXEC sys.sp_executesql @sql;
    SET @fg += 1;
END;
GO
USE PartitionLab;
CREATE PARTITION FUNCTION pf_trade (bigint) AS RANGE LEFT FOR VALUES (5000, 10000, 15000);
CREATE PARTITION SCHEME ps_trade AS PARTITION pf_trade TO (trade1, trade2, trade3, trade4);
CREATE UNIQUE CLUSTERED INDEX PK_E_TRADE ON dbo.E_TRADE (T_ID) WITH (DROP_EXISTING = ON) ON ps_trade (T_ID);
CREATE INDEX IX_CA_ID ON dbo.E_TRADE (T_CA_ID) WITH (DROP_EXISTING = ON) ON ps_trade (T_ID);
CREATE INDEX IX_DAY ON dbo.E_TRADE (T_DAY) WITH (DROP_EXISTING = ON) ON ps_trade (T_ID);
CREATE INDEX IX_QTY ON dbo.E_TRADE (T_QTY) WITH (DROP_EXISTING = ON) ON ps_trade (T_ID);
CHECKPOINT;
