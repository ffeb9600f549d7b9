-- 02  Who am I? Run it on each node: a master key, and a certificate that this node will show.
-- The certificate goes to a folder that all nodes see; its private key never leaves the node.
-- On servers without such a folder copy the .cer files from node to node.
USE master;
GO
DECLARE @node sysname = CONVERT(sysname, SERVERPROPERTY(N'ServerName'));
DECLARE @file nvarchar(260) = N'/var/opt/aglab/' + @node + N'_certificate.cer';

-- Nobody needs to know this password: the service's own key opens the master key.
DECLARE @password nvarchar(60) = N'aA1-' + CONVERT(nvarchar(36), NEWID());
IF NOT EXISTS (SELECT 1 FROM sys.symmetric_keys WHERE name = N'##MS_DatabaseMasterKey##')
    EXEC (N'CREATE MASTER KEY ENCRYPTION BY PASSWORD = N''' + @password + N'''');

IF NOT EXISTS (SELECT 1 FROM sys.certificates WHERE name = @node + N'_certificate')
BEGIN
    EXEC (N'CREATE CERTIFICATE ' + @node + N'_certificate
            WITH SUBJECT = N''Database mirroring endpoint of ' + @node + N''',
                 EXPIRY_DATE = N''20991231''');
    EXEC (N'BACKUP CERTIFICATE ' + @node + N'_certificate TO FILE = N''' + @file + N'''');
END;
