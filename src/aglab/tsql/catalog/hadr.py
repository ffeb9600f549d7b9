"""Availability groups: catalogue views and dynamic management views. The node's rules supply every row."""

from __future__ import annotations

from aglab.tsql.catalog.registry import define

define(
    """sys.availability_groups: group_id uniqueidentifier!, name sysname, resource_id nvarchar(40), resource_group_id nvarchar(40),
    failure_condition_level int, health_check_timeout int, automated_backup_preference tinyint, automated_backup_preference_desc nvarchar(60),
    version smallint, basic_features bit, dtc_support bit, db_failover bit, is_distributed bit, cluster_type tinyint,
    cluster_type_desc nvarchar(60), required_synchronized_secondaries_to_commit int, sequence_number bigint, is_contained bit"""
)
define(
    """sys.availability_replicas: replica_id uniqueidentifier, group_id uniqueidentifier, replica_metadata_id int,
    replica_server_name nvarchar(256), owner_sid varbinary(85), endpoint_url nvarchar(128), availability_mode tinyint,
    availability_mode_desc nvarchar(60), failover_mode tinyint, failover_mode_desc nvarchar(60), session_timeout int,
    primary_role_allow_connections tinyint, primary_role_allow_connections_desc nvarchar(60), secondary_role_allow_connections tinyint,
    secondary_role_allow_connections_desc nvarchar(60), create_date datetime, modify_date datetime, backup_priority int,
    read_only_routing_url nvarchar(256), seeding_mode tinyint, seeding_mode_desc nvarchar(60), read_write_routing_url nvarchar(256)"""
)
define(
    """sys.dm_hadr_database_replica_states: database_id int!, group_id uniqueidentifier!, replica_id uniqueidentifier!,
    group_database_id uniqueidentifier!, is_local bit, is_primary_replica bit, synchronization_state tinyint,
    synchronization_state_desc nvarchar(60), is_commit_participant bit, synchronization_health tinyint, synchronization_health_desc nvarchar(60),
    database_state tinyint, database_state_desc nvarchar(60), is_suspended bit, suspend_reason tinyint, suspend_reason_desc nvarchar(60),
    truncation_lsn numeric(25,0), recovery_lsn numeric(25,0), last_sent_lsn numeric(25,0), last_sent_time datetime,
    last_received_lsn numeric(25,0), last_received_time datetime, last_hardened_lsn numeric(25,0), last_hardened_time datetime,
    last_redone_lsn numeric(25,0), last_redone_time datetime, log_send_queue_size bigint, log_send_rate bigint, redo_queue_size bigint,
    redo_rate bigint, filestream_send_rate bigint, end_of_log_lsn numeric(25,0), last_commit_lsn numeric(25,0), last_commit_time datetime,
    low_water_mark_for_ghosts bigint, secondary_lag_seconds bigint, quorum_commit_lsn numeric(25,0), quorum_commit_time datetime"""
)
define(
    """sys.dm_hadr_availability_replica_states: replica_id uniqueidentifier!, group_id uniqueidentifier!, is_local bit!, role
    tinyint, role_desc nvarchar(60), operational_state tinyint, operational_state_desc nvarchar(60), recovery_health
    tinyint, recovery_health_desc nvarchar(60), synchronization_health tinyint, synchronization_health_desc nvarchar(60),
    connected_state tinyint, connected_state_desc nvarchar(60), last_connect_error_number int,
    last_connect_error_description nvarchar(1024), last_connect_error_timestamp datetime, write_lease_remaining_ticks
    bigint, current_configuration_commit_start_time_utc datetime, is_internal bit"""
)
define(
    """sys.dm_hadr_availability_group_states: group_id uniqueidentifier!, primary_replica nvarchar(128), primary_recovery_health tinyint,
    primary_recovery_health_desc nvarchar(60), secondary_recovery_health tinyint, secondary_recovery_health_desc nvarchar(60),
    synchronization_health tinyint, synchronization_health_desc nvarchar(60)"""
)
define(
    """sys.availability_databases_cluster: group_id uniqueidentifier!, group_database_id uniqueidentifier!, database_name
    sysname, truncation_lsn numeric(25,0)"""
)
define(
    """sys.dm_hadr_database_replica_cluster_states: replica_id uniqueidentifier!, group_database_id uniqueidentifier!, database_name sysname!,
    is_failover_ready bit!, is_pending_secondary_suspend bit!, is_database_joined bit!, recovery_lsn numeric(25,0), truncation_lsn numeric(25,0)"""
)
define(
    """sys.dm_hadr_availability_replica_cluster_states: replica_id uniqueidentifier!, replica_server_name nvarchar(256), group_id uniqueidentifier!,
    join_state tinyint!, join_state_desc nvarchar(60)!"""
)
define(
    """sys.dm_hadr_availability_replica_cluster_nodes: group_name nvarchar(256)!, replica_server_name nvarchar(256)!,
    node_name nvarchar(256)!"""
)
define(
    """sys.dm_hadr_cluster: cluster_name nvarchar(128)!, quorum_type tinyint!, quorum_type_desc nvarchar(60)!, quorum_state
    tinyint!, quorum_state_desc nvarchar(60)!"""
)
define(
    """sys.dm_hadr_cluster_members: member_name nvarchar(128)!, member_type tinyint!, member_type_desc nvarchar(60)!,
    member_state tinyint!, member_state_desc nvarchar(60)!, number_of_quorum_votes int"""
)
define(
    """sys.dm_hadr_cluster_networks: member_name nvarchar(128)!, network_subnet_ip nvarchar(48)!, network_subnet_ipv4_mask
    nvarchar(45), network_subnet_prefix_length int, is_public bit!, is_ipv4 bit!"""
)
define(
    """sys.dm_hadr_name_id_map: ag_name nvarchar(256)!, ag_id uniqueidentifier!, ag_resource_id nvarchar(256), ag_group_id
    nvarchar(256)"""
)
define(
    """sys.dm_hadr_db_threads: group_id uniqueidentifier!, ag_db_id uniqueidentifier!, name nvarchar(128)!, num_capture_threads int!,
    num_redo_threads int!, num_parallel_redo_threads int!"""
)
define(
    """sys.dm_hadr_ag_threads: group_id uniqueidentifier!, name nvarchar(128)!, num_databases int!, num_capture_threads int!,
    num_redo_threads int!, num_parallel_redo_threads int!, num_hadr_threads int!"""
)
define("""sys.dm_hadr_instance_node_map: ag_resource_id nvarchar(256)!, instance_name nvarchar(256)!, node_name nvarchar(256)!""")
define(
    """sys.dm_hadr_auto_page_repair: database_id int!, file_id int!, page_id bigint!, error_type int!, page_status int!, modification_time datetime!"""
)
define(
    """sys.dm_hadr_automatic_seeding: start_time datetime!, completion_time datetime, ag_id uniqueidentifier!, ag_db_id uniqueidentifier!,
    ag_remote_replica_id uniqueidentifier!, operation_id uniqueidentifier!, is_source bit!, current_state nvarchar(32)!, performed_seeding bit!,
    failure_state int, failure_state_desc nvarchar(60), error_code int, number_of_attempts int!"""
)
define(
    """sys.dm_hadr_physical_seeding_stats: local_physical_seeding_id uniqueidentifier!, remote_physical_seeding_id uniqueidentifier,
    local_database_id int, local_database_name nvarchar(256), remote_machine_name nvarchar(256), role_desc nvarchar(60),
    internal_state_desc nvarchar(60), transfer_rate_bytes_per_second bigint, transferred_size_bytes bigint, database_size_bytes bigint,
    start_time_utc datetime, end_time_utc datetime, estimate_time_complete_utc datetime, total_disk_io_wait_time_ms bigint,
    total_network_wait_time_ms bigint, failure_code int, failure_message nvarchar(2048), failure_time_utc datetime, is_compression_enabled bit"""
)
define(
    """sys.availability_group_listeners: group_id uniqueidentifier!, listener_id nvarchar(36)!, dns_name nvarchar(63), port
    int, is_conformant bit!, ip_configuration_string_from_cluster nvarchar(max), is_distributed_network_name bit"""
)
define(
    """sys.availability_group_listener_ip_addresses: listener_id nvarchar(36), ip_address nvarchar(48), ip_subnet_mask
    nvarchar(15), is_dhcp bit, network_subnet_ip nvarchar(48), network_subnet_prefix_length int, network_subnet_ipv4_mask
    nvarchar(15), state tinyint, state_desc nvarchar(60)"""
)
define(
    """sys.availability_groups_cluster: group_id uniqueidentifier!, name sysname, resource_id nvarchar(40), resource_group_id
    nvarchar(40), failure_condition_level int, health_check_timeout int, automated_backup_preference tinyint,
    automated_backup_preference_desc nvarchar(60)"""
)
define(
    """sys.availability_read_only_routing_lists: replica_id uniqueidentifier!, routing_priority int!, read_only_replica_id
    uniqueidentifier!"""
)
define(
    """sys.dm_tcp_listener_states: listener_id int!, ip_address nvarchar(48)!, is_ipv4 bit!, port int!, type smallint!,
    type_desc nvarchar(20)!, state tinyint!, state_desc nvarchar(16)!, start_time datetime!"""
)
define(
    """sys.database_mirroring_endpoints: name sysname!, endpoint_id int!, principal_id int, protocol tinyint!, protocol_desc nvarchar(60), type tinyint!,
    type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), is_admin_endpoint bit!, role tinyint!, role_desc nvarchar(60),
    is_encryption_enabled bit!, connection_auth tinyint!, connection_auth_desc nvarchar(60), certificate_id int!, encryption_algorithm tinyint!,
    encryption_algorithm_desc nvarchar(60)"""
)
define(
    """sys.tcp_endpoints: name sysname!, endpoint_id int!, principal_id int, protocol tinyint!, protocol_desc nvarchar(60),
    type tinyint!, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), is_admin_endpoint bit!, port int!,
    is_dynamic_port bit!, ip_address nvarchar(45)"""
)
define(
    """sys.server_event_sessions: event_session_id int!, name sysname!, event_retention_mode nchar(1), event_retention_mode_desc
    sysname, max_dispatch_latency int, max_memory int, max_event_size int, memory_partition_mode nchar(1),
    memory_partition_mode_desc sysname, track_causality bit, startup_state bit"""
)
define(
    """sys.fn_xe_file_target_read_file(nvarchar(260), nvarchar(260), nvarchar(260), bigint): module_guid uniqueidentifier,
    package_guid uniqueidentifier, object_name nvarchar(256)!, event_data nvarchar(max)!, file_name nvarchar(260)!, file_offset bigint!,
    timestamp_utc datetime2(7)!"""
)
define("sys.fn_hadr_is_primary_replica(sysname): value bit")
define("sys.fn_hadr_backup_is_preferred_replica(sysname): value bit")
define("sys.fn_hadr_distributed_ag_replica(uniqueidentifier, uniqueidentifier): group_id uniqueidentifier")
define("sys.fn_hadr_distributed_ag_database_replica(uniqueidentifier, uniqueidentifier): group_database_id uniqueidentifier")
