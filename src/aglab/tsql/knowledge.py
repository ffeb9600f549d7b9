"""What the interpreter knows, read from its own tables: for the page "What the twin knows" and for tests of that page."""

from __future__ import annotations

from aglab.tsql.catalog import registry as catalog
from aglab.tsql.catalog.configurations import default_configurations
from aglab.tsql.catalog.security import SCOPED_CONFIGURATIONS
from aglab.tsql.execute.admin import AdminMixin
from aglab.tsql.execute.dbcc import DBCC_WITH, DBCC_WITHOUT_EFFECT
from aglab.tsql.execute.executor import Executor
from aglab.tsql.execute.options import DATABASE_OPTIONS, IGNORED_DATABASE_OPTIONS
from aglab.tsql.execute.set_options import ATTRIBUTES, SHOWN_ONLY, WITHOUT_EFFECT
from aglab.tsql.functions import registry as functions
from aglab.tsql.functions.globals import GLOBAL_NAMES
from aglab.tsql.functions.tables import TABLE_FUNCTIONS
from aglab.tsql.messages_table import MESSAGES
from aglab.tsql.parser.admin import NODE_OBJECTS
from aglab.tsql.parser.cursors import CURSOR_OPTIONS
from aglab.tsql.parser.hints import QUERY_HINTS, TABLE_HINTS
from aglab.tsql.parser.modules import MODULE_OPTIONS
from aglab.tsql.parser.option_lists import NOTHING, option_rows
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

MODULE_DRIVES = {
    "ENCRYPTION": "the text is shown nowhere: sys.sql_modules.definition, OBJECT_DEFINITION, sp_helptext (15471)",
    "NATIVE_COMPILATION": "the rules of natively compiled modules",
    "SCHEMABINDING": "needed by classifier functions and natively compiled modules; objects it names are not protected",
}
CURSOR_DRIVES = {
    "LOCAL": "the cursor ends with its batch or procedure",
    "GLOBAL": "the cursor lasts as long as the session",
    "FORWARD_ONLY": "FETCH NEXT only",
    "SCROLL": "every FETCH direction",
    "STATIC": "a snapshot, read-only",
    "KEYSET": "the rows are fixed at OPEN, their values are read at each FETCH",
    "DYNAMIC": "rows and values are those at each FETCH",
    "FAST_FORWARD": "forward only, read-only",
    "READ_ONLY": "no WHERE CURRENT OF",
    "SCROLL_LOCKS": "update locks on the row that was fetched",
    "OPTIMISTIC": "WHERE CURRENT OF fails (16947) where the row has changed",
    "TYPE_WARNING": "16956 where the cursor is of another type than asked for",
}
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
        "options by statement": sorted(f"{statement}: {name}" for statement, name, _ in option_rows()),
        "table hints": sorted(TABLE_HINTS),
        "query hints": sorted(QUERY_HINTS),
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


def options() -> list[tuple[str, str, str]]:
    """Statement, option or hint, and what it drives: every word that a statement takes besides its names, for the page."""
    kept = "kept and shown (sys.dm_exec_sessions, DBCC USEROPTIONS, @@OPTIONS), drives nothing else"
    rows = [*option_rows()]
    rows += [("table hint", name, drives) for name, drives in TABLE_HINTS.items()]
    rows += [("query hint", name, drives) for name, (_, drives) in QUERY_HINTS.items()]
    rows += [("join hint", name, NOTHING) for name in ("LOOP", "HASH", "MERGE", "REMOTE")]
    rows += [("SET", name, kept if name in SHOWN_ONLY else NOTHING) for name in sorted(SHOWN_ONLY | WITHOUT_EFFECT)]
    rows += [("SET", "DATEFORMAT", "only mdy")]
    rows += [("DBCC", name, NOTHING) for name in sorted(DBCC_WITHOUT_EFFECT)]
    rows += [(f"DBCC {name} ... WITH", word, NOTHING) for name in sorted(DBCC_WITH) for word in sorted(DBCC_WITH[name])]
    for kind, words in MODULE_OPTIONS.items():
        rows += [(f"CREATE {kind} ... WITH", name, MODULE_DRIVES.get(name, NOTHING)) for name in sorted(words)]
    rows += [("DECLARE CURSOR", name, CURSOR_DRIVES.get(name, NOTHING)) for name in CURSOR_OPTIONS]
    rows += [("INSERT BULK", "ORDER (column, ...)", "rows must come in this order where it is the clustered index's: 4819")]
    rows += [("column", name, NOTHING) for name in ("SPARSE", "NOT FOR REPLICATION")]
    rows += [("ALTER DATABASE SET", name, NOTHING) for name in sorted(IGNORED_DATABASE_OPTIONS)]
    return [*rows, ("BEGIN TRANSACTION", "WITH MARK", "a mark in the log that RESTORE LOG stops at")]


def _statement_kinds() -> list[str]:
    from aglab.tsql import ast_statements

    base = ast_statements.Statement
    return [
        name
        for name, item in vars(ast_statements).items()
        if isinstance(item, type) and issubclass(item, base) and item is not base
    ]
