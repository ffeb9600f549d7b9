"""SET options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.effects import EnvChange
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.messages import error, info, not_implemented
from aglab.tsql.session import ISOLATION_BY_NAME

ATTRIBUTES = {
    "ANSI_NULLS": "ansi_nulls",
    "ANSI_PADDING": "ansi_padding",
    "ANSI_WARNINGS": "ansi_warnings",
    "ANSI_NULL_DFLT_ON": "ansi_null_dflt_on",
    "ARITHABORT": "arithabort",
    "CONCAT_NULL_YIELDS_NULL": "concat_null_yields_null",
    "QUOTED_IDENTIFIER": "quoted_identifier",
    "NUMERIC_ROUNDABORT": "numeric_roundabort",
    "IMPLICIT_TRANSACTIONS": "implicit_transactions",
    "CURSOR_CLOSE_ON_COMMIT": "cursor_close_on_commit",
    "NOCOUNT": "nocount",
    "XACT_ABORT": "xact_abort",
    "NOEXEC": "noexec",
    "PARSEONLY": "parseonly",
    "FMTONLY": "fmtonly",
    "STATISTICS IO": "statistics_io",
    "STATISTICS TIME": "statistics_time",
}


# Kept and shown (sys.dm_exec_sessions, DBCC USEROPTIONS, @@OPTIONS), and nothing else: the twin always behaves as with ON, or
# as with OFF for the last two and FORCEPLAN.
SHOWN_ONLY = frozenset(
    {
        "ANSI_NULLS",
        "ANSI_PADDING",
        "ANSI_NULL_DFLT_ON",
        "ARITHABORT",
        "CONCAT_NULL_YIELDS_NULL",
        "QUOTED_IDENTIFIER",
        "TEXTSIZE",
        "CURSOR_CLOSE_ON_COMMIT",
        "NUMERIC_ROUNDABORT",
    }
)
WITHOUT_EFFECT = frozenset(
    {
        "ANSI_DEFAULTS",
        "ANSI_NULL_DFLT_OFF",
        "ARITHIGNORE",
        "FIPS_FLAGGER",
        "FORCEPLAN",
        "REMOTE_PROC_TRANSACTIONS",
        "NO_BROWSETABLE",
        "QUERY_GOVERNOR_COST_LIMIT",
    }
)


def _whole(value: Any, default: int) -> int:
    """A SET option's number; error 102 at anything else."""
    try:
        return default if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        raise error(102, value) from None


class SetMixin(BaseExecutor):
    """SET options."""

    if TYPE_CHECKING:

        def target(self, node: ast.TableSource) -> Any: ...

    def _setoption(self, s: st.SetOption) -> Effects[Any]:
        options = self.session.options
        value = s.value
        if isinstance(value, ast.Node):
            value = yield from self.evaluate(s, value)
        self.session.row_count = 0
        for name in s.names:
            if name in ATTRIBUTES:
                setattr(options, ATTRIBUTES[name], bool(value))
            elif name == "ANSI_DEFAULTS":
                for attribute in (
                    "ansi_nulls",
                    "ansi_padding",
                    "ansi_warnings",
                    "ansi_null_dflt_on",
                    "quoted_identifier",
                    "implicit_transactions",
                    "cursor_close_on_commit",
                ):
                    setattr(options, attribute, bool(value))
            elif name == "ROWCOUNT":
                options.rowcount = _whole(value, 0)
            elif name == "TEXTSIZE":
                options.textsize = _whole(value, 0) or 4096
            elif name == "LOCK_TIMEOUT":
                options.lock_timeout_ms = _whole(value, -1)
            elif name == "DEADLOCK_PRIORITY":
                options.deadlock_priority = self._priority(value, s.line)
            elif name == "DATEFIRST":
                if not isinstance(value, int) or not 1 <= value <= 7:
                    raise error(2742, value, line=s.line)
                options.datefirst = value
            elif name == "DATEFORMAT":
                text = str(value).lower()
                if text not in ("mdy", "dmy", "ymd", "ydm", "myd", "dym"):
                    raise error(2741, value, line=s.line)
                if text != "mdy":
                    raise not_implemented(f"SET DATEFORMAT {text}", s.line)
            elif name == "LANGUAGE":
                yield from self._language(str(value), s.line)
            elif name == "CONTEXT_INFO":
                self.session.context_info = value if isinstance(value, bytes) else str(value).encode()
            elif name not in WITHOUT_EFFECT and value is not False:
                raise not_implemented(f"SET {name} ON", s.line)
        return None

    @staticmethod
    def _priority(value: Any, line: int) -> int:
        named = {"LOW": -5, "NORMAL": 0, "HIGH": 5}
        if isinstance(value, str) and value.upper() in named:
            return named[value.upper()]
        if isinstance(value, int) and -10 <= value <= 10:
            return value
        raise error(102, str(value), line=line)

    def _language(self, name: str, line: int) -> Effects[None]:
        known = {"us_english": "us_english", "english": "us_english", "british": "British"}
        language = known.get(name.lower())
        if language is None:
            raise error(2720, name, line=line)
        old = self.session.options.language
        self.session.options.language = language
        yield EnvChange("language", language, old)
        yield info(5703, language)

    def _identityinsert(self, s: st.IdentityInsert) -> Effects[Any]:
        target = self.target(ast.TableSource(s.line, parts=s.table))
        table = target.table
        if table.identity_next is None:
            raise error(8106, ".".join(s.table), line=s.line)
        name = f"{target.database.name if target.database else 'tempdb'}.{table.full_name}"
        current = self.session.options.identity_insert
        if s.on and current and current != name.lower():
            raise error(8107, current, name, line=s.line)
        self.session.options.identity_insert = name.lower() if s.on else ""
        return None
        yield

    def _setisolation(self, s: st.SetIsolation) -> Effects[Any]:
        level = ISOLATION_BY_NAME.get(s.level)
        if level is None:
            raise error(102, s.level.split()[-1], line=s.line)
        self.session.options.isolation = level
        return None
        yield
