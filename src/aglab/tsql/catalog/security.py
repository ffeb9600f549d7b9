"""Logins, principals, scoped configurations, Resource Governor and endpoints as far as labs look at them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import define, provide
from aglab.tsql.column_permissions import columns_of
from aglab.tsql.permissions import DATABASE_TYPES, SERVER_ROLES, held
from aglab.tsql.store.database import Database

_CREATED = datetime.datetime(2022, 11, 16)
ROLE_IDS = dict(enumerate(("public", *SERVER_ROLES), 2))
DATABASE_ROLE_IDS = {
    role: 16384 + number
    for number, role in enumerate(
        (
            "db_owner",
            "db_accessadmin",
            "db_securityadmin",
            "db_ddladmin",
            "",
            "db_backupoperator",
            "db_datareader",
            "db_datawriter",
            "db_denydatareader",
            "db_denydatawriter",
        )
    )
    if role
}


@provide(
    """sys.server_principals: name sysname!, principal_id int!, sid varbinary(85), type char(1)!, type_desc nvarchar(60), is_disabled bit,
    create_date datetime!, modify_date datetime!, default_database_name sysname, default_language_name sysname, credential_id int,
    owning_principal_id int, is_fixed_role bit!, tenant_id uniqueidentifier"""
)
def _server_principals(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for login in runtime.instance.logins.values():
        yield {
            "type_desc": "SQL_LOGIN",
            "is_disabled": False,
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "default_database_name": "master",
            "default_language_name": "us_english",
            "is_fixed_role": False,
            **login,
        }
    for number, role in ROLE_IDS.items():
        yield {
            "name": role,
            "principal_id": number,
            "type": "R",
            "type_desc": "SERVER_ROLE",
            "is_disabled": False,
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "is_fixed_role": role != "public",
        }


@provide(
    """sys.sql_logins: name sysname!, principal_id int!, sid varbinary(85), type char(1)!, type_desc nvarchar(60),
    is_disabled bit, create_date datetime!, modify_date datetime!, default_database_name sysname, default_language_name
    sysname, credential_id int, is_policy_checked bit, is_expiration_checked bit, password_hash varbinary(256)"""
)
def _sql_logins(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for login in runtime.instance.logins.values():
        yield {
            "type_desc": "SQL_LOGIN",
            "is_disabled": False,
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "default_database_name": "master",
            "default_language_name": "us_english",
            "is_policy_checked": True,
            "is_expiration_checked": False,
            **login,
            "password_hash": None,
        }


@provide(
    """sys.database_principals: name sysname!, principal_id int!, type char(1)!, type_desc nvarchar(60), default_schema_name sysname,
    create_date datetime!, modify_date datetime!, owning_principal_id int, sid varbinary(85), is_fixed_role bit!, authentication_type int!,
    authentication_type_desc nvarchar(60), default_language_name sysname, default_language_lcid int, allow_encrypted_value_modifications bit!, tenant_id uniqueidentifier"""
)
def _database_principals(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    fixed = [
        ("public", 0, "R"),
        ("dbo", 1, "S"),
        ("guest", 2, "S"),
        ("INFORMATION_SCHEMA", 3, "S"),
        ("sys", 4, "S"),
        *((role, number, "R") for role, number in DATABASE_ROLE_IDS.items()),
    ]
    for name, number, kind in fixed:
        yield {
            "name": name,
            "principal_id": number,
            "type": kind,
            "type_desc": "SQL_USER" if kind == "S" else "DATABASE_ROLE",
            "default_schema_name": "dbo" if name == "dbo" else None,
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "is_fixed_role": number > 16000,
            "authentication_type": 1 if name == "dbo" else 0,
            "authentication_type_desc": "INSTANCE" if name == "dbo" else "NONE",
            "allow_encrypted_value_modifications": False,
        }
    for principal in database.principals.values():
        if principal["name"] == "public":
            continue
        yield {
            "type": "S",
            "type_desc": "SQL_USER",
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "is_fixed_role": False,
            "authentication_type": 1,
            "authentication_type_desc": "INSTANCE",
            "allow_encrypted_value_modifications": False,
            **principal,
        }


# name -> configuration_id, default; in the order of their ids
SCOPED_CONFIGURATIONS: dict[str, tuple[int, Any]] = {
    "MAXDOP": (1, 0),
    "LEGACY_CARDINALITY_ESTIMATION": (2, 0),
    "PARAMETER_SNIFFING": (3, 1),
    "QUERY_OPTIMIZER_HOTFIXES": (4, 0),
    "IDENTITY_CACHE": (6, 1),
    "INTERLEAVED_EXECUTION_TVF": (7, 1),
    "BATCH_MODE_MEMORY_GRANT_FEEDBACK": (8, 1),
    "BATCH_MODE_ADAPTIVE_JOINS": (9, 1),
    "TSQL_SCALAR_UDF_INLINING": (10, 1),
    "ELEVATE_ONLINE": (11, "OFF"),
    "ELEVATE_RESUMABLE": (12, "OFF"),
    "OPTIMIZE_FOR_AD_HOC_WORKLOADS": (13, 0),
    "XTP_PROCEDURE_EXECUTION_STATISTICS": (14, 0),
    "XTP_QUERY_EXECUTION_STATISTICS": (15, 0),
    "ROW_MODE_MEMORY_GRANT_FEEDBACK": (16, 1),
    "ISOLATE_SECURITY_POLICY_CARDINALITY": (17, 0),
    "BATCH_MODE_ON_ROWSTORE": (18, 1),
    "DEFERRED_COMPILATION_TV": (19, 1),
    "ACCELERATED_PLAN_FORCING": (20, 1),
    "GLOBAL_TEMPORARY_TABLE_AUTO_DROP": (21, 1),
    "LIGHTWEIGHT_QUERY_PROFILING": (22, 1),
    "VERBOSE_TRUNCATION_WARNINGS": (23, 1),
    "LAST_QUERY_PLAN_STATS": (24, 0),
    "PAUSED_RESUMABLE_INDEX_ABORT_DURATION_MINUTES": (25, 1440),
    "DW_COMPATIBILITY_LEVEL": (26, 0),
    "EXEC_QUERY_STATS_FOR_SCALAR_FUNCTIONS": (27, 1),
    "PARAMETER_SENSITIVE_PLAN_OPTIMIZATION": (28, 1),
    "ASYNC_STATS_UPDATE_WAIT_AT_LOW_PRIORITY": (29, 0),
    "CE_FEEDBACK": (31, 1),
    "MEMORY_GRANT_FEEDBACK_PERSISTENCE": (33, 1),
    "MEMORY_GRANT_FEEDBACK_PERCENTILE_GRANT": (34, 1),
    "DOP_FEEDBACK": (37, 0),
}


@provide(
    """sys.database_scoped_configurations: configuration_id int, name nvarchar(60), value sql_variant, value_for_secondary
    sql_variant, is_value_default bit"""
)
def _scoped_configurations(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name, (number, default) in SCOPED_CONFIGURATIONS.items():
        value = database.scoped_configurations.get(name, default)
        yield number, name, value, database.scoped_configurations.get(f"{name} FOR SECONDARY"), value == default


define(
    """sys.certificates: name sysname!, certificate_id int!, principal_id int, pvt_key_encryption_type char(2)!,
    pvt_key_encryption_type_desc nvarchar(60), is_active_for_begin_dialog bit, issuer_name nvarchar(884), cert_serial_number
    nvarchar(64), sid varbinary(85), string_sid nvarchar(128), subject nvarchar(4000), expiry_date datetime, start_date datetime,
    thumbprint varbinary(32)!, attested_by nvarchar(260), pvt_key_last_backup_date datetime, key_length int"""
)
define(
    """sys.symmetric_keys: name sysname!, principal_id int, symmetric_key_id int!, key_length int!, key_algorithm char(2)!,
    algorithm_desc nvarchar(60), create_date datetime!, modify_date datetime!, key_guid uniqueidentifier, key_thumbprint sql_variant,
    provider_type nvarchar(120), cryptographic_provider_guid uniqueidentifier, cryptographic_provider_algid sql_variant"""
)
define(
    """sys.endpoints: name sysname!, endpoint_id int!, principal_id int, protocol tinyint!, protocol_desc nvarchar(60), type tinyint!,
    type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), is_admin_endpoint bit!"""
)
define(
    """sys.server_permissions: class tinyint!, class_desc nvarchar(60), major_id int!, minor_id int!, grantee_principal_id int!,
    grantor_principal_id int!, type char(4)!, permission_name nvarchar(128), state char(1)!, state_desc nvarchar(60)"""
)


@provide("""sys.server_role_members: role_principal_id int!, member_principal_id int!""")
def _server_role_members(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[int, int]]:
    numbers = {role: number for number, role in ROLE_IDS.items()}
    for name, login in runtime.instance.logins.items():
        for role in ("sysadmin",) if name == "sa" else login.get("roles", ()):
            yield numbers[role], login["principal_id"]


@provide("""sys.database_role_members: role_principal_id int!, member_principal_id int!""")
def _database_role_members(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[int, int]]:
    yield DATABASE_ROLE_IDS["db_owner"], 1
    made = {one["name"]: one["principal_id"] for one in database.principals.values()}
    for principal in database.principals.values():
        for role in principal.get("roles", ()):
            yield {**made, **DATABASE_ROLE_IDS}[role], principal["principal_id"]


@provide(
    """sys.database_permissions: class tinyint!, class_desc nvarchar(60), major_id int!, minor_id int!, grantee_principal_id int!,
    grantor_principal_id int!, type char(4)!, permission_name nvarchar(128), state char(1)!, state_desc nvarchar(60)"""
)
def _database_permissions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    classes = {"DATABASE": (0, "DATABASE"), "OBJECT": (1, "OBJECT_OR_COLUMN"), "SCHEMA": (3, "SCHEMA")}
    schemas = {name.lower(): number for name, number in database.schemas.items()}
    for principal in database.principals.values():
        grants = dict(principal.get("permissions", {}))
        if principal.get("type", "S") == "S":
            grants.setdefault(("DATABASE", "", "CONNECT"), "G")
        for (kind, place, permission), state in grants.items():
            item, minor = None, 0
            if kind in ("OBJECT", "COLUMN"):
                named, _, column = place.partition("\t")
                item = database.find(*named.split(".", 1))
                names = [one.lower() for one in columns_of(item) or ()] if column else []
                minor = names.index(column) + 1 if column in names else 0
                kind = "OBJECT"
                if item is None or (column and not minor):
                    continue  # it was dropped
            major = {"DATABASE": 0, "SCHEMA": schemas.get(place, 0)}.get(kind, getattr(item, "object_id", getattr(item, "id", 0)))
            yield {
                "class": classes[kind][0],
                "class_desc": classes[kind][1],
                "major_id": major,
                "minor_id": minor,
                "grantee_principal_id": principal["principal_id"],
                "grantor_principal_id": 1,
                "type": DATABASE_TYPES[permission],
                "permission_name": permission,
                "state": state,
                "state_desc": {"G": "GRANT", "D": "DENY", "W": "GRANT_WITH_GRANT_OPTION"}[state],
            }


@provide(
    """sys.fn_my_permissions(sysname, nvarchar(60)): entity_name nvarchar(255), subentity_name nvarchar(128),
    permission_name nvarchar(60)""",
    compatibility=True,
)
def _my_permissions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[str, str, str]]:
    name, kind = (str(one or "") for one in arguments[:2])
    where = (runtime.instance.database(name.strip("[]")) or database) if kind.upper() == "DATABASE" and name else database
    for entity, permission in held(runtime.instance, where, runtime.session.login, kind.upper(), name):
        yield entity, "", permission


define(
    """sys.dm_database_encryption_keys: database_id int!, encryption_state int, create_date datetime, regenerate_date datetime,
    modify_date datetime, set_date datetime, opened_date datetime, key_algorithm nvarchar(32), key_length int,
    encryptor_thumbprint varbinary(20), encryptor_type nvarchar(32), percent_complete real, encryption_state_desc nvarchar(32),
    encryption_scan_state int, encryption_scan_state_desc nvarchar(32), encryption_scan_modify_date datetime"""
)
