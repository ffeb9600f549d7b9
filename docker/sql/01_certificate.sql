-- Every node: a master key and a certificate with which its endpoint shows who it is. The certificate goes into the shared folder,
-- its private key stays here. sqlcmd variables: node, share; MASTER_KEY_PASSWORD comes from sqlcmd's environment.
USE master;
IF NOT EXISTS (SELECT 1 FROM sys.symmetric_keys WHERE name = N'##MS_DatabaseMasterKey##')
    CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'$(MASTER_KEY_PASSWORD)';
GO
IF NOT EXISTS (SELECT 1 FROM sys.certificates WHERE name = N'$(node)_certificate')
    CREATE CERTIFICATE $(node)_certificate WITH SUBJECT = N'Database mirroring endpoint of $(node)', EXPIRY_DATE = N'20991231';
GO
BEGIN TRY
    BACKUP CERTIFICATE $(node)_certificate TO FILE = N'$(share)/$(node)_certificate.cer';
END TRY
BEGIN CATCH
    IF ERROR_NUMBER() <> 15240 -- the file is there from the last time; the peers compare its thumbprint
        THROW;
END CATCH;
GO
