-- Every node: the endpoint through which replicas send each other log. sqlcmd variable: node.
USE master;
IF NOT EXISTS (SELECT 1 FROM sys.database_mirroring_endpoints)
    CREATE ENDPOINT hadr_endpoint
        STATE = STARTED
        AS TCP (LISTENER_PORT = 5022)
        FOR DATABASE_MIRRORING (ROLE = ALL, AUTHENTICATION = CERTIFICATE $(node)_certificate, ENCRYPTION = REQUIRED ALGORITHM AES);
GO
IF EXISTS (SELECT 1 FROM sys.database_mirroring_endpoints WHERE name = N'hadr_endpoint' AND state_desc <> N'STARTED')
    ALTER ENDPOINT hadr_endpoint STATE = STARTED;
GO
