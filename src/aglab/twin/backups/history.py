"""msdb's backup history over the node's records, and the preferred backup replica."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.twin.availability import identifier
from aglab.twin.backups import restores
from aglab.twin.backups.options import is_nul
from aglab.twin.backups.record import PAGE_BYTES, BackupSet, lsn
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
VENDOR = 4608  # 0x1200, Microsoft SQL Server
DATABASE_VERSION = 957  # SQL Server 2022
VERSION = (16, 0, 4135)
DISK = 2


def at(seconds: float) -> dt.datetime:
    """The calendar of the cluster's clock."""
    return EPOCH + dt.timedelta(seconds=round(seconds, 3))


def media_numbers(node: Node) -> dict[str, int]:
    """media_set_id of each media set, in the order in which they were first written."""
    numbers: dict[str, int] = {}
    for one in node.backups:
        numbers.setdefault(one.media_uuid, len(numbers) + 1)
    return numbers


def remembered(node: Node) -> list[BackupSet]:
    """The backup sets that msdb still has."""
    gone = set(node.forgotten)
    return [one for one in node.backups if one.id not in gone]


def common(one: BackupSet) -> Row:
    """Columns that msdb.dbo.backupset shares with RESTORE HEADERONLY, by backupset's names."""
    off = dict.fromkeys(
        (
            "is_password_protected has_bulk_logged_data is_snapshot is_readonly is_single_user is_damaged has_incomplete_metadata"
        ).split(),
        False,
    )
    fork = uuid.UUID(str(identifier("recovery fork", one.database)))
    family = uuid.UUID(str(identifier("family", one.database)))
    differential = one.kind == "I"
    return {
        **off,
        "backup_set_uuid": uuid.UUID(one.uuid),
        "position": one.position,
        "software_vendor_id": VENDOR,
        "name": one.name,
        "description": one.description,
        "user_name": one.user,
        "software_major_version": VERSION[0],
        "software_minor_version": VERSION[1],
        "software_build_version": VERSION[2],
        "first_lsn": lsn(one.first_lsn),
        "last_lsn": lsn(one.last_lsn),
        "checkpoint_lsn": lsn(one.checkpoint_lsn),
        "database_backup_lsn": lsn(one.base_lsn),
        "database_creation_date": EPOCH,
        "backup_start_date": at(one.started_s),
        "backup_finish_date": at(one.finished_s),
        "sort_order": 52,
        "code_page": 0,
        "compatibility_level": 160,
        "database_version": DATABASE_VERSION,
        "backup_size": one.size_bytes,
        "database_name": one.database,
        "server_name": one.server,
        "machine_name": one.server,
        "flags": 16 * one.checksum + 256 * one.norecovery,
        "unicode_locale": 1033,
        "unicode_compare_style": 196609,
        "collation_name": "SQL_Latin1_General_CP1_CI_AS",
        "recovery_model": one.recovery_model,
        "has_backup_checksums": one.checksum,
        "begins_log_chain": one.kind == "L" and one.first_lsn <= one.base_lsn,
        "is_force_offline": one.norecovery,
        "is_copy_only": one.copy_only,
        "first_recovery_fork_guid": fork,
        "last_recovery_fork_guid": fork,
        "database_guid": family,
        "family_guid": family,
        "differential_base_lsn": lsn(one.base_lsn) if differential else None,
        "differential_base_guid": uuid.UUID(one.base_uuid) if differential else None,
        "compressed_backup_size": one.compressed_bytes,
        "compression_algorithm": "MS_XPRESS" if one.compressed else None,
    }


def backupset(node: Node) -> Iterator[Row]:
    """msdb.dbo.backupset"""
    numbers = media_numbers(node)
    for one in remembered(node):
        yield {
            **common(one),
            "backup_set_id": one.id,
            "media_set_id": numbers[one.media_uuid],
            "first_family_number": 1,
            "first_media_number": 1,
            "last_family_number": len(one.devices),
            "last_media_number": 1,
            "catalog_family_number": 1,
            "catalog_media_number": 1,
            "time_zone": 0,
            "mtf_minor_version": 0,
            "type": one.kind,
            "last_valid_restore_time": at(one.finished_s),
        }


