"""Type rules: precedence, families, the type of an arithmetic result.

Source: "Data type precedence", "Precision, scale, and length".
"""

from __future__ import annotations

from decimal import Context

from aglab.core.sqltypes import BIGINT, BIT, FLOAT, INT, MAX, MONEY, SMALLINT, TINYINT, SqlType, decimal
from aglab.tsql.messages import error

CONTEXT = Context(prec=78)  # enough for the product of two decimal(38) values; rounding is done by quantize

PRECEDENCE = {
    name: rank
    for rank, name in enumerate(
        reversed(
            "sql_variant xml datetimeoffset datetime2 datetime smalldatetime date time float real decimal money smallmoney "
            "bigint int smallint tinyint bit ntext text image uniqueidentifier nvarchar nchar varchar char "
            "varbinary binary".split()
        )
    )
}
PRECEDENCE["numeric"] = PRECEDENCE["decimal"]

INTEGERS = frozenset("tinyint smallint int bigint bit".split())
EXACTS = frozenset("decimal numeric money smallmoney".split())
FLOATS = frozenset("float real".split())
NUMBERS = INTEGERS | EXACTS | FLOATS
STRINGS = frozenset("char varchar nchar nvarchar text ntext xml".split())
BINARIES = frozenset("binary varbinary image".split())
DATES = frozenset("date time datetime datetime2 smalldatetime datetimeoffset".split())
LOBS = frozenset("text ntext image".split())

