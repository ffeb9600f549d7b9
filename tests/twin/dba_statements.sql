-- Questions that the widely used scripts of DBAs ask: who is active and who blocks, what the server has waited for, what costs
-- most, how full files and logs are, what to rebuild and what to back up. The wording is this project's; views, columns,
-- functions and procedures are SQL Server's. Each batch must run without an error on every node.
SELECT type, name, memory_node_id, pages_kb, virtual_memory_reserved_kb, virtual_memory_committed_kb, awe_allocated_kb,
shared_memory_reserved_kb, shared_memory_committed_kb FROM sys.dm_os_memory_clerks ORDER BY pages_kb DESC
GO
SELECT node_id, node_state_desc, memory_object_address, memory_clerk_address, memory_node_id, cpu_affinity_mask,
online_scheduler_count, idle_scheduler_count, active_worker_count, avg_load_balance, timer_task_affinity_mask,
permanent_task_affinity_mask, resource_monitor_state, online_scheduler_mask, processor_group, cpu_count FROM sys.dm_os_nodes
GO
SELECT memory_node_id, virtual_address_space_reserved_kb, virtual_address_space_committed_kb, locked_page_allocations_kb,
pages_kb, shared_memory_reserved_kb, shared_memory_committed_kb, cpu_affinity_mask, online_scheduler_mask,
processor_group, foreign_committed_kb, target_kb FROM sys.dm_os_memory_nodes
GO
SELECT AVG(current_tasks_count) AS t, AVG(work_queue_count) AS w, AVG(runnable_tasks_count) AS r,
AVG(pending_disk_io_count) AS d FROM sys.dm_os_schedulers WITH (NOLOCK) WHERE scheduler_id < 255 OPTION (RECOMPILE)
GO
SELECT scheduler_id, parent_node_id, is_online, is_idle, preemptive_switches_count, context_switches_count,
idle_switches_count, current_workers_count, active_workers_count, load_factor, yield_count, last_timer_activity,
failed_to_create_worker, active_worker_address, memory_object_address, task_memory_object_address, quantum_length_us,
total_cpu_usage_ms, total_cpu_idle_capped_ms, total_scheduler_delay_ms, ideal_workers_limit FROM sys.dm_os_schedulers
GO
SELECT credential_id, name, credential_identity, create_date, modify_date, target_type, target_id FROM sys.credentials
GO
SELECT langid, dateformat, datefirst, upgrade, name, alias, months, shortmonths, days, lcid, msglangid FROM sys.syslanguages
GO
SELECT name, description FROM sys.fn_helpcollations() WHERE name LIKE 'SQL[_]Latin1%'
GO
DECLARE @dir nvarchar(4000); EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE',
N'Software\Microsoft\MSSQLServer\MSSQLServer', N'BackupDirectory', @dir OUTPUT; SELECT @dir AS BackupDirectory
GO
EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE', N'Software\Microsoft\MSSQLServer\MSSQLServer', N'LoginMode'
GO
EXEC master.sys.xp_readerrorlog 0, 1, N'SQL'
GO
EXEC master.dbo.xp_readerrorlog 0, 1, N'Server', N'process', '2000-01-01', '2100-01-01', N'desc'
GO
EXEC sp_readerrorlog
GO
EXEC sp_readerrorlog 0, 1, 'SQL', 'Server'
GO
EXEC xp_enumerrorlogs
GO
EXEC sp_helplogins
GO
EXEC sp_helplogins 'sa'
GO
EXEC sp_helpuser
GO
EXEC sp_helpuser 'dbo'
GO
EXEC sp_helprole
GO
EXEC sp_helprolemember
GO
EXEC sp_helpsrvrolemember
GO
EXEC sp_helprotect
GO
EXEC sp_monitor
GO
EXEC sp_helpsort
GO
EXEC sp_spaceused @updateusage = N'TRUE'
GO
EXEC sp_spaceused @oneresultset = 1
GO
EXEC sp_spaceused @mode = 'ALL', @include_total_xtp_storage = 1
GO
EXEC sp_configure
GO
EXEC sp_configure 'nested'
GO
EXEC sp_configure 'show advanced options'
GO
SELECT TYPEPROPERTY('int', 'Precision') AS p, TYPEPROPERTY('sysname', 'AllowsNull') AS n, TYPEPROPERTY('decimal', 'Scale'),
TYPEPROPERTY('nothing', 'Precision'), TYPEPROPERTY('varchar', 'UsesAnsiTrim'), TYPEPROPERTY('sysname', 'OwnerId')
GO
SELECT OBJECT_NAME(i.object_id), i.name, INDEXPROPERTY(i.object_id, i.name, 'IsUnique'), INDEXPROPERTY(i.object_id, i.name,
'IsClustered'), INDEXPROPERTY(i.object_id, i.name, 'IndexDepth'), INDEXPROPERTY(i.object_id, i.name, 'IndexFillFactor'),
INDEXPROPERTY(i.object_id, i.name, 'IndexID'), INDEXPROPERTY(i.object_id, i.name, 'IsDisabled'), INDEXPROPERTY(i.object_id,
i.name, 'IsHypothetical'), INDEXPROPERTY(i.object_id, i.name, 'IsPadIndex'), INDEXPROPERTY(i.object_id, i.name,
'IsPageLockDisallowed'), INDEXPROPERTY(i.object_id, i.name, 'IsRowLockDisallowed'), INDEXPROPERTY(i.object_id, i.name,
'IsStatistics'), INDEXPROPERTY(i.object_id, i.name, 'IsColumnstore'), INDEXPROPERTY(i.object_id, i.name, 'IsAutoStatistics'),
INDEXPROPERTY(i.object_id, i.name, 'IsFulltextKey') FROM sys.indexes i
GO
SELECT COLUMNPROPERTY(c.object_id, c.name, 'IsIdentity'), COLUMNPROPERTY(c.object_id, c.name, 'AllowsNull'),
COLUMNPROPERTY(c.object_id, c.name, 'ColumnId'), COLUMNPROPERTY(c.object_id, c.name, 'IsComputed'),
COLUMNPROPERTY(c.object_id, c.name, 'Precision'), COLUMNPROPERTY(c.object_id, c.name, 'Scale'), COLUMNPROPERTY(c.object_id,
c.name, 'IsRowGuidCol'), COLUMNPROPERTY(c.object_id, c.name, 'IsSparse'), COLUMNPROPERTY(c.object_id, c.name,
'CharMaxLen'), COLUMNPROPERTY(c.object_id, c.name, 'IsIndexable'), COLUMNPROPERTY(c.object_id, c.name,
'IsDeterministic'), COLUMNPROPERTY(c.object_id, c.name, 'IsPrecise'), COLUMNPROPERTY(c.object_id, c.name,
'IsIdNotForRepl'), COLUMNPROPERTY(c.object_id, c.name, 'UsesAnsiTrim'), COLUMNPROPERTY(c.object_id, c.name,
'FullTextTypeColumn') FROM sys.columns c
GO
SELECT OBJECTPROPERTYEX(o.object_id, 'BaseType'), OBJECTPROPERTYEX(o.object_id, 'Cardinality'),
OBJECTPROPERTYEX(o.object_id, 'IsUserTable'), OBJECTPROPERTY(o.object_id, 'IsMSShipped'), OBJECTPROPERTYEX(o.object_id,
'TableHasClustIndex'), OBJECTPROPERTY(o.object_id, 'TableHasPrimaryKey'), OBJECTPROPERTYEX(o.object_id, 'IsProcedure'),
OBJECTPROPERTY(o.object_id, 'TableHasIdentity'), OBJECTPROPERTY(o.object_id, 'IsView'), OBJECTPROPERTY(o.object_id,
'OwnerId'), OBJECTPROPERTY(o.object_id, 'SchemaId'), OBJECTPROPERTY(o.object_id, 'IsSchemaBound'),
OBJECTPROPERTY(o.object_id, 'TableHasIndex'), OBJECTPROPERTY(o.object_id, 'TableTextInRowLimit'),
OBJECTPROPERTY(o.object_id, 'ExecIsQuotedIdentOn'), OBJECTPROPERTY(o.object_id, 'TableHasForeignKey'),
OBJECTPROPERTY(o.object_id, 'TableHasCheckCnst'), OBJECTPROPERTY(o.object_id, 'IsEncrypted'), OBJECTPROPERTY(o.object_id,
'TableIsMemoryOptimized') FROM sys.objects o
GO
SELECT OBJECT_NAME(s.object_id, s.database_id), s.index_id, s.user_seeks, s.user_scans, s.user_lookups, s.user_updates,
s.last_user_seek, s.last_user_scan, s.last_user_lookup, s.last_user_update, s.system_seeks, s.system_scans,
s.system_lookups, s.system_updates, s.last_system_seek, s.last_system_scan, s.last_system_lookup, s.last_system_update
FROM sys.dm_db_index_usage_stats s WHERE s.database_id = DB_ID()
GO
SELECT DB_NAME(ps.database_id), OBJECT_NAME(ps.object_id), i.name, ps.partition_number, ps.index_type_desc,
ps.alloc_unit_type_desc, ps.index_depth, ps.index_level, ps.avg_fragmentation_in_percent, ps.fragment_count,
ps.avg_fragment_size_in_pages, ps.page_count, ps.avg_page_space_used_in_percent, ps.record_count, ps.ghost_record_count,
ps.version_ghost_record_count, ps.min_record_size_in_bytes, ps.max_record_size_in_bytes, ps.avg_record_size_in_bytes,
ps.forwarded_record_count, ps.compressed_page_count FROM sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL,
'LIMITED') ps JOIN sys.indexes i ON i.object_id = ps.object_id AND i.index_id = ps.index_id WHERE ps.page_count > 1000
GO
SELECT page_count FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID('sys.nothing'), DEFAULT, DEFAULT, 'SAMPLED')
GO
SELECT OBJECT_NAME(object_id), index_id, partition_number, leaf_insert_count, leaf_delete_count, leaf_update_count,
leaf_ghost_count, range_scan_count, singleton_lookup_count, row_lock_count, row_lock_wait_count, row_lock_wait_in_ms,
page_lock_count, page_lock_wait_count, page_lock_wait_in_ms, page_latch_wait_count, page_latch_wait_in_ms,
page_io_latch_wait_count, page_io_latch_wait_in_ms, index_lock_promotion_attempt_count, index_lock_promotion_count FROM
sys.dm_db_index_operational_stats(DB_ID(), NULL, NULL, NULL)
GO
SELECT OBJECT_NAME(object_id), SUM(row_count), SUM(reserved_page_count) * 8, SUM(used_page_count) * 8 FROM
sys.dm_db_partition_stats WHERE index_id < 2 GROUP BY object_id
GO
SELECT TOP (25) qs.sql_handle, qs.plan_handle, qs.statement_start_offset, qs.statement_end_offset, qs.plan_generation_num,
qs.creation_time, qs.last_execution_time, qs.execution_count, qs.total_worker_time, qs.last_worker_time, qs.min_worker_time,
qs.max_worker_time, qs.total_physical_reads, qs.last_physical_reads, qs.min_physical_reads, qs.max_physical_reads,
qs.total_logical_writes, qs.total_logical_reads, qs.total_clr_time, qs.total_elapsed_time, qs.last_elapsed_time,
qs.min_elapsed_time, qs.max_elapsed_time, qs.query_hash, qs.query_plan_hash, qs.total_rows, qs.last_rows, qs.min_rows,
qs.max_rows, qs.statement_sql_handle, qs.total_dop, qs.last_dop, qs.max_dop, qs.total_grant_kb, qs.max_grant_kb,
qs.total_used_grant_kb, qs.total_ideal_grant_kb, qs.total_reserved_threads, qs.total_used_threads, qs.total_spills,
qs.max_spills, DB_NAME(t.dbid), t.text, qp.query_plan FROM sys.dm_exec_query_stats AS qs WITH (NOLOCK) CROSS APPLY
sys.dm_exec_sql_text(plan_handle) AS t CROSS APPLY sys.dm_exec_query_plan(plan_handle) AS qp ORDER BY qs.total_worker_time
DESC OPTION (RECOMPILE)
GO
SELECT TOP (25) p.name AS [SP Name], qs.execution_count, qs.total_logical_reads, qs.total_elapsed_time, qs.cached_time,
qs.type_desc, qs.total_worker_time, qs.last_execution_time, qs.total_physical_reads FROM sys.procedures AS p INNER JOIN
sys.dm_exec_procedure_stats AS qs ON p.[object_id] = qs.[object_id] WHERE qs.database_id = DB_ID()
GO
SELECT OBJECT_NAME(object_id), execution_count FROM sys.dm_exec_function_stats; SELECT * FROM sys.dm_exec_trigger_stats
GO
SELECT usecounts, size_in_bytes, cacheobjtype, objtype, plan_handle, refcounts, bucketid, memory_object_address,
parent_plan_handle, pool_id FROM sys.dm_exec_cached_plans
GO
SELECT attribute, value, is_cache_key FROM sys.dm_exec_cached_plans cp CROSS APPLY sys.dm_exec_plan_attributes(cp.plan_handle)
GO
SELECT DB_NAME(fs.database_id), mf.physical_name, fs.sample_ms, fs.num_of_reads, fs.num_of_bytes_read, fs.io_stall_read_ms,
fs.num_of_writes, fs.num_of_bytes_written, fs.io_stall_write_ms, fs.io_stall, fs.size_on_disk_bytes, fs.file_handle,
fs.io_stall_queued_read_ms, fs.io_stall_queued_write_ms FROM sys.dm_io_virtual_file_stats(NULL, NULL) fs INNER JOIN
sys.master_files mf ON fs.database_id = mf.database_id AND fs.[file_id] = mf.[file_id]
GO
SELECT DISTINCT vs.volume_mount_point, vs.file_system_type, vs.logical_volume_name, vs.volume_id, vs.total_bytes,
vs.available_bytes, vs.supports_compression, vs.supports_alternate_streams, vs.supports_sparse_files, vs.is_read_only,
vs.is_compressed, vs.incurs_seek_penalty FROM sys.master_files AS f CROSS APPLY sys.dm_os_volume_stats(f.database_id,
f.[file_id]) AS vs
GO
SELECT drive_type_desc, free_space_in_bytes, fixed_drive_path FROM sys.dm_os_enumerate_fixed_drives; EXEC xp_fixeddrives
GO
SELECT cntr_value AS [Page Life Expectancy] FROM sys.dm_os_performance_counters WHERE [object_name] LIKE N'%Buffer Node%'
AND counter_name = N'Page life expectancy'; SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name IN
(N'Memory Grants Pending', N'Target Server Memory (KB)', N'Total Server Memory (KB)', N'Page lookups/sec', N'Lazy writes/sec',
N'SQL Compilations/sec', N'User Connections', N'Logins/sec', N'Log Flush Waits/sec', N'Log Growths', N'Percent Log Used',
N'Forwarded Records/sec', N'Lock Waits/sec', N'Number of Deadlocks/sec', N'Processes blocked')
GO
SELECT d.name, li.file_id, li.vlf_begin_offset, li.vlf_size_mb, li.vlf_sequence_number, li.vlf_active, li.vlf_status,
li.vlf_parity, li.vlf_first_lsn, li.vlf_create_lsn, li.vlf_encryptor_thumbprint FROM sys.databases d CROSS APPLY
sys.dm_db_log_info(d.database_id) li
GO
SELECT db.name, ls.recovery_model, ls.log_min_lsn, ls.log_end_lsn, ls.current_vlf_sequence_number, ls.current_vlf_size_mb,
ls.total_vlf_count, ls.total_log_size_mb, ls.active_vlf_count, ls.active_log_size_mb, ls.log_truncation_holdup_reason,
ls.log_backup_time, ls.log_backup_lsn, ls.log_since_last_log_backup_mb, ls.log_checkpoint_lsn,
ls.log_since_last_checkpoint_mb, ls.log_recovery_lsn, ls.log_recovery_size_mb, ls.recovery_vlf_count FROM sys.databases db
CROSS APPLY sys.dm_db_log_stats(db.database_id) ls
GO
SELECT at.transaction_id, at.name, at.transaction_begin_time, at.transaction_type, at.transaction_state,
at.transaction_status, at.transaction_status2, at.dtc_state, st.session_id, st.is_local, st.enlist_count, st.is_bound,
dt.database_id, dt.database_transaction_state, dt.database_transaction_type, dt.database_transaction_log_record_count,
dt.database_transaction_log_bytes_used, dt.database_transaction_log_bytes_reserved,
dt.database_transaction_log_bytes_used_system, dt.database_transaction_begin_lsn, dt.database_transaction_last_lsn FROM
sys.dm_tran_active_transactions at LEFT JOIN sys.dm_tran_session_transactions st ON st.transaction_id = at.transaction_id
LEFT JOIN sys.dm_tran_database_transactions dt ON dt.transaction_id = at.transaction_id
GO
SELECT transaction_id, transaction_sequence_num, commit_sequence_num, is_snapshot, session_id,
first_snapshot_sequence_num, max_version_chain_traversed, average_version_chain_traversed, elapsed_time_seconds FROM
sys.dm_tran_active_snapshot_database_transactions; SELECT * FROM sys.dm_tran_current_transaction; SELECT * FROM
sys.dm_tran_current_snapshot; SELECT * FROM sys.dm_tran_version_store_space_usage; SELECT * FROM
sys.dm_tran_persistent_version_store_stats; SELECT * FROM sys.dm_tran_top_version_generators; SELECT * FROM
sys.dm_tran_transactions_snapshot
GO
SELECT cpu_count, scheduler_count, hyperthread_ratio, physical_memory_kb / 1024, affinity_type_desc, socket_count,
cores_per_socket, numa_node_count, committed_kb, committed_target_kb, max_workers_count, sqlserver_start_time,
virtual_machine_type_desc, softnuma_configuration_desc, sql_memory_model_desc, container_type_desc FROM
sys.dm_os_sys_info
GO
SELECT total_physical_memory_kb, available_physical_memory_kb, total_page_file_kb, available_page_file_kb, system_cache_kb,
kernel_paged_pool_kb, kernel_nonpaged_pool_kb, system_high_memory_signal_state, system_low_memory_signal_state,
system_memory_state_desc FROM sys.dm_os_sys_memory; SELECT physical_memory_in_use_kb, large_page_allocations_kb,
locked_page_allocations_kb, total_virtual_address_space_kb, virtual_address_space_reserved_kb,
virtual_address_space_committed_kb, virtual_address_space_available_kb, page_fault_count, memory_utilization_percentage,
available_commit_limit_kb, process_physical_memory_low, process_virtual_memory_low FROM sys.dm_os_process_memory
GO
SELECT DB_NAME([database_id]), [file_id], [name], physical_name, type, type_desc, data_space_id, state, state_desc,
is_percent_growth, growth, size, max_size, is_media_read_only, is_read_only, is_sparse, is_name_reserved, create_lsn,
drop_lsn, file_guid, differential_base_lsn, backup_lsn, credential_id FROM sys.master_files
GO
SELECT servicename, process_id, startup_type, startup_type_desc, status, status_desc, last_startup_time, service_account,
is_clustered, cluster_nodename, [filename], instant_file_initialization_enabled FROM sys.dm_server_services
GO
SELECT name, value, value_in_use, minimum, maximum, [description], is_dynamic, is_advanced FROM sys.configurations ORDER BY
name
GO
WAITFOR DELAY '00:00:01'; WITH w AS (SELECT wait_type, wait_time_ms / 1000.0 AS WaitS, (wait_time_ms - signal_wait_time_ms) / 1000.0 AS ResourceS,
signal_wait_time_ms / 1000.0 AS SignalS, waiting_tasks_count AS WaitCount, 100.0 * wait_time_ms / SUM(wait_time_ms) OVER ()
AS Percentage, ROW_NUMBER() OVER (ORDER BY wait_time_ms DESC) AS RowNum FROM sys.dm_os_wait_stats WHERE wait_type NOT IN
(N'BROKER_EVENTHANDLER', N'LAZYWRITER_SLEEP') AND waiting_tasks_count > 0) SELECT MAX(w1.wait_type), CAST(MAX(w1.Percentage) AS
decimal(5, 2)), CAST((MAX(w1.WaitS) / MAX(w1.WaitCount)) AS decimal(16, 4)) FROM w AS w1 INNER JOIN w AS w2 ON w2.RowNum <=
w1.RowNum GROUP BY w1.RowNum HAVING SUM(w2.Percentage) - MAX(w1.Percentage) < 99
GO
SELECT session_id, wait_type, waiting_tasks_count, wait_time_ms, max_wait_time_ms, signal_wait_time_ms FROM
sys.dm_exec_session_wait_stats WHERE session_id = @@SPID
GO
SELECT latch_class, waiting_requests_count, wait_time_ms, max_wait_time_ms FROM sys.dm_os_latch_stats; SELECT TOP 5 name,
collisions, spins, spins_per_collision, sleep_time, backoffs FROM sys.dm_os_spinlock_stats
GO
SELECT r.session_id, r.request_id, r.start_time, r.status, r.command, r.sql_handle, r.statement_start_offset,
r.statement_end_offset, r.plan_handle, r.database_id, r.user_id, r.connection_id, r.blocking_session_id, r.wait_type,
r.wait_time, r.last_wait_type, r.wait_resource, r.open_transaction_count, r.open_resultset_count, r.transaction_id,
r.context_info, r.percent_complete, r.estimated_completion_time, r.cpu_time, r.total_elapsed_time, r.scheduler_id,
r.task_address, r.reads, r.writes, r.logical_reads, r.text_size, r.language, r.date_format, r.row_count,
r.prev_error, r.nest_level, r.granted_query_memory, r.executing_managed_code, r.group_id, r.query_hash, r.query_plan_hash,
r.statement_sql_handle, r.dop, r.parallel_worker_count, r.is_resumable, r.page_resource FROM sys.dm_exec_requests r
GO
SELECT s.session_id, s.login_time, s.host_name, s.program_name, s.host_process_id, s.client_version, s.client_interface_name,
s.login_name, s.nt_domain, s.nt_user_name, s.status, s.context_info, s.cpu_time, s.memory_usage, s.total_scheduled_time,
s.total_elapsed_time, s.endpoint_id, s.last_request_start_time, s.last_request_end_time, s.reads, s.writes, s.logical_reads,
s.is_user_process, s.row_count, s.prev_error, s.original_login_name, s.last_successful_logon, s.last_unsuccessful_logon,
s.unsuccessful_logons, s.group_id, s.database_id, s.authenticating_database_id, s.open_transaction_count,
s.page_server_reads FROM sys.dm_exec_sessions s
GO
SELECT c.session_id, c.most_recent_session_id, c.connect_time, c.net_transport, c.protocol_type, c.protocol_version,
c.endpoint_id, c.encrypt_option, c.auth_scheme, c.node_affinity, c.num_reads, c.num_writes, c.last_read, c.last_write,
c.net_packet_size, c.client_net_address, c.client_tcp_port, c.local_net_address, c.local_tcp_port, c.connection_id,
c.parent_connection_id, c.most_recent_sql_handle FROM sys.dm_exec_connections c
GO
SELECT x.session_id, x.internal, x.usr FROM (SELECT session_id, SUM(internal_objects_alloc_page_count) AS internal,
SUM(user_objects_alloc_page_count) AS usr FROM sys.dm_db_task_space_usage GROUP BY session_id) AS x; SELECT session_id,
user_objects_alloc_page_count, user_objects_dealloc_page_count, internal_objects_alloc_page_count,
internal_objects_dealloc_page_count, user_objects_deferred_dealloc_page_count FROM sys.dm_db_session_space_usage
GO
SELECT task_address, task_state, context_switches_count, pending_io_count, pending_io_byte_count, scheduler_id, session_id,
exec_context_id, request_id, worker_address, host_address, parent_task_address FROM sys.dm_os_tasks; SELECT worker_address,
status, is_preemptive, state, task_address, scheduler_address, thread_address, last_wait_type FROM sys.dm_os_workers;
SELECT thread_address, os_thread_id, kernel_time, usermode_time, creation_time FROM sys.dm_os_threads
GO
SELECT session_id, request_id, scheduler_id, dop, request_time, grant_time, requested_memory_kb, granted_memory_kb,
required_memory_kb, used_memory_kb, max_used_memory_kb, query_cost, timeout_sec, resource_semaphore_id, queue_id,
wait_order, is_next_candidate, wait_time_ms, plan_handle, sql_handle, group_id, pool_id, is_small, ideal_memory_kb FROM
sys.dm_exec_query_memory_grants; SELECT * FROM sys.dm_exec_query_resource_semaphores
GO
SELECT tl.resource_type, tl.resource_subtype, tl.resource_database_id, tl.resource_description,
tl.resource_associated_entity_id, tl.resource_lock_partition, tl.request_mode, tl.request_type, tl.request_status,
tl.request_reference_count, tl.request_session_id, tl.request_exec_context_id, tl.request_owner_type, tl.request_owner_id,
tl.lock_owner_address, wt.wait_duration_ms, wt.blocking_session_id FROM sys.dm_tran_locks AS tl LEFT JOIN
sys.dm_os_waiting_tasks AS wt ON tl.lock_owner_address = wt.resource_address
GO
SELECT i.session_id, ib.event_type, ib.parameters, ib.event_info FROM sys.dm_exec_sessions i CROSS APPLY
sys.dm_exec_input_buffer(i.session_id, NULL) ib WHERE i.is_user_process = 1
GO
SELECT session_id, request_id, sql_handle, plan_handle, physical_operator_name, node_id, row_count, estimate_row_count,
elapsed_time_ms, cpu_time_ms FROM sys.dm_exec_query_profiles; SELECT * FROM
sys.dm_exec_query_statistics_xml(@@SPID)
GO
SELECT migs.avg_user_impact, migs.user_seeks, migs.last_user_seek, migs.avg_total_user_cost, mid.statement,
mid.equality_columns, mid.inequality_columns, mid.included_columns, mid.database_id, mid.object_id FROM
sys.dm_db_missing_index_group_stats AS migs INNER JOIN sys.dm_db_missing_index_groups AS mig ON migs.group_handle =
mig.index_group_handle INNER JOIN sys.dm_db_missing_index_details AS mid ON mig.index_handle = mid.index_handle
GO
SELECT DB_NAME(database_id), COUNT(*) * 8 / 1024.0 AS [Cached MB] FROM sys.dm_os_buffer_descriptors WHERE database_id <>
32767 GROUP BY DB_NAME(database_id)
GO
SELECT s.name, STATS_DATE(s.object_id, s.stats_id), sp.last_updated, sp.rows, sp.rows_sampled, sp.steps,
sp.unfiltered_rows, sp.modification_counter, sp.persisted_sample_percent FROM sys.stats s OUTER APPLY
sys.dm_db_stats_properties(s.object_id, s.stats_id) sp; SELECT object_id, stats_id, column_id, stats_column_id FROM
sys.stats_columns
GO
SELECT counter_name, cntr_type, instance_name FROM sys.dm_os_performance_counters WHERE object_name LIKE '%Memory Manager%'
GO
SELECT [path], max_size, max_files, is_enabled FROM sys.dm_os_server_diagnostics_log_configurations; SELECT * FROM
sys.traces; SELECT * FROM sys.dm_server_memory_dumps; SELECT * FROM sys.dm_db_persisted_sku_features; SELECT * FROM
sys.dm_os_cluster_nodes; SELECT * FROM sys.dm_os_cluster_properties
GO
DBCC TRACESTATUS (-1); DBCC SQLPERF (LOGSPACE); DBCC USEROPTIONS; DBCC OPENTRAN; DBCC LOGINFO WITH NO_INFOMSGS
GO
SELECT database_id, database_name = DB_NAME(database_id), actual_state_desc = 'x' FROM sys.databases WHERE is_query_store_on =
1; SELECT desired_state_desc, actual_state_desc, readonly_reason, current_storage_size_mb, max_storage_size_mb,
query_capture_mode_desc, size_based_cleanup_mode_desc FROM sys.database_query_store_options
GO
SELECT name, [value], value_for_secondary, is_value_default FROM sys.database_scoped_configurations
GO
SELECT type, name, entries_count, entries_in_use_count, pages_kb FROM sys.dm_os_memory_cache_counters; SELECT TOP 3 type,
pages_in_bytes FROM sys.dm_os_memory_objects; SELECT * FROM sys.dm_os_memory_brokers
GO
SELECT ring_buffer_type, [timestamp], record FROM sys.dm_os_ring_buffers WHERE ring_buffer_type =
N'RING_BUFFER_SCHEDULER_MONITOR'
GO
SELECT bs.database_name, bs.server_name, bs.recovery_model, bs.backup_size, bs.compressed_backup_size, bs.backup_start_date,
bs.backup_finish_date, bs.has_backup_checksums, bs.key_algorithm, bs.encryptor_type, bmf.physical_device_name, bs.type,
bs.is_copy_only, bs.is_damaged, bs.first_lsn, bs.last_lsn, bs.checkpoint_lsn, bs.database_backup_lsn, bs.[user_name],
bs.differential_base_guid, bs.last_family_number FROM msdb.dbo.backupset AS bs INNER JOIN msdb.dbo.backupmediafamily AS bmf
ON bs.media_set_id = bmf.media_set_id; SELECT database_id, event_type, file_id, page_id, error_count, last_update_date
FROM msdb.dbo.suspect_pages
GO
SELECT j.name, j.[enabled], j.description, j.date_created, s.next_run_date, h.run_status, h.run_duration FROM
msdb.dbo.sysjobs j LEFT JOIN msdb.dbo.sysjobschedules s ON s.job_id = j.job_id LEFT JOIN msdb.dbo.sysjobhistory h ON
h.job_id = j.job_id; SELECT name, email_address, enabled FROM msdb.dbo.sysoperators; SELECT name, event_source, message_id,
severity, [enabled], has_notification FROM msdb.dbo.sysalerts; SELECT name FROM msdb.dbo.syscategories
GO
EXEC sp_updatestats
GO
SELECT DATABASEPROPERTYEX('OLTP', 'Status'), SERVERPROPERTY('IsHadrEnabled'), sys.fn_hadr_backup_is_preferred_replica('OLTP'),
SERVERPROPERTY('EngineEdition'), HAS_DBACCESS('OLTP'), DATABASEPROPERTYEX('OLTP', 'LastGoodCheckDbTime')
GO
IF OBJECT_ID('tempdb..#list') IS NOT NULL DROP TABLE #list; CREATE TABLE #list (ID int IDENTITY, DatabaseName nvarchar(max),
Selected bit DEFAULT 1 NOT NULL, PRIMARY KEY CLUSTERED (Selected, ID)); INSERT #list (DatabaseName) SELECT name FROM
sys.databases WHERE source_database_id IS NULL ORDER BY name; UPDATE #list SET Selected = 0 WHERE DatabaseName LIKE 'temp%';
DECLARE @n nvarchar(max); SELECT TOP 1 @n = DatabaseName FROM #list WHERE Selected = 1 ORDER BY ID ASC; IF
DATABASEPROPERTYEX(@n, 'Status') = 'ONLINE' RAISERROR('Checked %s', 10, 1, @n) WITH NOWAIT; DROP TABLE #list
GO
SELECT CONVERT(nvarchar, @@VERSION), CAST(SERVERPROPERTY('ProductVersion') AS nvarchar), CONVERT(varchar, GETDATE(), 126),
PARSENAME(CONVERT(varchar(32), SERVERPROPERTY('ProductVersion')), 4), CHARINDEX('.', '1.2'), SUBSTRING('abc', 1, 2)
GO
DECLARE @command nvarchar(max) = N'SET LOCK_TIMEOUT 3600000; DBCC CHECKDB ([master]) WITH NO_INFOMSGS, ALL_ERRORMSGS,
DATA_PURITY'; EXECUTE sp_executesql @stmt = @command
GO
EXEC sp_who; EXEC sp_who2; EXEC sp_who2 'active'; EXEC sp_lock; EXEC sp_helpdb; EXEC sp_helpdb 'master'; EXEC sp_helpfile;
EXEC sp_databases; EXEC sp_server_info; EXEC sp_linkedservers; EXEC sp_helplinkedsrvlogin; EXEC sp_helpdevice
GO
EXEC sp_MSforeachdb N'SELECT N''?'' AS name'
GO
EXEC xp_msver; EXEC xp_msver N'ProductVersion'
GO
SELECT * FROM fn_my_permissions(NULL, 'SERVER'); SELECT * FROM fn_my_permissions(NULL, 'DATABASE'); SELECT class_desc,
permission_name FROM sys.fn_builtin_permissions('SERVER')

