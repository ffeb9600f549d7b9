"""More views that SMO (and so SSMS, dbatools and Azure Data Studio) reads while it fills its objects.

Found by letting SMO itself read a node. Columns are those of SQL Server 2022; the documentation was looked at for
sys.server_audits and sys.asymmetric_keys, the others are as its pages are remembered and could not all be confirmed. Kinds of
objects that cannot be made here have no rows. ``spt_values`` is not documented: what public scripts read of it is there (numbers,
the page size, names of locks).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from aglab.tsql.catalog.objects import _OBJECT, _base
from aglab.tsql.catalog.registry import PROVIDERS, VIEWS, find_view, provide, view_rows
from aglab.tsql.store.database import Database

_SPECIFICATION = "name sysname!, create_date datetime!, modify_date datetime!, audit_guid uniqueidentifier, is_state_enabled bit"
_DETAIL = """audit_action_id char(4)!, audit_action_name nvarchar(128), class tinyint!, class_desc nvarchar(60), major_id int!, minor_id int!,
    audited_principal_id int!, audited_result nvarchar(60), is_group bit"""
_CREDENTIAL = """credential_id int!, name sysname!, credential_identity nvarchar(4000), create_date datetime!, modify_date datetime!,
    target_type nvarchar(100), target_id int"""
_TYPE = """name sysname!, system_type_id tinyint!, user_type_id int!, schema_id int!, principal_id int, max_length smallint!,
    precision tinyint!, scale tinyint!, collation_name sysname, is_nullable bit, is_user_defined bit!, is_assembly_type bit!,
    default_object_id int!, rule_object_id int!, is_table_type bit!"""
_NAMED = "name sysname, create_date datetime!, modify_date datetime!, principal_id int"

_WITHOUT_ROWS = (
    "sys.credentials: " + _CREDENTIAL,
    "sys.database_scoped_credentials: " + _CREDENTIAL,
    """sys.cryptographic_providers: provider_id int, name sysname, guid uniqueidentifier, version nvarchar(24), dll_path nvarchar(520),
    is_enabled bit""",
    "sys.backup_devices: name sysname, type tinyint, type_desc nvarchar(60), physical_name nvarchar(260)",
    """sys.server_triggers: name sysname!, object_id int!, parent_class tinyint!, parent_class_desc nvarchar(60), parent_id int!,
    type char(2)!, type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_disabled bit!""",
    """sys.server_audits: audit_id int!, name sysname!, audit_guid uniqueidentifier, create_date datetime!, modify_date datetime!,
    principal_id int, type char(2)!, type_desc nvarchar(60), on_failure tinyint, on_failure_desc nvarchar(60), is_state_enabled tinyint,
    queue_delay int, predicate nvarchar(3000)""",
    "sys.server_audit_specifications: server_specification_id int!, " + _SPECIFICATION,
    "sys.server_audit_specification_details: server_specification_id int!, " + _DETAIL,
    "sys.database_audit_specifications: database_specification_id int!, " + _SPECIFICATION,
    "sys.database_audit_specification_details: database_specification_id int!, " + _DETAIL,
    """sys.change_tracking_databases: database_id int!, is_auto_cleanup_on tinyint, retention_period int, retention_period_units tinyint,
    retention_period_units_desc nvarchar(60), max_cleanup_version bigint""",
    """sys.change_tracking_tables: object_id int!, is_track_columns_updated_on bit!, min_valid_version bigint, begin_version bigint,
    cleanup_version bigint""",
    """sys.external_libraries: external_library_id int!, name sysname!, principal_id int, language sysname, scope int!,
    scope_desc varchar(7)!""",
    f"""sys.assembly_types: {_TYPE}, assembly_id int!, assembly_class sysname, is_binary_ordered bit, is_fixed_length bit,
    prog_id nvarchar(40), assembly_qualified_name nvarchar(4000)""",
    "sys.fulltext_stoplists: stoplist_id int!, " + _NAMED,
    "sys.registered_search_property_lists: property_list_id int!, " + _NAMED,
    f"""sys.security_policies: {_OBJECT}, is_enabled bit!, is_not_for_replication bit!, uses_database_collation bit,
    is_schema_bound bit!""",
    """sys.external_file_formats: file_format_id int!, name sysname!, format_type nvarchar(100)!, field_terminator nvarchar(10),
    string_delimiter nvarchar(10), date_format nvarchar(50), use_type_default bit!, serde_method nvarchar(255),
    row_terminator nvarchar(10), encoding nvarchar(10), data_compression nvarchar(255), first_row int""",
    """sys.column_master_keys: name sysname!, column_master_key_id int!, create_date datetime!, modify_date datetime!,
    key_store_provider_name sysname, key_path nvarchar(4000), allow_enclave_computations bit!, signature varbinary(max)""",
    "sys.column_encryption_keys: name sysname!, column_encryption_key_id int!, create_date datetime!, modify_date datetime!",
    """sys.asymmetric_keys: name sysname!, principal_id int, asymmetric_key_id int!, pvt_key_encryption_type char(2)!,
    pvt_key_encryption_type_desc nvarchar(60), thumbprint varbinary(32)!, algorithm char(2)!, algorithm_desc nvarchar(60), key_length int!,
    sid varbinary(85), string_sid nvarchar(128), public_key varbinary(max)!, attested_by nvarchar(260), provider_type nvarchar(120),
    cryptographic_provider_guid uniqueidentifier, cryptographic_provider_algid sql_variant""",
    """sys.plan_guides: plan_guide_id int!, name sysname!, create_date datetime!, modify_date datetime!, is_disabled bit!,
    query_text nvarchar(max), scope_type tinyint!, scope_type_desc nvarchar(60), scope_object_id int, scope_batch nvarchar(max),
    parameters nvarchar(max), hints nvarchar(max)""",
    "sys.assembly_modules: object_id int!, assembly_id int!, assembly_class sysname, assembly_method sysname, "
    "null_on_null_input bit, execute_as_principal_id int",
    "sys.server_assembly_modules: object_id int!, assembly_id int!, assembly_class sysname, assembly_method sysname, "
    "execute_as_principal_id int",
    "sys.server_sql_modules: object_id int!, definition nvarchar(max), uses_ansi_nulls bit, uses_quoted_identifier bit, "
    "execute_as_principal_id int",
    """sys.fulltext_indexes: object_id int!, unique_index_id int!, fulltext_catalog_id int, is_enabled bit!, change_tracking_state char(1),
    change_tracking_state_desc nvarchar(60), has_crawl_completed bit!, crawl_type char(1)!, crawl_type_desc nvarchar(60),
    crawl_start_date datetime, crawl_end_date datetime, incremental_timestamp binary(8), stoplist_id int, data_space_id int!,
    property_list_id int""",
    """sys.resource_governor_external_resource_pools: external_pool_id int!, name sysname!, max_cpu_percent int!, max_memory_percent int!,
    max_processes int!, version bigint!""",
    """sys.xml_schema_collections: xml_collection_id int!, schema_id int!, principal_id int, name sysname!, create_date datetime!,
    modify_date datetime!""",
)
for _text in _WITHOUT_ROWS:
    _schema, _, _name = _text.partition(":")[0].partition(".")
    if (_schema, _name) not in VIEWS:
        provide(_text)(lambda runtime, database, arguments: [])


def _shape(name: str) -> str:
    """The columns of a view that is known, in the registry's words."""
    return ", ".join(f"{c.name} {c.type}{'' if c.nullable else '!'}" for c in VIEWS[("sys", name)].columns)


