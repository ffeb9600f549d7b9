-- 01  What a server must bring. Run it on each of the three. Changes nothing.

-- Always On switched on (SQL Server Configuration Manager, or mssql-conf set hadr.hadrenabled 1,
-- and a restart), and a name under which the others find this server.
SELECT SERVERPROPERTY(N'ServerName') AS server_name,
       SERVERPROPERTY(N'IsHadrEnabled') AS hadr_enabled;

-- What a group needs besides, and what is there so far.
SELECT (SELECT COUNT(*) FROM sys.symmetric_keys
        WHERE name = N'##MS_DatabaseMasterKey##') AS master_keys,
       (SELECT COUNT(*) FROM sys.certificates WHERE name LIKE N'%[_]certificate') AS certificates,
       (SELECT COUNT(*) FROM sys.database_mirroring_endpoints) AS endpoints,
       (SELECT COUNT(*) FROM sys.availability_groups) AS groups,
       (SELECT COUNT(*) FROM sys.databases WHERE name = N'OLTP') AS copies_of_oltp;