GO
SELECT TOP (5) q.query_id, t.query_sql_text, p.plan_id, p.is_forced_plan, SUM(r.count_executions) AS n, AVG(r.avg_duration) AS d,
MAX(w.total_query_wait_time_ms) AS w FROM sys.query_store_query q JOIN sys.query_store_query_text t ON t.query_text_id = q.query_text_id
JOIN sys.query_store_plan p ON p.query_id = q.query_id JOIN sys.query_store_runtime_stats r ON r.plan_id = p.plan_id
JOIN sys.query_store_runtime_stats_interval i ON i.runtime_stats_interval_id = r.runtime_stats_interval_id
LEFT JOIN sys.query_store_wait_stats w ON w.plan_id = p.plan_id GROUP BY q.query_id, t.query_sql_text, p.plan_id, p.is_forced_plan
GO
SELECT m.statement, s.user_seeks * s.avg_total_user_cost * s.avg_user_impact AS gain, t.text, c.column_name, c.column_usage
FROM sys.dm_db_missing_index_group_stats_query s JOIN sys.dm_db_missing_index_groups g ON g.index_group_handle = s.group_handle
JOIN sys.dm_db_missing_index_details m ON m.index_handle = g.index_handle CROSS APPLY sys.dm_exec_sql_text(s.last_sql_handle) t
CROSS APPLY sys.dm_db_missing_index_columns(m.index_handle) c
GO
SELECT state_description, current_size_in_kb FROM sys.dm_os_buffer_pool_extension_configuration;
SELECT name, desired_state_desc, actual_state_desc, reason_desc FROM sys.database_automatic_tuning_options;
SELECT name, reason, score, details FROM sys.dm_db_tuning_recommendations
GO
SELECT r.row_group_id, r.state_description, p.trim_reason_desc, s.row_count, d.entry_count FROM sys.column_store_row_groups r
JOIN sys.dm_db_column_store_row_group_physical_stats p ON p.object_id = r.object_id JOIN sys.column_store_segments s
ON s.segment_id = r.row_group_id JOIN sys.column_store_dictionaries d ON d.column_id = s.column_id
GO
SELECT a.spid, a.queue_id, a.database_id, q.name, q.activation_procedure FROM sys.dm_broker_activated_tasks a
LEFT JOIN sys.service_queues q ON q.object_id = a.queue_id; SELECT name, company FROM sys.dm_os_loaded_modules
GO
SELECT TOP (3) CONVERT(xml, t.query_plan) AS p, t.encrypted, s.query_plan FROM sys.dm_exec_query_stats q
CROSS APPLY sys.dm_exec_text_query_plan(q.plan_handle, q.statement_start_offset, q.statement_end_offset) t
OUTER APPLY sys.dm_exec_query_plan_stats(q.plan_handle) s
GO
SELECT name, status_desc FROM sys.dm_server_audit_status; SELECT name FROM msdb.dbo.sysmaintplan_plans;
SELECT primary_database, last_backup_file FROM msdb.dbo.log_shipping_primary_databases;
SELECT secondary_database, last_restored_date FROM msdb.dbo.log_shipping_secondary_databases
GO
SELECT i.name, i.indid, i.rows, i.dpages, o.name FROM sysindexes i JOIN sysobjects o ON o.id = i.id;
SELECT f.name, f.filename, f.size, g.groupname FROM sysfiles f LEFT JOIN sysfilegroups g ON g.groupid = f.groupid;
SELECT DB_NAME(dbid) AS d, name, filename FROM master..sysaltfiles; SELECT name, issqlrole FROM sysusers WHERE islogin = 1;
SELECT text FROM syscomments; SELECT c.value, u.value FROM master.dbo.sysconfigures c JOIN master.dbo.syscurconfigs u
ON u.config = c.config; SELECT cntr_value FROM master..sysperfinfo WHERE counter_name LIKE N'Page life%'
GO
DECLARE @ticks bigint = (SELECT cpu_ticks / (cpu_ticks / ms_ticks) FROM sys.dm_os_sys_info);
SELECT TOP (10) DATEADD(ms, -1 * (@ticks - [timestamp]), GETDATE()) AS at FROM sys.dm_os_ring_buffers
WHERE ring_buffer_type = N'RING_BUFFER_SCHEDULER_MONITOR'
GO
DECLARE @there int; EXEC master.dbo.xp_fileexist N'/var/opt/mssql/data/master.mdf', @there OUTPUT; SELECT @there AS there
