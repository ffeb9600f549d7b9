-- 08  Fifth step: run it on every other secondary.
USE [master];
GO
ALTER DATABASE [OLTP] SET HADR RESUME;
