-- 12  An old primary that was dead comes back and still takes itself for the primary.
-- Run it there, before anybody else finds it. But first save what only this
-- server has: read the rows you need and copy them out. Afterwards they are gone.
USE [master];
GO
ALTER AVAILABILITY GROUP [ag1] OFFLINE;
GO
ALTER AVAILABILITY GROUP [ag1] SET (ROLE = SECONDARY);
GO
ALTER DATABASE [OLTP] SET HADR RESUME;
