"""sys.dm_exec_describe_first_result_set and _for_object, sys.system_views: what tools ask about statements and views.

Sources: their pages (SQL Server documentation). A statement that cannot be described gives one row with the error, as documented;
error_type 1 is MISC, 2 SYNTAX. Left out: browse information (source columns are NULL).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog import registry
from aglab.tsql.catalog.registry import provide
from aglab.tsql.messages import TsqlError
from aglab.tsql.runtime import Variables
from aglab.tsql.store.database import Database

COLUMNS = """is_hidden bit, column_ordinal int, name sysname, is_nullable bit, system_type_id int, system_type_name nvarchar(256),
    max_length smallint, precision tinyint, scale tinyint, collation_name sysname, user_type_id int, user_type_database sysname,
    user_type_schema sysname, user_type_name sysname, assembly_qualified_type_name nvarchar(4000), xml_collection_id int,
    xml_collection_database sysname, xml_collection_schema sysname, xml_collection_name sysname, is_xml_document bit,
    is_case_sensitive bit, is_fixed_length_clr_type bit, source_server sysname, source_database sysname, source_schema sysname,
    source_table sysname, source_column sysname, is_identity_column bit, is_part_of_unique_key bit, is_updateable bit,
    is_computed_column bit, is_sparse_column_set bit, ordinal_in_order_by_list smallint, order_by_list_length smallint,
    order_by_is_descending smallint, error_number int, error_severity int, error_state int, error_message nvarchar(max), error_type int,
    error_type_desc nvarchar(60)"""
KNOWN = 35  # columns that sp_describe_first_result_set has too


def _rows(runtime: Any, work: Any) -> Iterator[tuple[Any, ...]]:
    from aglab.tsql.interpreter import Interpreter
    from aglab.tsql.procedures.describe import described

    try:
        found = work(Interpreter(runtime.host, runtime.session).executor(runtime))
    except TsqlError as problem:
        kind = (2, "SYNTAX") if problem.number in (102, 105, 156, 170) else (1, "MISC")
        blank = (False, 0, None, False, *[None] * (KNOWN - 4))
        yield (*blank, problem.number, problem.severity, problem.state, problem.text, *kind)
        return
    for row in described(found):
        yield (*row[:KNOWN], None, None, None, None, None, None)


@provide(f"sys.dm_exec_describe_first_result_set(nvarchar(max), nvarchar(max), tinyint): {COLUMNS}")
def _statement(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    from aglab.tsql.procedures.describe import first_result

    return _rows(runtime, lambda executor: first_result(executor, arguments[0] or "", arguments[1]))


@provide(f"sys.dm_exec_describe_first_result_set_for_object(int, tinyint): {COLUMNS}")
def _object(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    from aglab.tsql.procedures.describe import first_of

    module = next((one for one in database.modules("procedure") if one.object_id == arguments[0]), None)
    if module is None:
        return iter(())
    types = {parameter.name.lower(): parameter.type for parameter in module.definition.parameters}
    return _rows(runtime, lambda executor: first_of(executor, module.definition.body, Variables(types=types)))


@provide(
    """sys.system_views: name sysname!, object_id int!, principal_id int, schema_id int!, parent_object_id int!, type char(2)!,
    type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_published bit!, is_schema_published bit!,
    is_replicated bit, has_replication_filter bit, has_opaque_metadata bit!, has_unchecked_assembly_data bit!, with_check_option bit!,
    is_date_correlation_view bit!, is_tracked_by_cdc bit, has_snapshot bit, ledger_view_type tinyint, ledger_view_type_desc nvarchar(60),
    is_dropped_ledger_view bit"""
)
def _system_views(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    made = datetime.datetime(2022, 10, 8, 6, 31, 57)
    for view in registry.VIEWS.values():
        if view.parameters is None:
            yield {
                "name": view.name,
                "object_id": view.object_id,
                "schema_id": 4 if view.schema == "sys" else 3,
                "parent_object_id": 0,
                "type": "V ",
                "type_desc": "VIEW",
                "create_date": made,
                "modify_date": made,
                "is_ms_shipped": True,
                **dict.fromkeys(FALSE, False),
            }


FALSE = """is_published is_schema_published has_opaque_metadata has_unchecked_assembly_data with_check_option
    is_date_correlation_view""".split()
