"""What the interpreter knows, read from its own tables: for the page "What the twin knows" and for tests of that page."""

from __future__ import annotations

from aglab.tsql.catalog import registry as catalog
from aglab.tsql.catalog.configurations import default_configurations
from aglab.tsql.catalog.security import SCOPED_CONFIGURATIONS
from aglab.tsql.execute.admin import AdminMixin
from aglab.tsql.execute.dbcc import DBCC_WITHOUT_EFFECT
from aglab.tsql.execute.executor import Executor
from aglab.tsql.execute.options import DATABASE_OPTIONS, IGNORED_DATABASE_OPTIONS
from aglab.tsql.execute.set_options import ATTRIBUTES, WITHOUT_EFFECT
from aglab.tsql.functions import registry as functions
from aglab.tsql.functions.globals import GLOBAL_NAMES
from aglab.tsql.functions.tables import TABLE_FUNCTIONS
from aglab.tsql.messages_table import MESSAGES
from aglab.tsql.parser.admin import NODE_OBJECTS
from aglab.tsql.parser.statements import Parser
from aglab.tsql.procedures.registry import system_procedure_names
from aglab.tsql.query.aggregates import AGGREGATES
from aglab.tsql.query.windows import OFFSETS, RANKING

VALUE_OPTIONS_WITH_EFFECT = (
    "CONTEXT_INFO",
    "DATEFIRST",
    "DATEFORMAT",
    "DEADLOCK_PRIORITY",
    "LANGUAGE",
    "LOCK_TIMEOUT",
    "ROWCOUNT",
    "TEXTSIZE",
)

NODE_VERBS = ("BACKUP", "RESTORE", "CHECKPOINT", "SHUTDOWN", "KILL", "GRANT", "DENY", "REVOKE")


def knowledge() -> dict[str, list[str]]:
    """Lists of names by kind, each sorted.

    ``statements``: words a statement begins with. ``node statements``: parsed here, carried out by the node. ``views`` and
    ``node views``: system views whose rows the interpreter has, and those whose rows the node supplies.
    """
    functions.load()
    catalog.load()
    views = catalog.VIEWS.values()
    return {
        "statements": sorted(name[4:].upper() for name in dir(Parser) if name.startswith("_do_")),
        "statement kinds": sorted(name for name in _statement_kinds() if hasattr(Executor, "_" + name.lower())),
        "node statements": sorted(
            [f"CREATE, ALTER, DROP {words}" for words in NODE_OBJECTS] + ["BACKUP", "RESTORE", "CHECKPOINT", "SHUTDOWN"]
        ),
        "views": sorted(view.full_name for view in views if view.source == "instance"),
        "node views": sorted(view.full_name for view in views if view.source == "node"),
        "functions": sorted({*functions.FUNCTIONS, *AGGREGATES, *RANKING, *OFFSETS, *(name.upper() for name in TABLE_FUNCTIONS)}),
        "global variables": sorted(GLOBAL_NAMES),
        "system procedures": system_procedure_names(),
        "database options": sorted(DATABASE_OPTIONS),
        "database options kept without effect": sorted(IGNORED_DATABASE_OPTIONS),
        "scoped configurations": sorted(SCOPED_CONFIGURATIONS),
        "configurations": sorted(item.name for item in default_configurations().values()),
        "set options": sorted({*ATTRIBUTES, *VALUE_OPTIONS_WITH_EFFECT, "IDENTITY_INSERT", "TRANSACTION ISOLATION LEVEL"}),
        "set options kept without effect": sorted(WITHOUT_EFFECT),
        "dbcc": sorted(name[6:].upper() for name in dir(AdminMixin) if name.startswith("_dbcc_")),
        "dbcc without effect": sorted(DBCC_WITHOUT_EFFECT),
        "messages": [str(number) for number in sorted(MESSAGES)],
    }


def _statement_kinds() -> list[str]:
    from aglab.tsql import ast_statements

    base = ast_statements.Statement
    return [
        name
        for name, item in vars(ast_statements).items()
        if isinstance(item, type) and issubclass(item, base) and item is not base
    ]
