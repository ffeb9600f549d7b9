"""System procedures written in T-SQL over the catalogue views: one file each in the folder ``sql``."""

from __future__ import annotations

from importlib.resources import files

# The catalogue procedures of ODBC 3 drivers answer as their older namesakes do.
ALIASES = {
    f"{name}_100": name for name in ("sp_columns", "sp_statistics", "sp_datatype_info", "sp_sproc_columns", "sp_special_columns")
}
# What sp_columns_100 has between IS_NULLABLE and SS_DATA_TYPE; mssql-jdbc takes its rows into a table of all these columns.
SPARSE = "convert(varchar(254), IS_NULLABLE) as IS_NULLABLE,"
MORE = """ convert(smallint, 0) as SS_IS_SPARSE, convert(smallint, 0) as SS_IS_COLUMN_SET, convert(smallint, 0) as SS_IS_COMPUTED,
    convert(smallint, case when i.object_id is null then 0 else 1 end) as SS_IS_IDENTITY,
    convert(sysname, null) as SS_UDT_CATALOG_NAME, convert(sysname, null) as SS_UDT_SCHEMA_NAME,
    convert(nvarchar(4000), null) as SS_UDT_ASSEMBLY_TYPE_NAME, convert(sysname, null) as SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
    convert(sysname, null) as SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
    convert(sysname, null) as SS_XML_SCHEMACOLLECTION_NAME,"""


def _read() -> dict[str, str]:
    texts = {}
    for item in sorted(files("aglab.tsql.procedures").joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if item.name.endswith(".sql"):
            texts[item.name.removesuffix(".sql")] = item.read_text(encoding="utf-8")
    for alias, name in ALIASES.items():
        texts[alias] = texts[name]
    texts["sp_columns_100"] = texts["sp_columns"].replace(SPARSE, SPARSE + MORE)
    return texts


TEXTS: dict[str, str] = _read()
