-- Questions that management tools ask a server: what SSMS and SMO send when they connect and open Object Explorer's nodes, what
-- dbatools' and Azure Data Studio's commands look up, and the documented queries that monitor availability groups. The wording is
-- this project's; views, columns and functions are theirs. Each batch must run without an error on every node.
SET ROWCOUNT 0 SET TEXTSIZE 2147483647 SET NOCOUNT OFF SET CONCAT_NULL_YIELDS_NULL ON SET ARITHABORT ON SET LOCK_TIMEOUT -1
SET QUERY_GOVERNOR_COST_LIMIT 0 SET DEADLOCK_PRIORITY NORMAL SET TRANSACTION ISOLATION LEVEL READ COMMITTED SET ANSI_NULLS
ON SET ANSI_NULL_DFLT_ON ON SET ANSI_PADDING ON SET ANSI_WARNINGS ON SET CURSOR_CLOSE_ON_COMMIT OFF SET
IMPLICIT_TRANSACTIONS OFF SET QUOTED_IDENTIFIER ON
GO
SELECT @@SPID;
GO
select SERVERPROPERTY('ProductLevel'), SERVERPROPERTY(N'ResourceVersion'), SERVERPROPERTY('EngineEdition'),
@@MICROSOFTVERSION
GO
DECLARE @edition sysname; SET @edition = cast(SERVERPROPERTY(N'EDITION') as sysname); SELECT case when @edition = N'SQL
Azure' then 2 else 1 end as 'DatabaseEngineType', SERVERPROPERTY('EngineEdition') AS DatabaseEngineEdition,
SERVERPROPERTY('ProductVersion') AS ProductVersion, @@MICROSOFTVERSION AS MicrosoftVersion; select host_platform from
sys.dm_os_host_info
GO
SELECT CAST(SERVERPROPERTY(N'Servername') AS sysname) AS [Server_Name], CAST(ISNULL(SERVERPROPERTY(N'instancename'), N'') AS
sysname) AS [InstanceName], CAST(0x0001 AS int) AS [Status], (@@microsoftversion / 0x1000000) & 0xff AS [VersionMajor],
(@@microsoftversion / 0x10000) & 0xff AS [VersionMinor], @@microsoftversion & 0xffff AS [BuildNumber],
CAST(SERVERPROPERTY('IsSingleUser') AS bit) AS [IsSingleUser], CAST(SERVERPROPERTY(N'Edition') AS sysname) AS [Edition],
CAST(SERVERPROPERTY('EngineEdition') AS int) AS [EngineEdition], CAST(ISNULL(SERVERPROPERTY(N'IsXTPSupported'), 0) AS bit)
AS [IsXTPSupported], SERVERPROPERTY(N'ProductVersion') AS [VersionString], SERVERPROPERTY('PathSeparator') AS
[PathSeparator], CAST(FULLTEXTSERVICEPROPERTY('IsFullTextInstalled') AS bit) AS [IsFullTextInstalled],
CAST(SERVERPROPERTY(N'IsHadrEnabled') AS bit) AS [IsHadrEnabled]
GO
SELECT (@@microsoftversion / 0x1000000) & 0xff AS [VersionMajor], dtb.collation_name AS [Collation], dtb.name AS
[DatabaseName2] FROM master.sys.databases AS dtb WHERE dtb.name = db_name()
GO
SELECT dtb.name AS [Name], dtb.database_id AS [ID], CAST(has_dbaccess(dtb.name) AS bit) AS [IsAccessible], CAST(case when
dtb.name in ('master','model','msdb','tempdb') then 1 else dtb.is_distributor end AS bit) AS [IsSystemObject],
dtb.state_desc, dtb.is_read_only, dtb.recovery_model, dtb.recovery_model_desc, dtb.compatibility_level,
dtb.page_verify_option_desc, dtb.user_access_desc, dtb.is_auto_close_on, dtb.is_auto_shrink_on, dtb.is_in_standby,
dtb.is_cleanly_shutdown, dtb.snapshot_isolation_state, dtb.is_read_committed_snapshot_on, dtb.is_encrypted,
dtb.is_cdc_enabled, dtb.is_published, dtb.is_subscribed, dtb.is_merge_published, dtb.is_broker_enabled,
dtb.is_trustworthy_on, dtb.is_db_chaining_on, dtb.is_fulltext_enabled, dtb.is_query_store_on, dtb.containment,
dtb.containment_desc, dtb.target_recovery_time_in_seconds, dtb.delayed_durability, dtb.delayed_durability_desc,
dtb.is_memory_optimized_elevate_to_snapshot_on, dtb.owner_sid, suser_sname(dtb.owner_sid) AS [Owner], dtb.create_date,
dtb.source_database_id, dtb.service_broker_guid, dtb.log_reuse_wait_desc, dtb.catalog_collation_type,
dtb.is_temporal_history_retention_enabled, dtb.is_mixed_page_allocation_on, dtb.is_accelerated_database_recovery_on,
dtb.resource_pool_id, dtb.default_language_lcid, dtb.default_language_name, dtb.two_digit_year_cutoff, dtb.is_ledger_on FROM
master.sys.databases AS dtb ORDER BY [Name] ASC
GO
SELECT dtb.name, drs.database_guid, drs.recovery_fork_guid, ISNULL(mirr.mirroring_state, 0), mirr.mirroring_role_desc,
mirr.mirroring_partner_name FROM master.sys.databases dtb LEFT OUTER JOIN sys.database_recovery_status AS drs ON
drs.database_id = dtb.database_id LEFT OUTER JOIN sys.database_mirroring AS mirr ON mirr.database_id = dtb.database_id
GO
use [OLTP]; SELECT tbl.name AS [Name], SCHEMA_NAME(tbl.schema_id) AS [Schema], tbl.object_id, CAST(tbl.is_memory_optimized
AS bit), tbl.durability, tbl.temporal_type, CAST(tbl.is_external AS bit), tbl.is_node, tbl.is_edge, tbl.create_date,
tbl.modify_date FROM sys.tables AS tbl WHERE (CAST(case when tbl.is_ms_shipped = 1 then 1 else 0 end AS bit) = 0) ORDER BY
[Schema] ASC, [Name] ASC
GO
SELECT name, type, type_desc, is_ms_shipped, parent_object_id, schema_id FROM sys.all_objects WHERE name = 'sysprocesses'
GO
SELECT TOP 5 c.object_id, c.name, c.column_id, c.system_type_id, c.user_type_id, c.max_length, c.precision, c.scale,
c.is_nullable, c.is_identity, c.is_computed, c.collation_name FROM sys.all_columns AS c JOIN sys.all_objects AS o ON
o.object_id = c.object_id WHERE o.name = 'databases'
GO
SELECT has_perms_by_name(null, null, 'VIEW SERVER STATE') AS s, HAS_PERMS_BY_NAME('OLTP', 'DATABASE', 'ANY') AS d,
IS_SRVROLEMEMBER('sysadmin') AS r, IS_MEMBER('db_owner') AS m, IS_ROLEMEMBER('db_owner') AS rm, HAS_DBACCESS('OLTP'),
SUSER_SNAME(), SUSER_NAME(), SUSER_ID(), USER_NAME(), ORIGINAL_LOGIN(), SUSER_SID(), USER_ID(), CURRENT_USER, SESSION_USER,
SYSTEM_USER, HOST_NAME(), APP_NAME(), DATABASE_PRINCIPAL_ID()
GO
SELECT SCHEMA_NAME(), DB_ID(), ORIGINAL_DB_NAME(), @@LANGUAGE, @@LANGID, @@DATEFIRST, @@MAX_CONNECTIONS, @@MAX_PRECISION,
@@OPTIONS, @@REMSERVER, @@SERVICENAME, @@TEXTSIZE, @@TIMETICKS, @@CPU_BUSY, @@IDLE, @@IO_BUSY, @@PACK_RECEIVED, @@PACK_SENT,
@@PACKET_ERRORS, @@TOTAL_ERRORS, @@TOTAL_READ, @@TOTAL_WRITE, @@CONNECTIONS, @@DBTS, @@NESTLEVEL, @@PROCID, @@CURSOR_ROWS,
@@FETCH_STATUS, @@IDENTITY, @@LOCK_TIMEOUT, @@TRANCOUNT, @@ROWCOUNT, @@ERROR, @@VERSION, @@SERVERNAME
GO
SELECT configuration_id, name, value, minimum, maximum, value_in_use, description, is_dynamic, is_advanced FROM
sys.configurations WHERE name IN ('xp_cmdshell', 'user options', 'default trace enabled', 'Agent XPs', 'contained database
authentication', 'backup compression default')
GO
SELECT SERVERPROPERTY('BuildClrVersion'), SERVERPROPERTY('Collation'), SERVERPROPERTY('CollationID'),
SERVERPROPERTY('ComparisonStyle'), SERVERPROPERTY('ComputerNamePhysicalNetBIOS'), SERVERPROPERTY('Edition'),
SERVERPROPERTY('EditionID'), SERVERPROPERTY('EngineEdition'), SERVERPROPERTY('FilestreamConfiguredLevel'),
SERVERPROPERTY('FilestreamEffectiveLevel'), SERVERPROPERTY('FilestreamShareName'), SERVERPROPERTY('HadrManagerStatus'),
SERVERPROPERTY('InstanceDefaultBackupPath'), SERVERPROPERTY('InstanceDefaultDataPath'),
SERVERPROPERTY('InstanceDefaultLogPath'), SERVERPROPERTY('InstanceName'), SERVERPROPERTY('IsAdvancedAnalyticsInstalled'),
SERVERPROPERTY('IsBigDataCluster'), SERVERPROPERTY('IsClustered'), SERVERPROPERTY('IsExternalAuthenticationOnly'),
SERVERPROPERTY('IsExternalGovernanceEnabled'), SERVERPROPERTY('IsFullTextInstalled'), SERVERPROPERTY('IsHadrEnabled'),
SERVERPROPERTY('IsIntegratedSecurityOnly'), SERVERPROPERTY('IsLocalDB'), SERVERPROPERTY('IsPolyBaseInstalled'),
SERVERPROPERTY('IsServerSuspendedForSnapshotBackup'), SERVERPROPERTY('IsSingleUser'),
SERVERPROPERTY('IsTempDbMetadataMemoryOptimized'), SERVERPROPERTY('IsXTPSupported'), SERVERPROPERTY('LCID'),
SERVERPROPERTY('LicenseType'), SERVERPROPERTY('MachineName'), SERVERPROPERTY('NumLicenses'),
SERVERPROPERTY('PathSeparator'), SERVERPROPERTY('ProcessID'), SERVERPROPERTY('ProductBuild'),
SERVERPROPERTY('ProductBuildType'), SERVERPROPERTY('ProductLevel'), SERVERPROPERTY('ProductMajorVersion'),
SERVERPROPERTY('ProductMinorVersion'), SERVERPROPERTY('ProductUpdateLevel'), SERVERPROPERTY('ProductUpdateReference'),
SERVERPROPERTY('ProductUpdateType'), SERVERPROPERTY('ProductVersion'), SERVERPROPERTY('ResourceLastUpdateDateTime'),
SERVERPROPERTY('ResourceVersion'), SERVERPROPERTY('ServerName'), SERVERPROPERTY('SqlCharSet'),
SERVERPROPERTY('SqlCharSetName'), SERVERPROPERTY('SqlSortOrder'), SERVERPROPERTY('SqlSortOrderName'),
SERVERPROPERTY('SuspendedDatabaseCount')
GO
SELECT DATABASEPROPERTYEX('OLTP','Collation'), DATABASEPROPERTYEX('OLTP','ComparisonStyle'),
DATABASEPROPERTYEX('OLTP','Edition'), DATABASEPROPERTYEX('OLTP','IsAnsiNullDefault'),
DATABASEPROPERTYEX('OLTP','IsAutoClose'), DATABASEPROPERTYEX('OLTP','IsAutoShrink'),
DATABASEPROPERTYEX('OLTP','IsAutoCreateStatistics'), DATABASEPROPERTYEX('OLTP','IsAutoUpdateStatistics'),
DATABASEPROPERTYEX('OLTP','IsClone'), DATABASEPROPERTYEX('OLTP','IsFulltextEnabled'),
DATABASEPROPERTYEX('OLTP','IsInStandBy'), DATABASEPROPERTYEX('OLTP','IsMemoryOptimizedElevateToSnapshotEnabled'),
DATABASEPROPERTYEX('OLTP','IsParameterizationForced'), DATABASEPROPERTYEX('OLTP','IsPublished'),
DATABASEPROPERTYEX('OLTP','IsQuotedIdentifiersEnabled'), DATABASEPROPERTYEX('OLTP','IsSubscribed'),
DATABASEPROPERTYEX('OLTP','IsSyncWithBackup'), DATABASEPROPERTYEX('OLTP','IsTornPageDetectionEnabled'),
DATABASEPROPERTYEX('OLTP','IsVerifiedClone'), DATABASEPROPERTYEX('OLTP','IsXTPSupported'),
DATABASEPROPERTYEX('OLTP','LastGoodCheckDbTime'), DATABASEPROPERTYEX('OLTP','LCID'),
DATABASEPROPERTYEX('OLTP','MaxSizeInBytes'), DATABASEPROPERTYEX('OLTP','Recovery'),
DATABASEPROPERTYEX('OLTP','SQLSortOrder'), DATABASEPROPERTYEX('OLTP','Status'), DATABASEPROPERTYEX('OLTP','Updateability'),
DATABASEPROPERTYEX('OLTP','UserAccess'), DATABASEPROPERTYEX('OLTP','Version'), DATABASEPROPERTYEX('OLTP','ReplicaID')
GO
SELECT @@SERVERNAME AS ServerName, net_transport, auth_scheme FROM sys.dm_exec_connections WHERE session_id = @@SPID
GO
SELECT AG.name AS [Name], ISNULL(agstates.primary_replica, '') AS [PrimaryReplicaServerName], ISNULL(arstates.role, 3) AS
[LocalReplicaRole], AG.group_id, AG.automated_backup_preference, AG.failure_condition_level, AG.health_check_timeout,
AG.basic_features, AG.db_failover, AG.dtc_support, AG.cluster_type_desc, AG.required_synchronized_secondaries_to_commit,
AG.is_distributed, AG.is_contained FROM master.sys.availability_groups AS AG LEFT OUTER JOIN
master.sys.dm_hadr_availability_group_states as agstates ON AG.group_id = agstates.group_id INNER JOIN
master.sys.availability_replicas AS AR ON AG.group_id = AR.group_id INNER JOIN
master.sys.dm_hadr_availability_replica_states AS arstates ON AR.replica_id = arstates.replica_id AND arstates.is_local = 1
ORDER BY [Name] ASC
GO
SELECT dbcs.database_name AS [Name], ISNULL(dbcs.is_pending_secondary_suspend, 0), ISNULL(dbcs.is_failover_ready, 0),
ISNULL(dbcs.is_database_joined, 0), ISNULL(dbrs.synchronization_state, 0), ISNULL(dbrs.is_suspended, 0),
ISNULL(dbrs.suspend_reason, 7), ISNULL(dbrs.recovery_lsn, 0), ISNULL(dbrs.truncation_lsn, 0), ISNULL(dbrs.last_sent_lsn, 0),
ISNULL(dbrs.last_sent_time, 0), ISNULL(dbrs.last_received_lsn, 0), ISNULL(dbrs.last_received_time, 0),
ISNULL(dbrs.last_hardened_lsn, 0), ISNULL(dbrs.last_hardened_time, 0), ISNULL(dbrs.last_redone_lsn, 0),
ISNULL(dbrs.last_redone_time, 0), ISNULL(dbrs.log_send_queue_size, -1), ISNULL(dbrs.log_send_rate, -1),
ISNULL(dbrs.redo_queue_size, -1), ISNULL(dbrs.redo_rate, -1), ISNULL(dbrs.filestream_send_rate, -1),
ISNULL(dbrs.end_of_log_lsn, 0), ISNULL(dbrs.last_commit_lsn, 0), ISNULL(dbrs.last_commit_time, 0),
ISNULL(dbrs.low_water_mark_for_ghosts, 0), ISNULL(dbrs.secondary_lag_seconds, 0), ISNULL(dbrs.quorum_commit_lsn, 0) FROM
master.sys.dm_hadr_database_replica_cluster_states AS dbcs LEFT OUTER JOIN master.sys.dm_hadr_database_replica_states AS
dbrs ON dbcs.replica_id = dbrs.replica_id AND dbcs.group_database_id = dbrs.group_database_id
GO
SELECT AR.replica_server_name, AR.endpoint_url, AR.availability_mode_desc, AR.failover_mode_desc, AR.session_timeout,
AR.primary_role_allow_connections_desc, AR.secondary_role_allow_connections_desc, AR.backup_priority,
AR.read_only_routing_url, AR.seeding_mode_desc, AR.read_write_routing_url, AR.owner_sid, AR.create_date, AR.modify_date,
ARS.operational_state_desc, ARS.recovery_health_desc, ARS.connected_state_desc, ARS.synchronization_health_desc,
ARS.last_connect_error_number, ARS.last_connect_error_description, ARS.last_connect_error_timestamp, ARCS.join_state_desc
FROM sys.availability_replicas AR LEFT JOIN sys.dm_hadr_availability_replica_states ARS ON ARS.replica_id = AR.replica_id
LEFT JOIN sys.dm_hadr_availability_replica_cluster_states ARCS ON ARCS.replica_id = AR.replica_id
GO
SELECT ag_name, ag_id, ag_resource_id, ag_group_id FROM sys.dm_hadr_name_id_map
GO
SELECT cluster_name, quorum_type_desc, quorum_state_desc FROM sys.dm_hadr_cluster; SELECT member_name, member_type_desc,
member_state_desc, number_of_quorum_votes FROM sys.dm_hadr_cluster_members; SELECT * FROM sys.dm_hadr_cluster_networks;
SELECT instance_name, node_name FROM sys.dm_hadr_instance_node_map
GO
SELECT l.dns_name, l.port, l.is_conformant, l.ip_configuration_string_from_cluster, a.ip_address, a.ip_subnet_mask,
a.is_dhcp, a.state_desc, a.network_subnet_ip FROM sys.availability_group_listeners l LEFT JOIN
sys.availability_group_listener_ip_addresses a ON a.listener_id = l.listener_id
GO
SELECT r.replica_id, r.routing_priority, r.read_only_replica_id FROM sys.availability_read_only_routing_lists r
GO
SELECT d.name, MIN(COALESCE(ars.[role], 1)) AS r FROM master.sys.databases (NOLOCK) d LEFT JOIN
sys.dm_hadr_database_replica_states (NOLOCK) s ON d.database_id = s.database_id LEFT JOIN
sys.dm_hadr_availability_replica_states (NOLOCK) ars ON s.group_id = ars.group_id AND s.replica_id = ars.replica_id GROUP BY
d.name
GO
IF SERVERPROPERTY('IsHadrEnabled') = 1 AND EXISTS (SELECT 1 FROM sys.dm_hadr_database_replica_cluster_states WHERE
database_name = 'OLTP') SELECT sys.fn_hadr_is_primary_replica('OLTP') AS p, sys.fn_hadr_backup_is_preferred_replica('OLTP')
AS b
GO
SELECT local_database_name, role_desc, internal_state_desc, transfer_rate_bytes_per_second, transferred_size_bytes,
database_size_bytes, start_time_utc, end_time_utc, estimate_time_complete_utc, failure_message FROM
sys.dm_hadr_physical_seeding_stats; SELECT start_time, completion_time, current_state, failure_state_desc, performed_seeding
FROM sys.dm_hadr_automatic_seeding
GO
SELECT e.name, e.protocol_desc, e.type_desc, e.state_desc, e.is_admin_endpoint, t.port, t.ip_address, m.role_desc,
m.encryption_algorithm_desc, m.connection_auth_desc, m.is_encryption_enabled FROM sys.endpoints e LEFT JOIN
sys.tcp_endpoints t ON t.endpoint_id = e.endpoint_id LEFT JOIN sys.database_mirroring_endpoints m ON m.endpoint_id =
e.endpoint_id
GO
SELECT SERVERPROPERTY('ProductMajorVersion'), host_platform, host_distribution, host_release, host_service_pack_level,
host_sku, os_language_version FROM sys.dm_os_host_info; SELECT windows_release, windows_service_pack_level, windows_sku,
os_language_version FROM sys.dm_os_windows_info
GO
SELECT servicename, startup_type_desc, status_desc, process_id, last_startup_time, service_account, is_clustered,
instant_file_initialization_enabled FROM sys.dm_server_services; SELECT registry_key, value_name, value_data FROM
sys.dm_server_registry
GO
SELECT sqlserver_start_time, cpu_count, hyperthread_ratio, physical_memory_kb, committed_kb, max_workers_count,
socket_count, cores_per_socket, numa_node_count, container_type_desc, virtual_machine_type_desc,
softnuma_configuration_desc, sql_memory_model_desc FROM sys.dm_os_sys_info; SELECT total_physical_memory_kb,
available_physical_memory_kb, system_memory_state_desc FROM sys.dm_os_sys_memory; SELECT physical_memory_in_use_kb,
large_page_allocations_kb, locked_page_allocations_kb, memory_utilization_percentage, process_physical_memory_low FROM
sys.dm_os_process_memory
GO
SELECT d.name, f.name, f.physical_name, f.type_desc, f.size, f.max_size, f.growth, f.is_percent_growth, s.num_of_reads,
s.num_of_writes, s.io_stall_read_ms, s.io_stall_write_ms, s.io_stall, s.size_on_disk_bytes, v.volume_mount_point,
v.total_bytes, v.available_bytes FROM sys.master_files f JOIN sys.databases d ON d.database_id = f.database_id CROSS APPLY
sys.dm_io_virtual_file_stats(f.database_id, f.file_id) s CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) v
GO
SELECT r.io_pending, r.io_pending_ms_ticks, r.io_type FROM sys.dm_io_pending_io_requests r
GO
SELECT s.session_id, s.login_name, s.host_name, s.program_name, s.status, s.cpu_time, s.memory_usage, s.reads, s.writes,
s.logical_reads, s.open_transaction_count, s.transaction_isolation_level, s.database_id, s.is_user_process,
s.last_request_start_time, c.client_net_address, c.encrypt_option, r.blocking_session_id, r.wait_type, r.wait_time,
r.wait_resource, r.command, r.percent_complete, t.text FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_connections c ON
c.session_id = s.session_id LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id OUTER APPLY
sys.dm_exec_sql_text(r.sql_handle) t WHERE s.is_user_process = 1
GO
SELECT p.name, p.principal_id, p.type_desc, p.is_disabled, p.create_date, p.default_database_name, p.sid,
l.is_policy_checked, l.is_expiration_checked, LOGINPROPERTY(p.name, 'PasswordLastSetTime') FROM sys.server_principals p LEFT
JOIN sys.sql_logins l ON l.principal_id = p.principal_id WHERE p.type IN ('S','U','G')
GO
SELECT r.name, m.name FROM sys.server_role_members rm JOIN sys.server_principals r ON r.principal_id = rm.role_principal_id
JOIN sys.server_principals m ON m.principal_id = rm.member_principal_id
GO
SELECT dp.name, dp.type_desc, dp.default_schema_name FROM sys.database_principals dp; SELECT perm.class_desc,
perm.permission_name, perm.state_desc FROM sys.server_permissions perm
GO
SELECT d.name, MAX(b.backup_finish_date) AS f, MAX(CASE b.type WHEN 'L' THEN b.backup_finish_date END) AS l FROM
sys.databases d LEFT JOIN msdb.dbo.backupset b ON b.database_name = d.name GROUP BY d.name
GO
SELECT j.name, j.enabled FROM msdb.dbo.sysjobs j
GO
SELECT name, is_linked, product, provider, data_source FROM sys.servers
GO
SELECT i.name, i.type_desc, i.is_unique, i.is_primary_key, i.fill_factor, p.rows, p.data_compression_desc, a.total_pages,
a.used_pages, a.type_desc FROM sys.indexes i JOIN sys.partitions p ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN sys.allocation_units a ON a.container_id = p.hobt_id
GO
SELECT name, value, value_for_secondary FROM sys.database_scoped_configurations
GO
SELECT FILEPROPERTY(f.name, 'SpaceUsed'), f.file_id, f.data_space_id, f.state_desc, ds.name FROM sys.database_files f LEFT
JOIN sys.data_spaces ds ON ds.data_space_id = f.data_space_id
GO
SELECT total_log_size_in_bytes, used_log_space_in_bytes, used_log_space_in_percent, log_space_in_bytes_since_last_backup
FROM sys.dm_db_log_space_usage
GO
SELECT total_vlf_count, total_log_size_mb, log_backup_time, log_truncation_holdup_reason FROM sys.dm_db_log_stats(DB_ID())
GO
SELECT total_page_count, allocated_extent_page_count, unallocated_extent_page_count FROM sys.dm_db_file_space_usage
GO
SELECT scheduler_id, cpu_id, status, is_online, current_tasks_count, runnable_tasks_count, work_queue_count FROM
sys.dm_os_schedulers
GO
SELECT resource_type, resource_database_id, request_mode, request_status, request_session_id FROM sys.dm_tran_locks; SELECT
transaction_id, name, transaction_begin_time, transaction_type, transaction_state FROM sys.dm_tran_active_transactions;
SELECT session_id, transaction_id, is_user_transaction, open_transaction_count FROM sys.dm_tran_session_transactions; SELECT
transaction_id, database_id, database_transaction_log_bytes_used, database_transaction_begin_time FROM
sys.dm_tran_database_transactions
GO
SELECT name, address FROM sys.dm_xe_sessions; SELECT event_session_id, name, startup_state FROM sys.server_event_sessions
GO
exec sp_executesql N'SELECT name FROM sys.databases WHERE name = @n', N'@n sysname', @n = N'OLTP'
GO
EXEC sp_helpserver; EXEC sp_helpsrvrole; EXEC sp_helpfilegroup
GO
EXEC sp_spaceused
GO
SELECT COLLATIONPROPERTY('SQL_Latin1_General_CP1_CI_AS', 'CodePage'), CONNECTIONPROPERTY('net_transport'),
CONNECTIONPROPERTY('protocol_type'), CONNECTIONPROPERTY('auth_scheme'), CONNECTIONPROPERTY('local_net_address'),
CONNECTIONPROPERTY('local_tcp_port'), CONNECTIONPROPERTY('client_net_address'), OBJECTPROPERTYEX(OBJECT_ID('sys.databases'),
'BaseType'), SESSIONPROPERTY('ANSI_NULLS'), TYPE_ID('int')
GO
SELECT TOP 1 s.name, t.name FROM sys.types t JOIN sys.schemas s ON s.schema_id = t.schema_id; SELECT name FROM sys.synonyms;
SELECT name FROM sys.triggers; SELECT name FROM sys.sequences; SELECT name FROM sys.assemblies; SELECT object_id, definition
FROM sys.sql_modules; SELECT name FROM sys.extended_properties; SELECT name FROM sys.foreign_keys; SELECT name FROM
sys.check_constraints; SELECT name FROM sys.default_constraints; SELECT name FROM sys.key_constraints; SELECT name, stats_id
FROM sys.stats; SELECT referencing_id FROM sys.sql_expression_dependencies; SELECT name FROM sys.symmetric_keys; SELECT name
FROM sys.certificates; SELECT name FROM sys.external_data_sources; SELECT name FROM sys.fulltext_catalogs; SELECT name FROM
sys.parameters; SELECT name FROM sys.procedures; SELECT name FROM sys.views; SELECT name FROM sys.identity_columns; SELECT
name FROM sys.computed_columns; SELECT constraint_object_id FROM sys.foreign_key_columns; SELECT index_id FROM
sys.index_columns
GO
SELECT TABLE_CATALOG, TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES; SELECT TABLE_NAME, COLUMN_NAME,
DATA_TYPE, IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS; SELECT ROUTINE_NAME FROM INFORMATION_SCHEMA.ROUTINES; SELECT
SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA; SELECT TABLE_NAME FROM INFORMATION_SCHEMA.VIEWS; SELECT CONSTRAINT_NAME FROM
INFORMATION_SCHEMA.TABLE_CONSTRAINTS; SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE
GO
DECLARE @mode int, @path nvarchar(512), @levels int; EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE',
N'Software\Microsoft\MSSQLServer\MSSQLServer', N'LoginMode', @mode OUTPUT; EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE',
N'Software\Microsoft\MSSQLServer\MSSQLServer', N'BackupDirectory', @path OUTPUT; EXEC master.dbo.xp_instance_regread
N'HKEY_LOCAL_MACHINE', N'Software\Microsoft\MSSQLServer\MSSQLServer', N'NumErrorLogs', @levels OUTPUT; EXEC master.sys.xp_regread
N'HKEY_LOCAL_MACHINE', N'SYSTEM\CurrentControlSet\Services\SQLBrowser', N'ObjectName', N'no_output'; SELECT @mode, @path,
ISNULL(@levels, -1)
GO
CREATE TABLE #facts (id int, name sysname, internal int, value nvarchar(512)); INSERT #facts EXEC master.dbo.xp_msver; SELECT value FROM
#facts WHERE name = N'ProcessorCount'; DROP TABLE #facts; DECLARE @net sysname; EXEC master.dbo.xp_getnetname @net OUTPUT; SELECT @net
GO
EXEC master.dbo.sp_server_info; EXEC master.dbo.sp_enum_oledb_providers; EXEC master.dbo.sp_enumerrorlogs
GO
DECLARE @page float; SELECT @page = v.low / 1024.0 FROM master.dbo.spt_values v WHERE v.number = 1 AND v.type = 'E'; SELECT @page *
SUM(a.used_pages) FROM sys.allocation_units a; SELECT v.name FROM master..spt_values v WHERE v.type = 'LR'; SELECT number FROM
master.dbo.spt_values WHERE type = 'P' AND number BETWEEN 1 AND 31
GO
SELECT CAST(CAST(g.name AS varbinary(256)) AS sysname) AS [Name], g.data_space_id FROM sys.filegroups AS g ORDER BY [Name] ASC
GO
SELECT sl.langid, sl.name, sl.alias, sl.dateformat, sl.datefirst, sl.lcid, sl.msglangid FROM sys.syslanguages sl; SELECT name,
credential_identity, target_type FROM sys.credentials; SELECT name, dll_path, is_enabled FROM sys.cryptographic_providers; SELECT name,
physical_name, type_desc FROM sys.backup_devices; SELECT t.name, t.is_disabled, m.definition, a.assembly_class FROM
master.sys.server_triggers t LEFT JOIN master.sys.server_sql_modules m ON m.object_id = t.object_id LEFT JOIN
master.sys.server_assembly_modules a ON a.object_id = t.object_id; SELECT name, audit_guid, on_failure_desc FROM sys.server_audits;
SELECT s.name, d.audit_action_name FROM sys.server_audit_specifications s JOIN sys.server_audit_specification_details d ON
d.server_specification_id = s.server_specification_id; SELECT name FROM sys.resource_governor_external_resource_pools
GO
SELECT d.name, o.non_transacted_access_desc, t.retention_period_units_desc FROM sys.databases d LEFT JOIN
sys.database_filestream_options o ON o.database_id = d.database_id LEFT JOIN sys.change_tracking_databases t ON t.database_id =
d.database_id
GO
SELECT v.name, v.is_ms_shipped, SCHEMA_NAME(v.schema_id) FROM sys.all_views v; SELECT o.name FROM sys.system_objects o; SELECT p.name FROM
sys.all_parameters p; SELECT m.definition FROM sys.system_sql_modules m; SELECT name FROM sys.table_types; SELECT name FROM
sys.assembly_types; SELECT name FROM sys.asymmetric_keys; SELECT name FROM sys.column_master_keys; SELECT name FROM
sys.column_encryption_keys; SELECT name FROM sys.plan_guides; SELECT name FROM sys.security_policies; SELECT name FROM
sys.xml_schema_collections; SELECT name FROM sys.database_scoped_credentials; SELECT name FROM sys.database_audit_specifications; SELECT
name FROM sys.external_file_formats; SELECT name FROM sys.external_libraries; SELECT name FROM sys.fulltext_stoplists; SELECT object_id
FROM sys.fulltext_indexes; SELECT name FROM sys.registered_search_property_lists; SELECT object_id FROM sys.change_tracking_tables; SELECT
assembly_class FROM sys.assembly_modules; SELECT audit_action_id FROM sys.database_audit_specification_details
GO
SELECT c.name, c.default_object_id, c.is_sparse, c.generated_always_type_desc, c.is_masked FROM sys.all_columns c JOIN sys.all_views v ON
v.object_id = c.object_id WHERE v.name = 'databases'
GO
SELECT p.name, sys.fn_varbintohexsubstring(1, p.sid, 1, 0), SUSER_SNAME(sid_binary(N'NT SERVICE\MSSQLSERVER')) FROM sys.server_principals p;
SELECT c.name, SQL_VARIANT_PROPERTY(c.value, 'BaseType') FROM sys.database_scoped_configurations c
GO
SELECT msdb.dbo.fn_syspolicy_is_automation_enabled(); SELECT h.policy_id FROM msdb.dbo.syspolicy_system_health_state h; SELECT
SUSER_SNAME(SUSER_SID(N'sa', 0)), q.actual_state_desc, q.max_storage_size_mb FROM sys.database_query_store_options q
GO
SELECT t.name, e.location, f.directory_name, r.remote_table_name, x.secondary_type_desc, s.tessellation_scheme, p.name, m.masking_function,
g.label FROM sys.tables t LEFT JOIN sys.external_tables e ON e.object_id = t.object_id LEFT JOIN sys.filetables f ON f.object_id =
t.object_id LEFT JOIN sys.remote_data_archive_tables r ON r.object_id = t.object_id LEFT JOIN sys.xml_indexes x ON x.object_id =
t.object_id LEFT JOIN sys.spatial_indexes s ON s.object_id = t.object_id LEFT JOIN sys.periods p ON p.object_id = t.object_id LEFT JOIN
sys.masked_columns m ON m.object_id = t.object_id LEFT JOIN sys.sensitivity_classifications g ON g.major_id = t.object_id
GO
SELECT c.name, c.column_encryption_key_id, c.encryption_type_desc, c.graph_type_desc FROM sys.columns c; SELECT column_id FROM
sys.stats_columns; SELECT object_id FROM sys.internal_tables; SELECT name FROM sys.linked_logins l JOIN sys.servers s ON s.server_id =
l.server_id; SELECT name, is_message_forwarding_enabled FROM sys.service_broker_endpoints; SELECT definition FROM sys.all_sql_modules;
SELECT crypt_type_desc FROM sys.key_encryptions; SELECT name FROM sys.fulltext_languages; SELECT type_desc FROM sys.trigger_events; SELECT
dll_name FROM sys.extended_procedures; SELECT max_rollover_files FROM sys.server_file_audits; SELECT path FROM
sys.selective_xml_index_paths; SELECT name, xtype FROM syscolumns
GO
SELECT CAST(ISNULL(DATABASEPROPERTYEX(d.name, 'LastGoodCheckDbTime'), 0) AS datetime), d.name COLLATE catalog_default FROM sys.databases d
WHERE d.collation_name = CAST(DATABASEPROPERTYEX(N'OLTP', 'Collation') AS sysname) COLLATE database_default
