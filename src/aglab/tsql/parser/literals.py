"""Constants: values and types."""

from __future__ import annotations

from decimal import Decimal

from aglab.core.sqltypes import FLOAT as FLOAT_TYPE
from aglab.core.sqltypes import INT, SqlType
from aglab.core.sqltypes import MONEY as MONEY_TYPE
from aglab.tsql import ast
from aglab.tsql.lexer import BINARY, DECIMAL, FLOAT, INTEGER, MONEY, NATIONAL
from aglab.tsql.messages import error


def literal(kind: int, text: str, line: int) -> ast.Literal:
    """The value and type of a constant. Source: "Constants (Transact-SQL)"."""
    if kind == INTEGER:
        value = int(text)
        if value <= 2147483647:
            return ast.Literal(line, value, INT)
        digits = len(text.lstrip("0"))
        if digits > 38:
            raise error(1007, text, line=line)
        return ast.Literal(line, Decimal(value), SqlType("numeric", precision=digits, scale=0))
    if kind == DECIMAL:
        whole, _, fraction = text.partition(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        if digits > 38:
            raise error(8115, "expression", "numeric", line=line)
        return ast.Literal(
            line,
            Decimal(text if not text.endswith(".") else text[:-1]),
            SqlType("numeric", precision=max(digits, 1), scale=len(fraction)),
        )
    if kind == FLOAT:
        mantissa = text if text[-1] not in "eE+-" else text.rstrip("+-") + "0"
        value_float = float(mantissa)
        if value_float in (float("inf"), float("-inf")):
            raise error(232, "float", text, line=line)
        return ast.Literal(line, value_float, FLOAT_TYPE)
    if kind == MONEY:
        return ast.Literal(line, Decimal(text[1:] or "0").quantize(Decimal("0.0001")), MONEY_TYPE)
    if kind == BINARY:
        digits_text = text[2:]
        if len(digits_text) % 2:
            digits_text = "0" + digits_text
        data = bytes.fromhex(digits_text)
        return ast.Literal(line, data, SqlType("varbinary", length=len(data) or 1))
    length = len(text) or 1
    if kind == NATIONAL:
        return ast.Literal(line, text, SqlType("nvarchar", length=length if length <= 4000 else -1))
    return ast.Literal(line, text, SqlType("varchar", length=length if length <= 8000 else -1))
