"""Tokens of T-SQL: one regular expression, with line numbers, nested comments and both kinds of quoted names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aglab.tsql.messages import error

NAME, QUOTED, VARIABLE, STRING, NATIONAL, INTEGER, DECIMAL, FLOAT, MONEY, BINARY, OPERATOR, END = range(12)

_PATTERN = re.compile(
    r"""
    (?P<space>[\s\ufeff\xa0]+)
  | (?P<line_comment>--[^\n]*)
  | (?P<block_comment>/\*)
  | (?P<national>[nN]'(?:[^']|'')*')
  | (?P<string>'(?:[^']|'')*')
  | (?P<bracketed>\[(?:[^\]]|\]\])*\])
  | (?P<double>"(?:[^"]|"")*")
  | (?P<binary>0[xX][0-9a-fA-F]*)
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d*)?)
  | (?P<money>[$€£¥][+-]?(?:\d+(?:\.\d*)?|\.\d+)?(?![A-Za-z_]))
  | (?P<variable>@[\w@$#]*)
  | (?P<name>(?:[^\W\d]|[\#$])[\w@$\#]*)
  | (?P<operator><=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|[-+*/%=<>~&|^(),.;:{}\\?!])
    """,
    re.VERBOSE,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")

# Reserved keywords: an error at one of these is 156, elsewhere 102. Source: "Reserved keywords (Transact-SQL)".
RESERVED = frozenset(
    """ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY CASCADE CASE CHECK CHECKPOINT
    CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS CONTAINSTABLE CONTINUE CONVERT CREATE CROSS
    CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE DECLARE DEFAULT
    DELETE DENY DESC DISK DISTINCT DISTRIBUTED DOUBLE DROP DUMP ELSE END ERRLVL ESCAPE EXCEPT EXEC EXECUTE EXISTS EXIT
    EXTERNAL FETCH FILE FILLFACTOR FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL FUNCTION GOTO GRANT GROUP HAVING HOLDLOCK
    IDENTITY IDENTITY_INSERT IDENTITYCOL IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL LEFT LIKE LINENO LOAD
    MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF OFFSETS ON OPEN OPENDATASOURCE OPENQUERY OPENROWSET OPENXML
    OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN PRIMARY PRINT PROC PROCEDURE PUBLIC RAISERROR READ READTEXT
    RECONFIGURE REFERENCES REPLICATION RESTORE RESTRICT RETURN REVERT REVOKE RIGHT ROLLBACK ROWCOUNT ROWGUIDCOL RULE SAVE
    SCHEMA SECURITYAUDIT SELECT SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE SEMANTICSIMILARITYTABLE SESSION_USER
    SET SETUSER SHUTDOWN SOME STATISTICS SYSTEM_USER TABLE TABLESAMPLE TEXTSIZE THEN TO TOP TRAN TRANSACTION TRIGGER
    TRUNCATE TRY_CONVERT TSEQUAL UNION UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER VALUES VARYING VIEW WAITFOR WHEN WHERE
    WHILE WITH WITHIN WRITETEXT""".split()
)

# Words that begin a statement: they end a query that has no semicolon.
STATEMENT_WORDS = frozenset(
    """ALTER BACKUP BEGIN BREAK CHECKPOINT CLOSE COMMIT CONTINUE CREATE DBCC DEALLOCATE DECLARE DELETE DENY DROP ELSE END
    EXEC EXECUTE FETCH GOTO GRANT IF INSERT KILL MERGE OPEN PRINT RAISERROR RECONFIGURE RESTORE RETURN REVERT REVOKE
    ROLLBACK SAVE SELECT SET SHUTDOWN TRUNCATE UPDATE USE WAITFOR WHILE WITH THROW""".split()
)

MAX_NAME = 128


@dataclass(slots=True)
class Token:
    """``value``: the name without quotes, the literal's text, or the operator; ``upper`` is set for unquoted names only."""

    kind: int
    value: str
    upper: str
    line: int
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """All tokens of a batch, ended by an END token. Raises error 102, 103, 105 or 113."""
    tokens: list[Token] = []
    line = 1
    position = 0
    size = len(text)
    match_at = _PATTERN.match
    while position < size:
        match = match_at(text, position)
        if match is None:
            raise _bad_character(text, position, line)
        group = match.lastgroup
        start, end = position, match.end()
        raw = match.group()
        if group == "block_comment":
            end = _skip_comment(text, start, line)
            line += text.count("\n", start, end)
            position = end
            continue
        if group == "space":
            line += raw.count("\n")
        elif group == "name":
            if len(raw) > MAX_NAME:
                raise error(103, "identifier", raw[:MAX_NAME], MAX_NAME, line=line)
            tokens.append(Token(NAME, raw, raw.upper(), line, start, end))
        elif group == "operator":
            tokens.append(Token(OPERATOR, raw, raw, line, start, end))
        elif group == "number":
            kind = FLOAT if "e" in raw or "E" in raw else DECIMAL if "." in raw else INTEGER
            tokens.append(Token(kind, raw, "", line, start, end))
        elif group == "string":
            tokens.append(Token(STRING, raw[1:-1].replace("''", "'"), "", line, start, end))
            line += raw.count("\n")
        elif group == "national":
            tokens.append(Token(NATIONAL, raw[2:-1].replace("''", "'"), "", line, start, end))
            line += raw.count("\n")
        elif group == "variable":
            tokens.append(Token(VARIABLE, raw, raw.upper(), line, start, end))
        elif group in ("bracketed", "double"):
            closing = raw[-1]
            name = raw[1:-1].replace(closing * 2, closing)
            if len(name) > MAX_NAME:
                raise error(103, "identifier", name[:MAX_NAME], MAX_NAME, line=line)
            tokens.append(Token(QUOTED, name, "", line, start, end))
            line += raw.count("\n")
        elif group == "binary":
            tokens.append(Token(BINARY, raw, "", line, start, end))
        elif group == "money":
            if raw in "$€£¥" and end < size and text[end] == ".":
                tokens.append(Token(NAME, raw, raw, line, start, end))  # $.partition function prefixes are names
            else:
                tokens.append(Token(MONEY, raw, "", line, start, end))
        position = end
    tokens.append(Token(END, "", "", line, size, size))
    return tokens


def _skip_comment(text: str, start: int, line: int) -> int:
    depth = 0
    position = start
    while True:
        match = _COMMENT_EDGE.search(text, position)
        if match is None:
            raise error(113, line=line)
        depth += 1 if match.group() == "/*" else -1
        position = match.end()
        if depth == 0:
            return position


def _bad_character(text: str, position: int, line: int) -> Exception:
    character = text[position]
    if character in "'\"" or text[position : position + 2].lower() == "n'":
        return error(105, text[position + 1 :].strip()[:128], line=line)
    if character == "[":
        return error(105, text[position + 1 :].strip()[:128], line=line)
    return error(102, character, line=line)
