-- 07  The database joins; automatic seeding begins. Run it on sql1.
USE master;
GO
ALTER AVAILABILITY GROUP ag1 ADD DATABASE OLTP;