def backupmediafamily(node: Node) -> Iterator[Row]:
    """msdb.dbo.backupmediafamily: one row for each device of a media set"""
    numbers = media_numbers(node)
    for one in {one.media_uuid: one for one in remembered(node)}.values():
        for number, path in enumerate(one.devices, start=1):
            yield {
                "media_set_id": numbers[one.media_uuid],
                "family_sequence_number": number,
                "media_family_id": uuid.UUID(str(identifier("media family", f"{one.media_uuid}:{number}"))),
                "media_count": 1,
                "physical_device_name": "NUL" if is_nul(path) else path,
                "device_type": DISK,
                "physical_block_size": one.block_bytes,
                "mirror": 0,
            }


def backupmediaset(node: Node) -> Iterator[Row]:
    """msdb.dbo.backupmediaset"""
    numbers = media_numbers(node)
    for one in {one.media_uuid: one for one in remembered(node)}.values():
        yield {
            "media_set_id": numbers[one.media_uuid],
            "media_uuid": uuid.UUID(one.media_uuid),
            "media_family_count": len(one.devices),
            "name": one.media_name,
            "software_name": "Microsoft SQL Server",
            "software_vendor_id": VENDOR,
            "MTF_major_version": 1,
            "mtf_major_version": 1,
            "mirror_count": 1,
            "is_password_protected": False,
            "is_compressed": one.compressed,
            "is_encrypted": False,
        }


def backupfile(node: Node) -> Iterator[Row]:
    """msdb.dbo.backupfile"""
    for one in remembered(node):
        for file in one.files:
            yield {
                "backup_set_id": one.id,
                "first_family_number": 1,
                "first_media_number": 1,
                "filegroup_name": file["filegroup"] or None,
                "page_size": PAGE_BYTES,
                "file_number": file["file_id"],
                "backed_up_page_count": file["pages"],
                "file_type": "L" if file["type"] == 1 else "D",
                "source_file_block_size": 512,
                "file_size": file["size"] * PAGE_BYTES,
                "logical_name": file["name"],
                "physical_drive": file["physical_name"].rpartition("/")[0] + "/",
                "physical_name": file["physical_name"],
                "state": 0,
                "state_desc": "ONLINE",
                "create_lsn": lsn(0.0),
                "file_guid": uuid.UUID(str(identifier("file", f"{one.database}:{file['file_id']}"))),
                "backup_size": file["pages"] * PAGE_BYTES,
                "is_readonly": False,
                "is_present": file["present"],
            }


def backupfilegroup(node: Node) -> Iterator[Row]:
    """msdb.dbo.backupfilegroup: a row for each filegroup of a database when it was backed up"""
    for one in remembered(node):
        for number, name in enumerate(dict.fromkeys(file["filegroup"] for file in one.files if file["filegroup"]), start=1):
            yield {
                "backup_set_id": one.id,
                "name": name,
                "filegroup_id": number,
                "type": "FG",
                "type_desc": "ROWS_FILEGROUP",
                "is_default": number == 1,
                "is_readonly": False,
            }


VIEWS: dict[str, Callable[[Node], Iterator[Row]]] = {
    "msdb.backupset": backupset,
    "msdb.backupmediafamily": backupmediafamily,
    "msdb.backupmediaset": backupmediaset,
    "msdb.backupfile": backupfile,
    "msdb.backupfilegroup": backupfilegroup,
    **restores.VIEWS,
}


def rows(node: Node, view: str) -> list[Row] | None:
    """Rows of a history table; None for another view."""
    provider = VIEWS.get(view)
    return None if provider is None else list(provider(node))


def preferred(node: Node, database: str) -> bool:
    """Whether backups should run here: always for a database outside a group."""
    group = node.cluster.group
    name = group.local(node.name, database) if group is not None else None
    if group is None or name is None:
        return True
    group.sync()
    return ag.backup_preferred(group.rules, node.name, name)