@provide("sys.all_views: " + _shape("views"))
def _all_views(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Views of users, and every system view that the twin has."""
    flags = dict.fromkeys(
        "has_opaque_metadata has_unchecked_assembly_data with_check_option is_date_correlation_view".split(), False
    )
    system = (
        {**_base(database, view.name, view.object_id, view.schema, 0, "V"), **flags, "is_ms_shipped": True}
        for view in VIEWS.values()
        if view.parameters is None and view.schema == "sys"
    )
    users = find_view("sys", "views")
    return chain(view_rows(runtime, users, (), database) if users else (), system)


@provide("sys.all_parameters: " + _shape("parameters"))
def _all_parameters(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Any:
    """Parameters of users' modules; those of system procedures are not kept."""
    view = find_view("sys", "parameters")
    return view_rows(runtime, view, (), database) if view else ()


_MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December"
_DAYS = "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday"


@provide(
    """sys.syslanguages: langid smallint!, dateformat nchar(3)!, datefirst tinyint!, upgrade int, name sysname!, alias sysname!,
    months nvarchar(372), shortmonths nvarchar(132), days nvarchar(217), lcid int!, msglangid smallint!""",
    compatibility=True,
)
def _languages(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The two languages that SET LANGUAGE takes here."""
    short = ",".join(month[:3] for month in _MONTHS.split(","))
    yield 0, "mdy", 7, 0, "us_english", "English", _MONTHS, short, _DAYS, 1033, 1033
    yield 23, "dmy", 1, 0, "British", "British English", _MONTHS, short, _DAYS, 2057, 1033


_LOCK_RESOURCES = {2: "DB", 3: "FIL", 5: "TAB", 6: "PAG", 7: "KEY", 8: "EXT", 9: "RID", 10: "APP", 11: "MD", 12: "HBT", 13: "AU"}
_LOCK_MODES = "NULL,Sch-S,Sch-M,S,U,X,IS,IU,IX,SIU,SIX,UIX,BU,RangeS-S,RangeS-U,RangeIn-Null,RangeIn-S,RangeIn-U,RangeIn-X"


@provide(
    "sys.spt_values: name nvarchar(35), number int!, type nchar(3)!, low int, high int, status int",
    compatibility=True,
)
def _spt_values(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Numbers 0 to 2047 (type P), the page size (E), resources (LR) and modes (L) of locks."""
    for number in range(2048):
        yield None, number, "P", number // 8 + 1, 1 << number % 8, 0
    yield "WINDOWS/NT", 1, "E", 8192, 0, 0
    for number, name in _LOCK_RESOURCES.items():
        yield name, number, "LR", None, None, 0
    for number, name in enumerate(_LOCK_MODES.split(","), 1):
        yield name, number, "L", None, None, 0


@provide(
    """sys.database_filestream_options: database_id int!, non_transacted_access tinyint!, non_transacted_access_desc nvarchar(60)!,
    directory_name nvarchar(255)"""
)
def _filestream_options(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """A row of each database: no access outside transactions."""
    for item in sorted(runtime.instance.databases.values(), key=lambda one: one.id):
        yield item.id, 0, "OFF", None


@provide("sys.system_objects: " + _OBJECT)
def _system_objects(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """The system views and functions that the twin has."""
    own = {item.name for item in database.objects.values()}
    for row in PROVIDERS["sys.all_objects"](runtime, database, arguments):
        if row["is_ms_shipped"] and row["name"] not in own:
            yield row


@provide("sys.system_sql_modules: " + _shape("sql_modules"))
def _system_modules(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """None: the texts of system modules are not shown."""
    return iter(())
