-- Every node, once for each other node: who shows that node's certificate may connect to this endpoint. A certificate of an earlier
-- life of the peer is replaced. sqlcmd variables: peer, share, thumbprint; PEER_LOGIN_PASSWORD comes from sqlcmd's environment.
USE master;
IF NOT EXISTS (SELECT 1 FROM sys.server_principals WHERE name = N'$(peer)_login')
    CREATE LOGIN $(peer)_login WITH PASSWORD = N'$(PEER_LOGIN_PASSWORD)';
GO
IF NOT EXISTS (SELECT 1 FROM sys.database_principals WHERE name = N'$(peer)_user')
    CREATE USER $(peer)_user FOR LOGIN $(peer)_login;
GO
IF EXISTS (SELECT 1 FROM sys.certificates WHERE name = N'$(peer)_certificate' AND thumbprint <> 0x$(thumbprint))
    DROP CERTIFICATE $(peer)_certificate;
GO
IF NOT EXISTS (SELECT 1 FROM sys.certificates WHERE name = N'$(peer)_certificate')
    CREATE CERTIFICATE $(peer)_certificate AUTHORIZATION $(peer)_user FROM FILE = N'$(share)/$(peer)_certificate.cer';
GO
GRANT CONNECT ON ENDPOINT::hadr_endpoint TO $(peer)_login;
GO
