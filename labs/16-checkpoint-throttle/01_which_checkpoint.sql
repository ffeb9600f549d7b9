-- 01  Which kind of checkpoint does each database use, and is -k in force?
-- Runs as it is in SSMS or sqlcmd. Changes nothing.

-- 0 = automatic checkpoints (paced by recovery interval); above 0 = indirect checkpoints.
-- Databases created on SQL Server 2016 or later start at 60; databases that came from an older version keep 0.
SELECT name, target_recovery_time_in_seconds, recovery_model_desc
FROM sys.databases
WHERE name = N'OLTP';

-- recovery interval (min) = 0 lets SQL Server aim at about one automatic checkpoint a minute.
SELECT name, value_in_use
FROM sys.configurations
WHERE name = N'recovery interval (min)';

-- The startup parameters stand in the error log, written when the instance started.
EXEC sys.sp_readerrorlog 0, 1, N'startup parameters';
