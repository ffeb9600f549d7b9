"""Table hints and query hints: which there are, which values they take, and what each drives.

Sources: "Table hints", "Query hints", "Join hints (Transact-SQL)"; 1047, 1065 and 10715 from "Database Engine events and
errors". A hint that tells the optimiser how to get the same rows is accepted and drives nothing: the twin has no cost-based
optimiser. Left out: SPATIAL_WINDOW_MAX_CELLS, and hints of columnstore and PolyBase.
"""

from __future__ import annotations

from typing import Any

from aglab.tsql.lexer import DECIMAL, INTEGER, NAME, NATIONAL, STRING, VARIABLE
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.parser.base import ParserBase
from aglab.tsql.parser.option_lists import NOTHING

TABLE_HINTS = {
    "NOLOCK": "reads rows that are not committed",
    "READUNCOMMITTED": "as NOLOCK",
    "READCOMMITTED": NOTHING,
    "READCOMMITTEDLOCK": "waits for locks where the database reads versions",
    "REPEATABLEREAD": "keeps row locks to the end of the transaction",
    "SERIALIZABLE": "keeps row locks to the end of the transaction",
    "HOLDLOCK": "as SERIALIZABLE",
    "SNAPSHOT": "version of a memory-optimized table",
    "UPDLOCK": "takes U locks",
    "XLOCK": "takes X locks",
    "ROWLOCK": NOTHING,
    "PAGLOCK": NOTHING,
    "TABLOCK": "locks the table (S)",
    "TABLOCKX": "locks the table (X)",
    "READPAST": "leaves out locked rows",
    "NOWAIT": "error 1222 instead of a wait for a lock of the table",
    "NOEXPAND": NOTHING,
    "FORCESEEK": NOTHING,
    "FORCESCAN": NOTHING,
    "INDEX": "the index that is read; error 308 where it is missing",
    "KEEPIDENTITY": "bulk load only: " + NOTHING,
    "KEEPDEFAULTS": "bulk load only: " + NOTHING,
    "IGNORE_CONSTRAINTS": "bulk load only: " + NOTHING,
    "IGNORE_TRIGGERS": "bulk load only: " + NOTHING,
}
_DIRTY = frozenset({"NOLOCK", "READUNCOMMITTED"})
# Of each group a table may have one ("Table hints"); HOLDLOCK is another word for SERIALIZABLE.
_GROUPS = (
    ({"PAGLOCK"}, _DIRTY, {"READCOMMITTEDLOCK"}, {"ROWLOCK"}, {"TABLOCK"}, {"TABLOCKX"}),
    ({"HOLDLOCK", "SERIALIZABLE"}, _DIRTY, {"READCOMMITTED"}, {"REPEATABLEREAD"}),
    (_DIRTY, {"UPDLOCK", "XLOCK"}),
)

# words -> (what follows: "" nothing, "n" a number, "=n" a percentage, "(" a list in parentheses, "text" a string, what it drives)
QUERY_HINTS: dict[str, tuple[str, str]] = {
    "MAXRECURSION": ("n", "levels of a recursive common table expression; error 530"),
    "MAXDOP": ("n", NOTHING),
    "RECOMPILE": ("", NOTHING),
    "FAST": ("n", NOTHING),
    "FORCE ORDER": ("", NOTHING),
    "HASH GROUP": ("", NOTHING),
    "ORDER GROUP": ("", NOTHING),
    "CONCAT UNION": ("", NOTHING),
    "HASH UNION": ("", NOTHING),
    "MERGE UNION": ("", NOTHING),
    "LOOP JOIN": ("", NOTHING),
    "HASH JOIN": ("", NOTHING),
    "MERGE JOIN": ("", NOTHING),
    "EXPAND VIEWS": ("", NOTHING),
    "KEEP PLAN": ("", NOTHING),
    "KEEPFIXED PLAN": ("", NOTHING),
    "ROBUST PLAN": ("", NOTHING),
    "MAX_GRANT_PERCENT": ("=n", NOTHING),
    "MIN_GRANT_PERCENT": ("=n", NOTHING),
    "NO_PERFORMANCE_SPOOL": ("", NOTHING),
    "DISABLE_OPTIMIZED_PLAN_FORCING": ("", NOTHING),
    "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX": ("", NOTHING),
    "OPTIMIZE FOR UNKNOWN": ("", NOTHING),
    "OPTIMIZE FOR": ("(", NOTHING),
    "PARAMETERIZATION SIMPLE": ("", NOTHING),
    "PARAMETERIZATION FORCED": ("", NOTHING),
    "QUERYTRACEON": ("n", NOTHING),
    "LABEL": ("=text", NOTHING),
    "USE HINT": ("(", "names are checked (10715); " + NOTHING),
    "TABLE HINT": ("(", "refused"),
    "USE PLAN": ("text", "refused"),
}
USE_HINTS = frozenset(
    """ASSUME_FIXED_MAX_SELECTIVITY_FOR_REGEXP ASSUME_FIXED_MIN_SELECTIVITY_FOR_REGEXP ASSUME_JOIN_PREDICATE_DEPENDS_ON_FILTERS
    ASSUME_MIN_SELECTIVITY_FOR_FILTER_ESTIMATES ASSUME_FULL_INDEPENDENCE_FOR_FILTER_ESTIMATES
    ASSUME_PARTIAL_CORRELATION_FOR_FILTER_ESTIMATES DISABLE_BATCH_MODE_ADAPTIVE_JOINS
    DISABLE_BATCH_MODE_MEMORY_GRANT_FEEDBACK DISABLE_DEFERRED_COMPILATION_TV DISABLE_INTERLEAVED_EXECUTION_TVF
    DISABLE_OPTIMIZED_NESTED_LOOP DISABLE_OPTIMIZER_ROWGOAL DISABLE_PARAMETER_SNIFFING DISABLE_ROW_MODE_MEMORY_GRANT_FEEDBACK
    DISABLE_TSQL_SCALAR_UDF_INLINING DISALLOW_BATCH_MODE DISABLE_CE_FEEDBACK DISABLE_MEMORY_GRANT_FEEDBACK_PERSISTENCE
    DISABLE_DOP_FEEDBACK ENABLE_HIST_AMENDMENT_FOR_ASC_KEYS ENABLE_QUERY_OPTIMIZER_HOTFIXES
    FORCE_DEFAULT_CARDINALITY_ESTIMATION FORCE_LEGACY_CARDINALITY_ESTIMATION QUERY_PLAN_PROFILE
    QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_100 QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_110 QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_120
    QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_130 QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_140 QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_150
    QUERY_OPTIMIZER_COMPATIBILITY_LEVEL_160""".split()
)


