"""System procedures written in T-SQL over the catalogue views: one file each in the folder ``sql``."""

from __future__ import annotations

from importlib.resources import files

# The catalogue procedures of ODBC 3 drivers answer as their older namesakes do.
ALIASES = {"sp_columns_100": "sp_columns", "sp_statistics_100": "sp_statistics", "sp_datatype_info_100": "sp_datatype_info"}


def _read() -> dict[str, str]:
    texts = {}
    for item in sorted(files("aglab.tsql.procedures").joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if item.name.endswith(".sql"):
            texts[item.name.removesuffix(".sql")] = item.read_text(encoding="utf-8")
    for alias, name in ALIASES.items():
        texts[alias] = texts[name]
    return texts


TEXTS: dict[str, str] = _read()
