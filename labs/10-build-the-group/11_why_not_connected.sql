-- 11  A replica is not there. Why? Run it on both ends. Changes nothing.

-- Is the door open, and which certificate does this end show?
SELECT e.name, e.state_desc, t.port, e.encryption_algorithm_desc, c.name AS certificate
FROM sys.database_mirroring_endpoints AS e
JOIN sys.tcp_endpoints AS t ON t.endpoint_id = e.endpoint_id
LEFT JOIN sys.certificates AS c ON c.certificate_id = e.certificate_id;

-- Whose certificates does this end know, and who may connect?
SELECT c.name AS certificate, u.name AS owner, p.permission_name, p.state_desc
FROM sys.certificates AS c
JOIN sys.database_principals AS u ON u.principal_id = c.principal_id
LEFT JOIN sys.server_principals AS l ON l.sid = u.sid
LEFT JOIN sys.server_permissions AS p
    ON p.grantee_principal_id = l.principal_id AND p.class_desc = N'ENDPOINT'
WHERE c.pvt_key_encryption_type = 'NA'
ORDER BY c.name;

-- What did this end refuse?
EXEC sp_readerrorlog 0, 1, N'Database Mirroring login';
