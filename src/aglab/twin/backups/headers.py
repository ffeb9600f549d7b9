"""RESTORE HEADERONLY, FILELISTONLY, LABELONLY and VERIFYONLY: what lies on a backup device.

Columns as documented for each statement; the last three of HEADERONLY are as public outputs of
SQL Server 2022 have them. VERIFYONLY reads the whole backup set and prints message 3262.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import Column
from aglab.engine.backup import job_constant
from aglab.tsql import Columns, Command, Done, Rows, Session, TsqlError, Wait, error, info
from aglab.tsql.catalog.registry import sql_type
from aglab.twin.availability import identifier
from aglab.twin.backups.history import at, common
from aglab.twin.backups.media import Library, full_path
from aglab.twin.backups.moving import WAIT
from aglab.twin.backups.options import Ask, ask_of
from aglab.twin.backups.record import PAGE_BYTES, BackupSet, lsn
from aglab.twin.backups.restore import chosen

if TYPE_CHECKING:
    from aglab.twin.node import Node

_TYPES = {
    "D": (1, "DATABASE"),
    "L": (2, "TRANSACTION LOG"),
    "F": (4, "FILE OR FILEGROUP"),
    "I": (5, "DATABASE DIFFERENTIAL"),
    "G": (6, "FILE DIFFERENTIAL"),
    "P": (7, "PARTIAL"),
    "Q": (8, "PARTIAL DIFFERENTIAL"),
}
# column of RESTORE HEADERONLY, its type, and the backupset column that it is
_HEADER = """BackupName nvarchar(128) name|BackupDescription nvarchar(255) description|BackupType smallint|
ExpirationDate datetime|Compressed bit|Position smallint position|DeviceType tinyint|
UserName nvarchar(128) user_name|ServerName nvarchar(128) server_name|DatabaseName nvarchar(128) database_name|
DatabaseVersion int database_version|DatabaseCreationDate datetime database_creation_date|
BackupSize numeric(20,0) backup_size|FirstLSN numeric(25,0) first_lsn|LastLSN numeric(25,0) last_lsn|
CheckpointLSN numeric(25,0) checkpoint_lsn|DatabaseBackupLSN numeric(25,0) database_backup_lsn|
BackupStartDate datetime backup_start_date|BackupFinishDate datetime backup_finish_date|
SortOrder smallint sort_order|CodePage smallint code_page|UnicodeLocaleId int unicode_locale|
UnicodeComparisonStyle int unicode_compare_style|CompatibilityLevel tinyint compatibility_level|
SoftwareVendorId int software_vendor_id|SoftwareVersionMajor int software_major_version|
SoftwareVersionMinor int software_minor_version|SoftwareVersionBuild int software_build_version|
MachineName nvarchar(128) machine_name|Flags int flags|BindingID uniqueidentifier database_guid|
RecoveryForkID uniqueidentifier last_recovery_fork_guid|Collation nvarchar(128) collation_name|
FamilyGUID uniqueidentifier family_guid|HasBulkLoggedData bit has_bulk_logged_data|IsSnapshot bit is_snapshot|
IsReadOnly bit is_readonly|IsSingleUser bit is_single_user|HasBackupChecksums bit has_backup_checksums|
IsDamaged bit is_damaged|BeginsLogChain bit begins_log_chain|HasIncompleteMetaData bit has_incomplete_metadata|
IsForceOffline bit is_force_offline|IsCopyOnly bit is_copy_only|
FirstRecoveryForkID uniqueidentifier first_recovery_fork_guid|ForkPointLSN numeric(25,0)|
RecoveryModel nvarchar(60) recovery_model|DifferentialBaseLSN numeric(25,0) differential_base_lsn|
DifferentialBaseGUID uniqueidentifier differential_base_guid|BackupTypeDescription nvarchar(60)|
BackupSetGUID uniqueidentifier backup_set_uuid|CompressedBackupSize bigint compressed_backup_size|
containment tinyint|KeyAlgorithm nvarchar(32)|EncryptorThumbprint varbinary(20)|EncryptorType nvarchar(32)|
LastValidRestoreTime datetime|TimeZone smallint|CompressionAlgorithm nvarchar(32) compression_algorithm"""
_FILELIST = """LogicalName nvarchar(128)|PhysicalName nvarchar(260)|Type char(1)|FileGroupName nvarchar(128)|
Size numeric(20,0)|MaxSize numeric(20,0)|FileID bigint|CreateLSN numeric(25,0)|DropLSN numeric(25,0)|
UniqueID uniqueidentifier|ReadOnlyLSN numeric(25,0)|ReadWriteLSN numeric(25,0)|BackupSizeInBytes bigint|
SourceBlockSize int|FileGroupID int|LogGroupGUID uniqueidentifier|DifferentialBaseLSN numeric(25,0)|
DifferentialBaseGUID uniqueidentifier|IsReadOnly bit|IsPresent bit|TDEThumbprint varbinary(32)|
SnapshotURL nvarchar(360)"""
_LABEL = """MediaName nvarchar(128)|MediaSetId uniqueidentifier|FamilyCount int|FamilySequenceNumber int|
MediaFamilyId uniqueidentifier|MediaSequenceNumber int|MediaLabelPresent tinyint|MediaDescription nvarchar(255)|
SoftwareName nvarchar(128)|SoftwareVendorId int|MediaDate datetime|MirrorCount int|IsCompressed bit"""


def headers(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """RESTORE ...ONLY FROM DISK = ... [, ...] [WITH FILE = n]; error 3013 follows any other."""
    what = command.name.split()[1]
    try:
        ask = ask_of(node, command)
        library = Library.of(node.cluster)
        if what == "HEADERONLY":
            yield from _table(_HEADER, _headers(library, ask))
        elif what == "FILELISTONLY":
            yield from _table(_FILELIST, _files(chosen(library, ask)[0]))
        elif what == "LABELONLY":
            yield from _table(_LABEL, _labels(library, ask))
        else:
            yield from _verify(node, library, ask)
    except TsqlError as problem:
        shown = {"HEADERONLY": "RESTORE HEADERONLY", "FILELISTONLY": "RESTORE FILELIST", "LABELONLY": "RESTORE LABELONLY"}
        problem.followed_by = error(3013, shown.get(what, "VERIFY DATABASE"))  # type: ignore[attr-defined]
        raise


def _table(shape: str, rows: list[dict[str, Any]]) -> Iterator[Any]:
    columns = [part.split() for part in shape.replace("\n", "").split("|")]
    yield Columns(tuple(Column(one[0], sql_type(one[1]), True) for one in columns))
    yield Rows([tuple(row.get(one[0], row.get(one[2]) if len(one) > 2 else None) for one in columns) for row in rows])
    yield Done(len(rows), "SELECT")


def _headers(library: Library, ask: Ask) -> list[dict[str, Any]]:
    media = library.opened(ask.devices[0])
    rows = []
    for number, (header, _) in enumerate(media["sets"], start=1):
        one = BackupSet(**header)
        if ask.values.get("FILE", number) != number:
            continue
        kind, words = _TYPES[one.kind]
        rows.append(
            {
                **common(one),
                "BackupType": kind,
                "Compressed": one.compressed,
                "DeviceType": 2,
                "BackupTypeDescription": words,
                "containment": 0,
                "LastValidRestoreTime": at(one.finished_s) if one.kind == "L" else None,
                "TimeZone": 0,
                "Position": number,
            }
        )
    return rows


def _files(one: BackupSet) -> list[dict[str, Any]]:
    return [
        {
            "LogicalName": file["name"],
            "PhysicalName": file["physical_name"],
            "Type": "L" if file["type"] == 1 else "D",
            "FileGroupName": file["filegroup"] or None,
            "Size": file["size"] * PAGE_BYTES,
            "MaxSize": 35184372080640 if file["max_size"] < 0 else file["max_size"] * PAGE_BYTES,
            "FileID": file["file_id"],
            "CreateLSN": lsn(0.0),
            "UniqueID": uuid.UUID(str(identifier("file", f"{one.database}:{file['file_id']}"))),
            "BackupSizeInBytes": file["pages"] * PAGE_BYTES,
            "SourceBlockSize": 512,
            "FileGroupID": 0 if file["type"] == 1 else 1,
            "IsReadOnly": False,
            "IsPresent": file["present"],
        }
        for file in one.files
    ]


def _labels(library: Library, ask: Ask) -> list[dict[str, Any]]:
    media = library.opened(ask.devices[0])
    return [
        {
            "MediaName": media["name"],
            "MediaSetId": uuid.UUID(media["uuid"]),
            "FamilyCount": media["families"],
            "FamilySequenceNumber": media["family"],
            "MediaFamilyId": uuid.UUID(str(identifier("media family", f"{media['uuid']}:{media['family']}"))),
            "MediaSequenceNumber": 1,
            "MediaLabelPresent": 0,
            "SoftwareName": "Microsoft SQL Server",
            "SoftwareVendorId": 4608,
            "MirrorCount": 1,
            "IsCompressed": media["compressed"],
        }
    ]


def _verify(node: Node, library: Library, ask: Ask) -> Iterator[Any]:
    one, content = chosen(library, ask)
    if "CHECKSUM" in ask.words and not one.checksum:
        raise error(3187)
    seconds = one.compressed_bytes / (job_constant("backup_target_mb_s") * 1e6)
    yield Wait("time", node.now_s() + seconds, wait_type=WAIT)
    if not content:
        raise error(3241, full_path(ask.devices[0]))
    yield info(3262, one.position)
