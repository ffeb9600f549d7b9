-- 03  The door, and who may come in. Run it on each node, after step 02 has run on all three.
USE master;
GO
DECLARE @node sysname = CONVERT(sysname, SERVERPROPERTY(N'ServerName'));

-- The door: log travels through this port, encrypted, and whoever knocks shows a certificate.
IF NOT EXISTS (SELECT 1 FROM sys.database_mirroring_endpoints)
    EXEC (N'CREATE ENDPOINT hadr_endpoint STATE = STARTED
            AS TCP (LISTENER_PORT = 5022)
            FOR DATABASE_MIRRORING (ROLE = ALL,
                AUTHENTICATION = CERTIFICATE ' + @node + N'_certificate,
                ENCRYPTION = REQUIRED ALGORITHM AES)');

-- Who may come in: the owner of each peer's certificate.
DECLARE @peers table (name sysname);
INSERT INTO @peers (name) VALUES (N'sql1'), (N'sql2'), (N'sql3');
DELETE FROM @peers WHERE name = @node;
DECLARE @password nvarchar(60) = N'aA1-' + CONVERT(nvarchar(36), NEWID());
DECLARE @peer sysname = (SELECT MIN(name) FROM @peers);
WHILE @peer IS NOT NULL
BEGIN
    IF NOT EXISTS (SELECT 1 FROM sys.server_principals WHERE name = @peer + N'_login')
        EXEC (N'CREATE LOGIN ' + @peer + N'_login WITH PASSWORD = N''' + @password + N'''');
    IF NOT EXISTS (SELECT 1 FROM sys.database_principals WHERE name = @peer + N'_user')
        EXEC (N'CREATE USER ' + @peer + N'_user FOR LOGIN ' + @peer + N'_login');
    IF NOT EXISTS (SELECT 1 FROM sys.certificates WHERE name = @peer + N'_certificate')
        EXEC (N'CREATE CERTIFICATE ' + @peer + N'_certificate AUTHORIZATION ' + @peer + N'_user
                FROM FILE = N''/var/opt/aglab/' + @peer + N'_certificate.cer''');
    EXEC (N'GRANT CONNECT ON ENDPOINT::hadr_endpoint TO ' + @peer + N'_login');
    DELETE FROM @peers WHERE name = @peer;
    SET @peer = (SELECT MIN(name) FROM @peers);
END;
