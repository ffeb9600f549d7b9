-- 08  The sliding window: the oldest partition leaves in an instant, and the newest end gets room to grow.
USE PartitionLab;
SET NOCOUNT ON;
CREATE TABLE dbo.E_TRADE_OLD (
    T_ID    bigint         NOT NULL,
    T_CA_ID int            NOT NULL,
    T_DAY   int            NOT NULL,
    T_QTY   int            NOT NULL,
    T_PRICE decimal(8, 2)  NOT NULL,
    T_NOTE  char(80)       NOT NULL,
    CONSTRAINT PK_E_TRADE_OLD PRIMARY KEY CLUSTERED (T_ID)) ON trade1;
CREATE INDEX IX_CA_ID ON dbo.E_TRADE_OLD (T_CA_ID) ON trade1;
CREATE INDEX IX_DAY ON dbo.E_TRADE_OLD (T_DAY) ON trade1;
CREATE INDEX IX_QTY ON dbo.E_TRADE_OLD (T_QTY) ON trade1;

ALTER TABLE dbo.E_TRADE SWITCH PARTITION 1 TO dbo.E_TRADE_OLD;
ALTER PARTITION FUNCTION pf_trade() MERGE RANGE (5000);
ALTER PARTITION SCHEME ps_trade NEXT USED trade1;
ALTER PARTITION FUNCTION pf_trade() SPLIT RANGE (20000);

SELECT (SELECT COUNT(*) FROM dbo.E_TRADE_OLD) AS switched_out, (SELECT COUNT(*) FROM dbo.E_TRADE) AS kept;
