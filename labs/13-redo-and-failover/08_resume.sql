-- 08  Fifth step: on every other secondary.
USE [master];
GO
ALTER DATABASE [OLTP] SET HADR RESUME;
