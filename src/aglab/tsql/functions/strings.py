"""Text functions."""

from __future__ import annotations

import uuid
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, MAX, SqlType, nvarchar, varchar
from aglab.tsql.functions.registry import NARROW, TEXT, builder, prepare, simple
from aglab.tsql.messages import error
from aglab.tsql.query.conditions import like_pattern
from aglab.tsql.query.scope import Expr
from aglab.tsql.types import STRINGS
from aglab.tsql.writers import writer

simple("UPPER", "s", "s0")(str.upper)
simple("LOWER", "s", "s0")(str.lower)
simple("REVERSE", "s", "s0")(lambda s: s[::-1])
simple("LEN", "s", INT)(lambda s: len(s.rstrip(" ")))
simple("SPACE", "i", varchar(8000))(lambda n: " " * min(n, 8000) if n >= 0 else None)
simple("CHAR", "i", SqlType("char", length=1))(lambda n: bytes([n]).decode("cp1252", "replace") if 0 <= n <= 255 else None)
simple("NCHAR", "i", SqlType("nchar", length=1))(lambda n: chr(n) if 0 <= n <= 0xFFFF and not 0xD800 <= n < 0xE000 else None)
simple("ASCII", "s", INT)(lambda s: s[0].encode("cp1252", "replace")[0] if s else None)
simple("UNICODE", "s", INT)(lambda s: ord(s[0]) if s else None)
simple("QUOTENAME", "ss", nvarchar(258), optional=1)(lambda s, q="[": _quote(s, q))
simple("SOUNDEX", "s", varchar(4))(lambda s: soundex(s))
simple("DIFFERENCE", "ss", INT)(lambda a, b: sum(x == y for x, y in zip(soundex(a), soundex(b), strict=True)))
simple("STRING_ESCAPE", "ss", TEXT)(
    lambda s, kind: s.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
)


REPLICATED_BYTES_MAX = 1 << 28  # of a (max) value: what one expression may make


