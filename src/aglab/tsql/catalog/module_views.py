"""sys.sql_modules, procedures, views and parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _OBJECT, _base
from aglab.tsql.catalog.registry import provide
from aglab.tsql.catalog.type_ids import type_facts
from aglab.tsql.store.database import Database
from aglab.tsql.store.user_types import TABLE_SYSTEM_TYPE_ID


@provide(
    """sys.sql_modules: object_id int!, definition nvarchar(max), uses_ansi_nulls bit, uses_quoted_identifier bit, is_schema_bound bit,
    uses_database_collation bit, is_recompiled bit, null_on_null_input bit, execute_as_principal_id int, uses_native_compilation bit, is_inlineable bit, inline_type bit"""
)
def _sql_modules(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for module in database.modules():
        options = module.definition.options if module.definition else set()
        yield {
            "object_id": module.object_id,
            "definition": None if "ENCRYPTION" in options else module.text,
            "uses_ansi_nulls": True,
            "uses_quoted_identifier": True,
            "is_schema_bound": "SCHEMABINDING" in options,
            "uses_database_collation": False,
            "is_recompiled": "RECOMPILE" in options,
            "null_on_null_input": False,
            "uses_native_compilation": "NATIVE_COMPILATION" in options,
            "is_inlineable": False,
            "inline_type": False,
        }


def _modules_of(kind: str, code: str) -> Any:
    def rows(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
        for module in database.modules(kind):
            yield _base(database, module.name, module.object_id, module.schema, 0, code, module.created)

    return rows


provide(
    "sys.procedures: "
    + _OBJECT
    + ", is_auto_executed bit!, is_execution_replicated bit, is_repl_serializable_only bit, skips_repl_constraints bit"
)(lambda r, d, a: ({**row, "is_auto_executed": False} for row in _modules_of("procedure", "P")(r, d, a)))
provide(
    "sys.views: "
    + _OBJECT
    + ", is_replicated bit, has_replication_filter bit, has_opaque_metadata bit!, has_unchecked_assembly_data bit!, with_check_option bit!, is_date_correlation_view bit!"
)(
    lambda r, d, a: (
        {
            **row,
            "has_opaque_metadata": False,
            "has_unchecked_assembly_data": False,
            "with_check_option": False,
            "is_date_correlation_view": False,
        }
        for row in _modules_of("view", "V")(r, d, a)
    )
)


@provide(
    """sys.parameters: object_id int!, name sysname, parameter_id int!, system_type_id tinyint!, user_type_id int!, max_length smallint!,
    precision tinyint!, scale tinyint!, is_output bit!, is_cursor_ref bit!, has_default_value bit!, is_xml_document bit!, default_value sql_variant,
    xml_collection_id int!, is_readonly bit!, is_nullable bit"""
)
def _parameters(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for module in database.modules():
        parameters = module.definition.parameters if module.definition else []
        for number, parameter in enumerate(parameters, 1):
            if parameter.table is not None:
                system, user, length, precision, scale = TABLE_SYSTEM_TYPE_ID, 0, -1, 0, 0
            else:
                system, user, length, precision, scale = type_facts(parameter.type)
            yield {
                "object_id": module.object_id,
                "name": parameter.name,
                "parameter_id": number,
                "system_type_id": system,
                "user_type_id": database.type_id(parameter.user_type) or user,
                "max_length": length,
                "precision": precision,
                "scale": scale,
                "is_output": parameter.output,
                "is_cursor_ref": False,
                "has_default_value": False,
                "is_xml_document": False,
                "xml_collection_id": 0,
                "is_readonly": parameter.readonly,
                "is_nullable": True,
            }
