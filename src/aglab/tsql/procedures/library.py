"""System procedures written in T-SQL over the catalogue views: one file each in the folder ``sql``."""

from __future__ import annotations

import re
from importlib.resources import files

# The catalogue procedures of ODBC 3 drivers answer as their older namesakes do.
ALIASES = {
    f"{name}_{version}": name
    for name in ("sp_columns", "sp_statistics", "sp_datatype_info", "sp_sproc_columns", "sp_special_columns")
    for version in (90, 100)
}
ODBC_TYPE = re.compile(r"/\*odbc_type (\S+)\*/")  # stands for the number that ODBC has for the type of that name
ODBC_NUMBERS = {
    **{"bit": -7, "tinyint": -6, "smallint": 5, "int": 4, "bigint": -5, "decimal": 3, "numeric": 2, "money": 3, "smallmoney": 3},
    **{"float": 6, "real": 7, "char": 1, "varchar": 12, "nchar": -8, "nvarchar": -9, "text": -1, "ntext": -10, "binary": -2},
    **{"varbinary": -3, "image": -4, "uniqueidentifier": -11, "xml": -152, "time": -154, "datetimeoffset": -155},
}
ODBC_3_NUMBERS = {"date": (91, -9), "datetime": (93, 11), "smalldatetime": (93, 11), "datetime2": (93, -9)}  # ODBC 3, before


def odbc_type(name: str) -> str:
    """The T-SQL expression for a column that holds a type's name; sql_variant's number for what is not known."""
    cases = [f"when '{key}' then {number}" for key, number in ODBC_NUMBERS.items()]
    cases += [f"when '{key}' then case when @ODBCVer > 2 then {new} else {old} end" for key, (new, old) in ODBC_3_NUMBERS.items()]
    return f"convert(smallint, case {name} {' '.join(cases)} else -150 end)"


# What sp_columns_100 has between IS_NULLABLE and SS_DATA_TYPE; mssql-jdbc takes its rows into a table of all these columns.
SPARSE = "convert(varchar(254), c.IS_NULLABLE) as IS_NULLABLE,"
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
            text = item.read_text(encoding="utf-8")
            texts[item.name.removesuffix(".sql")] = ODBC_TYPE.sub(lambda found: odbc_type(found[1]), text)
    for alias, name in ALIASES.items():
        texts[alias] = texts[name]
    texts["sp_columns_100"] = texts["sp_columns"].replace(SPARSE, SPARSE + MORE)
    return texts


TEXTS: dict[str, str] = _read()
