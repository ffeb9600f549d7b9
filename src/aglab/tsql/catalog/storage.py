"""Files, log and space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import define, provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.files import used_pages

define(
    """sys.dm_io_virtual_file_stats(int, int): database_id smallint!, file_id smallint!, sample_ms bigint!, num_of_reads bigint!,
    num_of_bytes_read bigint!, io_stall_read_ms bigint!, io_stall_queued_read_ms bigint!, num_of_writes bigint!, num_of_bytes_written bigint!,
    io_stall_write_ms bigint!, io_stall_queued_write_ms bigint!, io_stall bigint!, size_on_disk_bytes bigint!, file_handle varbinary(8)!"""
)

FILE_STATES = {0: "ONLINE", 1: "RESTORING", 2: "RECOVERING", 3: "RECOVERY_PENDING", 4: "SUSPECT", 6: "OFFLINE", 7: "DEFUNCT"}
_FILE_COLUMNS = """file_id int!, file_guid uniqueidentifier, type tinyint!, type_desc nvarchar(60), data_space_id int!, name sysname!,
    physical_name nvarchar(260)!, state tinyint, state_desc nvarchar(60), size int!, max_size int!, growth int!, is_media_read_only bit!,
    is_read_only bit!, is_sparse bit!, is_percent_growth bit!, is_name_reserved bit!, is_persistent_log_buffer bit!,
    create_lsn numeric(25,0), drop_lsn numeric(25,0), read_only_lsn numeric(25,0), read_write_lsn numeric(25,0),
    differential_base_lsn numeric(25,0), differential_base_guid uniqueidentifier, differential_base_time datetime,
    redo_start_lsn numeric(25,0), redo_start_fork_guid uniqueidentifier, redo_target_lsn numeric(25,0), redo_target_fork_guid uniqueidentifier,
    backup_lsn numeric(25,0)"""


def _files(database: Database) -> Iterator[dict[str, Any]]:
    for f in database.files:
        yield {
            "database_id": database.id,
            "file_id": f.file_id,
            "type": f.type,
            "type_desc": {0: "ROWS", 1: "LOG", 2: "FILESTREAM"}[f.type],
            "data_space_id": f.filegroup_id,
            "name": f.name,
            "physical_name": f.physical_name,
            "state": f.state,
            "state_desc": FILE_STATES[f.state],
            "size": f.size,
            "max_size": f.max_size,
            "growth": f.growth,
            "is_media_read_only": False,
            "is_read_only": False,
            "is_sparse": False,
            "is_percent_growth": f.is_percent_growth,
            "is_name_reserved": False,
            "is_persistent_log_buffer": f.is_persistent_log_buffer,
            "credential_id": None,
        }


@provide("sys.database_files: " + _FILE_COLUMNS)
def _database_files(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    yield from _files(database)


@provide("sys.master_files: database_id int!, " + _FILE_COLUMNS.replace("drop_lsn", "drop_lsn") + ", credential_id int")
def _master_files(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for item in sorted(runtime.instance.databases.values(), key=lambda d: d.id):
        yield from _files(item)


@provide(
    """sys.filegroups: name sysname!, data_space_id int!, type char(2)!, type_desc nvarchar(60), is_default bit, is_system bit,
    filegroup_guid uniqueidentifier, log_filegroup_id int, is_read_only bit, is_autogrow_all_files bit"""
)
def _filegroups(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for number, group in database.filegroups.items():
        kind = "FX" if group.get("contains") == "MEMORY_OPTIMIZED_DATA" else "FG"
        yield {
            "name": group["name"],
            "data_space_id": number,
            "type": kind,
            "is_default": group.get("is_default", False),
            "is_system": False,
            "type_desc": {"FG": "ROWS_FILEGROUP", "FX": "MEMORY_OPTIMIZED_DATA_FILEGROUP"}[kind],
            "is_read_only": group.get("is_read_only", False),
            "is_autogrow_all_files": group.get("is_autogrow_all_files", False),
        }


define(
    """sys.dm_db_log_info(int): database_id int!, file_id smallint!, vlf_begin_offset bigint!, vlf_size_mb float!, vlf_sequence_number bigint!,
    vlf_active bit!, vlf_status int!, vlf_parity tinyint!, vlf_first_lsn nvarchar(24), vlf_create_lsn nvarchar(24), vlf_encryptor_thumbprint varbinary(20)"""
)
define(
    """sys.dm_db_log_stats(int): database_id int!, recovery_model nvarchar(60)!, log_min_lsn nvarchar(24), log_end_lsn nvarchar(24),
    current_vlf_sequence_number bigint, current_vlf_size_mb float, total_vlf_count bigint!, total_log_size_mb float!, active_vlf_count bigint!,
    active_log_size_mb float!, log_truncation_holdup_reason nvarchar(60)!, log_backup_time datetime, log_backup_lsn nvarchar(24),
    log_since_last_log_backup_mb float, log_checkpoint_lsn nvarchar(24), log_since_last_checkpoint_mb float, log_recovery_lsn nvarchar(24),
    log_recovery_size_mb float, recovery_vlf_count bigint"""
)
define(
    """sys.dm_db_log_space_usage: database_id int!, total_log_size_in_bytes bigint!, used_log_space_in_bytes bigint!,
    used_log_space_in_percent real!, log_space_in_bytes_since_last_backup bigint!"""
)


@provide(
    """sys.dm_db_file_space_usage: database_id smallint!, file_id smallint!, filegroup_id smallint!, total_page_count bigint!,
    allocated_extent_page_count bigint!, unallocated_extent_page_count bigint!, version_store_reserved_page_count bigint!,
    user_object_reserved_page_count bigint!, internal_object_reserved_page_count bigint!, mixed_extent_page_count bigint!,
    modified_extent_page_count bigint!"""
)
def _file_space(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    used = used_pages(database)
    for f in database.files:
        if f.type == 0:
            taken = used.get(f.file_id, 0)
            yield database.id, f.file_id, f.filegroup_id, f.size, taken, f.size - taken, 0, taken, 0, 8, 0


@provide(
    """sys.dm_os_volume_stats(int, int): database_id int!, file_id int!, volume_mount_point nvarchar(512), volume_id nvarchar(512),
    logical_volume_name nvarchar(512), file_system_type nvarchar(512), total_bytes bigint!, available_bytes bigint!, supports_compression bit,
    supports_alternate_streams bit, supports_sparse_files bit, is_read_only bit, is_compressed bit, incurs_seek_penalty bit"""
)
def _volume(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for item in runtime.instance.databases.values():
        for f in item.files:
            if item.id == arguments[0] and f.file_id == arguments[1]:
                yield {
                    "database_id": item.id,
                    "file_id": f.file_id,
                    "volume_mount_point": f.physical_name.replace("\\", "/").rpartition("/")[0],
                    "file_system_type": "xfs",
                    "total_bytes": 2**40,
                    "available_bytes": 2**39,
                    "is_read_only": False,
                    "is_compressed": False,
                }