@builder("REPLICATE", 2)
def _replicate(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    """Only a (max) type makes more than 8,000 bytes ("REPLICATE (Transact-SQL)"); the limit is 256 MB here, not 2 GB."""
    text, count = prepare(compiler, call, 0, args[0], "s"), prepare(compiler, call, 1, args[1], "b")
    wide = text.type is not None and text.type.name in ("nchar", "nvarchar", "ntext")
    large = text.type is not None and (text.type.length == MAX or text.type.name in ("text", "ntext"))
    width = 2 if wide else 1
    most = (REPLICATED_BYTES_MAX if large else 8000) // width
    fn, count_fn = text.fn, count.fn

    def run(frame: Any) -> Any:
        part, times = fn(frame), count_fn(frame)
        if part is None or times is None or times < 0:
            return None
        if large and len(part) * times > most:
            raise error(59003, "the bytes of a value that REPLICATE makes", REPLICATED_BYTES_MAX)
        return (part * min(times, most // len(part) + 1))[:most] if part else ""

    made = SqlType("nvarchar" if wide else "varchar", length=MAX if large else 8000 // width)
    constant = text.constant and count.constant
    return Expr(run, made, text.refs | count.refs, constant=constant, sensitive=text.sensitive)


@simple("LEFT", "si", "s0")
def _left(text: str, count: int) -> str:
    if count < 0:
        raise error(537)
    return text[:count]


@simple("RIGHT", "si", "s0")
def _right(text: str, count: int) -> str:
    if count < 0:
        raise error(537)
    return text[-count:] if count else ""


@builder("SUBSTRING", 3)
def _substring(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    source = args[0]
    binary = source.type is not None and source.type.name in ("binary", "varbinary")
    text = source if binary else prepare(compiler, call, 0, source, "s")
    start, length = prepare(compiler, call, 1, args[1], "b"), prepare(compiler, call, 2, args[2], "b")
    fn, start_fn, length_fn = text.fn, start.fn, length.fn

    def run(frame: Any) -> Any:
        s, a, n = fn(frame), start_fn(frame), length_fn(frame)
        if s is None or a is None or n is None:
            return None
        if n < 0:
            raise error(537)
        first = max(a, 1)
        return s[first - 1 : max(a + n - 1, first - 1)]

    kind = source.type
    sql_type = (
        kind
        if binary and kind
        else (
            SqlType(
                "nvarchar" if kind and kind.name in STRINGS and kind.name[0] == "n" else "varchar",
                length=kind.length if kind and kind.length else 8000,
            )
        )
    )
    if sql_type.name == "binary":
        sql_type = SqlType("varbinary", length=sql_type.length)
    return Expr(run, sql_type, source.refs | start.refs | length.refs, sensitive=source.sensitive)


@simple("LTRIM", "ss", "s0", optional=1)
def _ltrim(text: str, characters: str = " ") -> str:
    return text.lstrip(characters)


@simple("RTRIM", "ss", "s0", optional=1)
def _rtrim(text: str, characters: str = " ") -> str:
    return text.rstrip(characters)


@simple("TRIM", "ss", "s0", optional=1)
def _trim(text: str, characters: str = " ") -> str:
    return text.strip(characters)


@simple("CHARINDEX", "ssb", INT, optional=1)
def _charindex(needle: str, text: str, start: int = 1) -> int:
    return text.lower().find(needle.lower(), max(start - 1, 0)) + 1 if needle else 0


@simple("PATINDEX", "ss", INT)
def _patindex(pattern: str, text: str) -> int:
    if not pattern.startswith("%"):
        return 1 if like_pattern(pattern).match(text) else 0
    matcher = like_pattern(pattern[1:])
    for start in range(len(text) + 1):
        if matcher.match(text, start):
            return start + 1
    return 0


@simple("REPLACE", "sss", "w0")
def _replace(text: str, old: str, new: str) -> str:
    import re

    return re.sub(re.escape(old), lambda m: new, text, flags=re.IGNORECASE) if old else text


FUNCTION_REPLACE_TYPE = varchar(8000)


@simple("STUFF", "siis", "w0")
def _stuff(text: str, start: int, length: int, new: str) -> Any:
    if start < 1 or start > len(text) or length < 0:
        return None
    return text[: start - 1] + new + text[start - 1 + length :]


@simple("TRANSLATE", "sss", "s0")
def _translate(text: str, source: str, target: str) -> str:
    if len(source) != len(target):
        raise error(9828)
    return text.translate(str.maketrans(source, target))


@simple("STR", "fii", varchar(8000), optional=2)
def _str(number: float, length: int = 10, places: int = 0) -> str:
    text = f"{number:.{min(max(places, 0), 16)}f}"
    if len(text) > length:
        text = f"{number:.0f}"
        if len(text) > length:
            return "*" * length
    return text.rjust(length)


def _quote(text: str, quote: str) -> Any:
    pairs = {
        "[": "[]",
        "]": "[]",
        '"': '""',
        "'": "''",
        "(": "()",
        ")": "()",
        "<": "<>",
        ">": "<>",
        "{": "{}",
        "}": "{}",
        "`": "``",
    }
    pair = pairs.get(quote[:1])
    if pair is None or len(text) > 128:
        return None
    return pair[0] + text.replace(pair[1], pair[1] * 2) + pair[1]


def soundex(text: str) -> str:
    """The four-character phonetic code."""
    codes = {c: d for d, group in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for c in group}
    text = "".join(c for c in text.lower() if c.isascii() and c.isalpha())
    if not text:
        return "0000"
    result, last = text[0].upper(), codes.get(text[0])
    for character in text[1:]:
        code = codes.get(character)
        if code and code != last:
            result += str(code)
        if character not in "hw":
            last = code
    return (result + "000")[:4]


def _text_of(compiler: Any, arg: Expr) -> Any:
    """Arguments of CONCAT: NULL is the empty text."""
    if arg.type is None:
        return lambda frame: ""
    write = writer(arg.type, 0 if arg.type.name in ("datetime", "smalldatetime") else None)
    fn = arg.fn
    return lambda frame: "" if (value := fn(frame)) is None else write(value)


def _concat_type(args: list[Expr]) -> SqlType:
    wide = any(a.type is not None and a.type.name in ("nchar", "nvarchar", "ntext") for a in args)
    if any(a.type is not None and a.type.length == MAX for a in args):
        return TEXT if wide else NARROW
    length = sum((a.type.length if a.type is not None and a.type.name in STRINGS else 30) for a in args)
    return SqlType("nvarchar" if wide else "varchar", length=min(max(length, 1), 4000 if wide else 8000))


@builder("CONCAT", 2, 254)
def _concat(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    functions = [_text_of(compiler, arg) for arg in args]
    refs = frozenset().union(*(arg.refs for arg in args))
    return Expr(lambda frame: "".join(fn(frame) for fn in functions), _concat_type(args), refs, False)


@builder("CONCAT_WS", 3, 254)
def _concat_ws(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    separator = _text_of(compiler, args[0])
    raw = [arg.fn for arg in args[1:]]
    functions = [_text_of(compiler, arg) for arg in args[1:]]
    refs = frozenset().union(*(arg.refs for arg in args))

    def run(frame: Any) -> str:
        return separator(frame).join(fn(frame) for fn, value in zip(functions, raw, strict=True) if value(frame) is not None)

    return Expr(run, _concat_type(args), refs, False)


@builder("DATALENGTH", 1)
def _datalength(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    from aglab.tsql.store.table import column_bytes

    arg = args[0]
    fn, sql_type = arg.fn, arg.type
    wide = sql_type is not None and sql_type.name in ("nchar", "nvarchar", "ntext")

    def run(frame: Any) -> Any:
        value = fn(frame)
        if value is None:
            return None
        if isinstance(value, str):
            return len(value.encode("utf-16-le")) if wide else len(value)
        if isinstance(value, (bytes, bytearray)):
            return len(value)
        return column_bytes(sql_type) if sql_type is not None else 4

    return Expr(run, BIGINT if sql_type is not None and sql_type.length == MAX else INT, arg.refs)


@builder("FORMAT", 2, 3)
def _format(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    from aglab.tsql.functions.formatting import format_value

    fn, pattern = args[0].fn, prepare(compiler, call, 1, args[1], "s").fn

    def run(frame: Any) -> Any:
        value, shape = fn(frame), pattern(frame)
        return None if value is None or shape is None else format_value(value, shape)

    return Expr(run, nvarchar(4000), args[0].refs | args[1].refs)


@builder("NEWID NEWSEQUENTIALID", 0)
def _newid(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    def run(frame: Any) -> uuid.UUID:
        instance = frame[0].instance
        instance.uuid_counter = getattr(instance, "uuid_counter", 0) + 1
        return uuid.uuid5(uuid.NAMESPACE_OID, f"{instance.name}/{instance.uuid_counter}")

    return Expr(run, SqlType("uniqueidentifier"), nullable=False)
