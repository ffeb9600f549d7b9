"""System procedures by name: Python generators here, T-SQL texts in :mod:`.library`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from typing import Any

from aglab.tsql.store.database import Module

Procedure = Callable[[Any, Any], Generator[Any, Any, Any]]
PROCEDURES: dict[str, Procedure] = {}
MODULES = (
    "bulk",
    "configuration",
    "dynamic",
    "describe",
    "general",
    "operating_system",
    "registry_keys",
    "api_cursors",
    "cursor_changes",
    "describe_cursors",
    "agent",
)
IN_MSDB = set(  # procedures that are in msdb only: these, written in T-SQL, and those registered so
    "sp_help_category sp_help_job sp_help_jobactivity sp_help_jobhistory sp_help_jobstep sp_help_schedule".split()
)
_texts: dict[str, Module] = {}
_loaded = False


def procedure(name: str, in_msdb: bool = False) -> Callable[[Procedure], Procedure]:
    """Register a Python procedure; ``in_msdb``: of msdb, which the executor then has as ``target``."""

    def register(run: Procedure) -> Procedure:
        if in_msdb:
            IN_MSDB.add(name.lower())
        PROCEDURES[name.lower()] = run
        return run

    return register


def find_system_procedure(name: str) -> Procedure | Module | None:
    """The procedure by name in any case."""
    global _loaded
    if not _loaded:
        _loaded = True
        for module in MODULES:
            importlib.import_module(f"aglab.tsql.procedures.{module}")
    lowered = name.lower()
    found = PROCEDURES.get(lowered)
    if found is not None:
        return found
    from aglab.tsql.procedures.library import TEXTS

    text = TEXTS.get(lowered)
    if text is None:
        return None
    if lowered not in _texts:
        from aglab.tsql.parser.statements import parse_batch

        definition = parse_batch(text.strip())[0]
        _texts[lowered] = Module(-1000 - len(_texts), "sys", lowered, "procedure", text, definition)
    return _texts[lowered]


def system_procedure_names() -> list[str]:
    """All of them, sorted."""
    find_system_procedure("sp_who")
    from aglab.tsql.procedures.library import TEXTS

    return sorted({*PROCEDURES, *TEXTS})