class HintParser(ParserBase):
    """WITH (table hints) and OPTION (query hints)."""

    def _is_old_hint(self) -> bool:
        return self.peek().upper in TABLE_HINTS and self.peek().upper not in ("INDEX",) and self.peek(2).value in (")", ",")

    def table_hints(self, written: bool = False) -> frozenset[str]:
        """WITH (hint, ...) or the old (hint). Errors 321, 1047; 1065 where rows are ``written``."""
        if self.at("WITH") and self.peek().value == "(":
            self.advance()
        elif not (self.at("(") and self._is_old_hint()):
            return frozenset()
        line = self.token.line
        self.expect("(")
        hints: set[str] = set()
        while not self.at(")"):
            token = self.token
            word = self.any_word()
            if word not in TABLE_HINTS:
                raise error(321, token.value, line=token.line)
            if word in ("INDEX", "FORCESEEK"):
                self._index_hint(word, hints)
            hints.add(word)
            self.accept(",")
        self.expect(")")
        if any(sum(1 for words in group if hints & words) > 1 for group in _GROUPS):
            raise error(1047, line=line)
        if written and hints & _DIRTY:
            raise error(1065, line=line)
        return frozenset(hints)

    def _index_hint(self, word: str, hints: set[str]) -> None:
        if self.accept("=") and not self.at("("):
            self._index_name(word, hints)
        elif self.accept("("):
            while not self.at(")"):
                self._index_name(word, hints)
                if self.accept("("):  # FORCESEEK (index (column, ...))
                    self.name()
                    while self.accept(","):
                        self.name()
                    self.expect(")")
                if not self.accept(","):
                    break
            self.expect(")")
        elif word == "INDEX":
            raise self.syntax_error()

    def _index_name(self, word: str, hints: set[str]) -> None:
        if self.token.kind == INTEGER:
            self.advance()  # 0 scan, 1 the clustered index, else by id
        else:
            name = self.name()
            if word == "INDEX":
                hints.add(f"INDEX {name.lower()}")

    def _query_options(self) -> dict[str, Any]:
        """OPTION (hint, ...): words and value. Errors 102, 10715, 59001."""
        self.expect("(")
        options: dict[str, Any] = {}
        while True:
            words = self._hint_words()
            kind = QUERY_HINTS[words][0]
            options[words] = self._hint_value(words, kind)
            if not self.accept(","):
                break
        self.expect(")")
        return options

    def _hint_words(self) -> str:
        """The longest hint that begins here."""
        for count in (3, 2, 1):
            tokens = [self.peek(ahead) for ahead in range(count)]
            words = " ".join(token.upper for token in tokens)
            if words in QUERY_HINTS and all(token.kind == NAME for token in tokens):
                for _ in tokens:
                    self.advance()
                if QUERY_HINTS[words][1] == "refused":
                    raise not_implemented(f"OPTION ({words})", tokens[0].line)
                return words
        raise self.syntax_error()

    def _hint_value(self, words: str, kind: str) -> Any:
        if kind.startswith("="):
            self.expect("=")
        if kind.endswith("n"):
            if self.token.kind not in (INTEGER, DECIMAL):
                raise self.syntax_error()
            text = self.advance().value
            if kind == "n" and not text.isdigit():
                raise self.syntax_error(self.peek(-1))
            return int(text) if text.isdigit() else float(text)
        if kind.endswith("text"):
            return self.string()
        if words == "USE HINT":
            return self._use_hints()
        if kind == "(":
            return self._optimize_for()
        return True

    def _use_hints(self) -> list[str]:
        self.expect("(")
        names: list[str] = []
        while True:
            line = self.token.line
            name = self.string()
            if name.upper() not in USE_HINTS:
                raise error(10715, name, line=line)
            names.append(name.upper())
            if not self.accept(","):
                break
        self.expect(")")
        return names

    def _optimize_for(self) -> list[str]:
        """(@variable UNKNOWN | = constant, ...)"""
        self.expect("(")
        names: list[str] = []
        while True:
            if self.token.kind != VARIABLE:
                raise self.syntax_error()
            names.append(self.advance().value)
            if not self.accept("UNKNOWN"):
                self.expect("=")
                self.accept("-")
                if self.token.kind not in (INTEGER, DECIMAL, STRING, NATIONAL):
                    raise self.syntax_error()
                self.advance()
            if not self.accept(","):
                break
        self.expect(")")
        return names
