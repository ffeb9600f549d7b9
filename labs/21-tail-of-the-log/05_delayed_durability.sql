-- 05  The other way to take the wait away, without any device. Not a safe one.
ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = FORCED;

SELECT name, delayed_durability_desc
FROM sys.databases
WHERE name = N'OLTP';