INTEGER_LIMITS = {
    "tinyint": (0, 255),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
_INTEGER_DIGITS = {"bit": 1, "tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_BY_NAME = {"bit": BIT, "tinyint": TINYINT, "smallint": SMALLINT, "int": INT, "bigint": BIGINT, "money": MONEY, "float": FLOAT}


def name_of(sql_type: SqlType | None) -> str:
    """The bare type name as error texts show it; the NULL constant is shown as int."""
    if sql_type is None:
        return "NULL"
    return sql_type.name


def as_decimal(sql_type: SqlType) -> tuple[int, int]:
    """(precision, scale) of an exact type seen as decimal."""
    if sql_type.name in EXACTS and sql_type.precision:
        return sql_type.precision, sql_type.scale
    if sql_type.name == "money":
        return 19, 4
    if sql_type.name == "smallmoney":
        return 10, 4
    return _INTEGER_DIGITS.get(sql_type.name, 18), 0


def fit(precision: int, scale: int) -> SqlType:
    """decimal(precision, scale), with scale given up (down to 6) when precision would exceed 38."""
    if precision > 38:
        scale = max(min(scale, 6), scale - (precision - 38))
        precision = 38
    return SqlType("numeric", precision=precision, scale=scale)


def common(left: SqlType | None, right: SqlType | None) -> SqlType | None:
    """The type both sides are brought to for comparison, CASE, COALESCE, UNION."""
    if left is None:
        return right
    if right is None or left == right:
        return left
    a, b = (left, right) if PRECEDENCE[left.name] >= PRECEDENCE[right.name] else (right, left)
    if a.name in ("decimal", "numeric"):
        if b.name in ("decimal", "numeric") or b.name in INTEGERS or b.name in EXACTS:
            p1, s1 = as_decimal(a)
            p2, s2 = as_decimal(b)
            scale = max(s1, s2)
            return fit(max(p1 - s1, p2 - s2) + scale, scale)
        return a
    if a.name in STRINGS and b.name in STRINGS:
        if MAX in (a.length, b.length):
            return (
                SqlType(a.name, length=MAX)
                if a.name in ("varchar", "nvarchar")
                else SqlType("nvarchar" if a.name[0] == "n" else "varchar", length=MAX)
            )
        length = max(a.length, b.length)
        limit = 4000 if a.name[0] == "n" else 8000
        return SqlType(a.name, length=min(length, limit)) if a.name not in LOBS and a.name != "xml" else a
    if a.name in BINARIES and b.name in BINARIES:
        return SqlType(a.name, length=MAX if MAX in (a.length, b.length) else max(a.length, b.length))
    if a.name in ("time", "datetime2", "datetimeoffset") and b.name in DATES:
        return SqlType(a.name, scale=max(a.scale, b.scale, 3 if b.name == "datetime" else 0))
    return a


def arithmetic(op: str, left: SqlType | None, right: SqlType | None) -> SqlType:
    """The type of ``left op right`` for + - * / %. Raises 402, 8117 or 206 where SQL Server does."""
    if left is None and right is None:
        return INT
    if left is None:
        left = right
    if right is None:
        right = left
    assert left is not None and right is not None
    words = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
    if op == "+" and left.name in STRINGS and right.name in STRINGS:
        return concatenated(left, right)
    if op == "+" and left.name in BINARIES and right.name in BINARIES:
        return SqlType("varbinary", length=MAX if MAX in (left.length, right.length) else min(left.length + right.length, 8000))
    for side, other in ((left, right), (right, left)):
        if side.name in DATES:
            if side.name not in ("datetime", "smalldatetime"):
                if other.name in DATES or other.name in NUMBERS:
                    if other.name in NUMBERS:
                        raise error(206, side.name if side is left else other.name, other.name if side is left else side.name)
                    raise error(402, left.name, right.name, words[op])
                raise error(402, left.name, right.name, words[op])
            if op not in "+-":
                if other.name in DATES:
                    raise error(8117, side.name, words[op])
                raise error(8117, side.name, words[op])
            return SqlType(side.name)
    for side in (left, right):
        if side.name in ("uniqueidentifier", "sql_variant", "text", "ntext", "image", "xml"):
            raise error(8117, side.name, words[op])
    result = common(left, right)
    assert result is not None
    if result.name in STRINGS:
        raise error(8117, result.name, words[op])
    if result.name in BINARIES:
        raise error(8117, result.name, words[op])
    if result.name in FLOATS:
        return FLOAT if op != "%" else (_raise_modulo(left, right) or FLOAT)
    if result.name == "bit":
        if left.name == "bit" and right.name == "bit":
            raise error(402, "bit", "bit", words[op])
        return result
    if result.name in INTEGERS:
        return SqlType(result.name)
    if result.name in ("money", "smallmoney"):
        return SqlType(result.name)
    return _decimal_arithmetic(op, left, right)


def _raise_modulo(left: SqlType, right: SqlType) -> SqlType | None:
    raise error(402, left.name, right.name, "modulo")


def _decimal_arithmetic(op: str, left: SqlType, right: SqlType) -> SqlType:
    p1, s1 = as_decimal(left) if left.name in NUMBERS else as_decimal(right)
    p2, s2 = as_decimal(right) if right.name in NUMBERS else as_decimal(left)
    if op in "+-":
        scale = max(s1, s2)
        return fit(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return fit(p1 + p2 + 1, s1 + s2)
    if op == "/":
        scale = max(6, s1 + p2 + 1)
        return fit(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return fit(min(p1 - s1, p2 - s2) + scale, scale)


def concatenated(left: SqlType, right: SqlType) -> SqlType:
    """The type of text + text."""
    wide = left.name[0] == "n" or right.name[0] == "n"
    limit = 4000 if wide else 8000
    if MAX in (left.length, right.length) or left.name in LOBS or right.name in LOBS:
        return SqlType("nvarchar" if wide else "varchar", length=MAX)
    fixed = left.name in ("char", "nchar") and right.name in ("char", "nchar")
    name = ("nchar" if wide else "char") if fixed else ("nvarchar" if wide else "varchar")
    return SqlType(name, length=min(left.length + right.length, limit))


def sum_type(sql_type: SqlType | None) -> SqlType:
    """The type of SUM and of AVG before its division."""
    if sql_type is None:
        return INT
    if sql_type.name in ("tinyint", "smallint", "int"):
        return INT
    if sql_type.name in ("bigint", "money", "float"):
        return SqlType(sql_type.name)
    if sql_type.name == "smallmoney":
        return MONEY
    if sql_type.name == "real":
        return FLOAT
    if sql_type.name in ("decimal", "numeric"):
        return decimal(38, sql_type.scale)
    raise error(8117, sql_type.name, "sum")


def average_type(sql_type: SqlType | None) -> SqlType:
    """The type of AVG."""
    if sql_type is not None and sql_type.name not in NUMBERS - {"bit"}:
        raise error(8117, sql_type.name, "avg")
    result = sum_type(sql_type)
    return decimal(38, max(result.scale, 6)) if result.name in ("decimal", "numeric") else result
