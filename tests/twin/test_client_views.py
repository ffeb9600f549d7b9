"""The views that a DBA reads, through a real driver from another process."""

import pytest

VIEWS = {
    "sys.databases": "name database_id recovery_model_desc target_recovery_time_in_seconds log_reuse_wait_desc state_desc",
    "sys.configurations": "configuration_id name value minimum maximum value_in_use is_dynamic is_advanced",
    "sys.dm_os_performance_counters": "object_name counter_name instance_name cntr_value cntr_type",
    "sys.dm_hadr_database_replica_states": "database_id synchronization_state_desc last_hardened_lsn log_send_queue_size",
    "sys.dm_hadr_availability_replica_states": "replica_id role_desc connected_state_desc synchronization_health_desc",
    "sys.availability_groups": "group_id name cluster_type_desc required_synchronized_secondaries_to_commit",
    "sys.availability_replicas": "replica_id replica_server_name availability_mode_desc failover_mode_desc endpoint_url",
    "sys.dm_io_virtual_file_stats(NULL, NULL)": "database_id file_id num_of_reads io_stall_read_ms num_of_bytes_written",
    "sys.dm_os_wait_stats": "wait_type waiting_tasks_count wait_time_ms max_wait_time_ms signal_wait_time_ms",
    "sys.master_files": "database_id file_id type_desc name size",
    "sys.dm_exec_sessions": "session_id login_name status",
    "sys.dm_exec_connections": "session_id encrypt_option client_net_address",
    "sys.dm_os_sys_info": "cpu_count physical_memory_kb sqlserver_start_time",
}


@pytest.mark.parametrize("view", VIEWS)
def test_view_answers_with_its_columns(link, view):
    """Each view of the first labs has rows and the columns that its documentation names."""
    rows = link.rows(f"SELECT * FROM {view}")
    names = VIEWS[view].split()
    assert rows and not set(names) - set(rows[0])
    assert link.rows(f"SELECT TOP (1) {', '.join(names)} FROM {view} ORDER BY 1")


def test_where_order_top_join(link):
    """Views join and filter as tables do."""
    text = """
        SELECT TOP (2) r.replica_server_name, s.role_desc
        FROM sys.availability_groups AS g
        JOIN sys.availability_replicas AS r ON r.group_id = g.group_id
        JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
        WHERE g.name = N'ag1' AND s.role_desc = N'SECONDARY' ORDER BY r.replica_server_name DESC"""
    assert [row["replica_server_name"] for row in link.rows(text)] == ["sql3", "sql2"]


def test_group_is_healthy_and_seen_from_both_sides(link):
    """sql1 is primary and sees three synchronized replicas; a secondary sees itself."""
    text = """
        SELECT r.replica_server_name, d.synchronization_state_desc, d.is_primary_replica, d.is_local
        FROM sys.dm_hadr_database_replica_states AS d
        JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id ORDER BY r.replica_server_name"""
    rows = link.rows(text)
    assert [row["replica_server_name"] for row in rows] == ["sql1", "sql2", "sql3"]
    assert {row["synchronization_state_desc"] for row in rows} == {"SYNCHRONIZED"}
    assert [bool(row["is_primary_replica"]) for row in rows] == [True, False, False]
    assert [row["replica_server_name"] for row in link.rows(text, node="sql3")] == ["sql3"]


def test_who_and_what_answers(link):
    """@@SERVERNAME is the node; @@VERSION names the version emulated and says that it is simulated."""
    for node in ("sql1", "sql2", "sql3"):
        assert link.value("SELECT @@SERVERNAME", node) == node
    version = link.value("SELECT @@VERSION")
    assert "SQL Server 2022" in version and "aglab twin" in version


def test_counter_names_are_padded_as_in_the_view(link):
    """object_name is nchar(128): padded, and found by an unpadded comparison."""
    row = link.rows("SELECT object_name, cntr_type FROM sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec'")
    assert len(row) == 1 and row[0]["object_name"] == "SQLServer:SQL Statistics".ljust(128) and row[0]["cntr_type"] == 272696576


def test_encrypted_connection(link):
    """The driver's connection is encrypted, from loopback."""
    row = link.rows("SELECT encrypt_option, client_net_address FROM sys.dm_exec_connections WHERE session_id = @@SPID")[0]
    assert row == {"encrypt_option": "TRUE", "client_net_address": "127.0.0.1"}


def test_lsns_are_in_order_under_load(link):
    """Sent >= received >= hardened >= redone on every secondary, and the log grows."""
    text = """
        SELECT last_sent_lsn, last_received_lsn, last_hardened_lsn, last_redone_lsn, end_of_log_lsn
        FROM sys.dm_hadr_database_replica_states WHERE is_primary_replica = 0"""
    link.sql("EXEC twin.run_workload @seconds = 5")
    first = link.rows(text)
    link.sql("EXEC twin.run_workload @seconds = 5")
    second = link.rows(text)
    for before, after in zip(first, second, strict=True):
        assert after["last_sent_lsn"] >= after["last_received_lsn"] >= after["last_hardened_lsn"]
        assert after["last_hardened_lsn"] // 100000 >= after["last_redone_lsn"] // 100000
        assert after["last_hardened_lsn"] > before["last_hardened_lsn"]


def test_freetds_reads_the_views(link):
    """FreeTDS's tsql connects with TLS and reads views, batches apart with GO."""
    said = link.tsql(
        "SELECT name FROM sys.databases ORDER BY name\nGO\nSELECT replica_server_name FROM sys.availability_replicas\nGO\n"
    )
    for word in ("master", "OLTP", "tempdb", "sql3"):
        assert word in said
