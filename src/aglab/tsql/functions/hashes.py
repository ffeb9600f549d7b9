"""HASHBYTES, COMPRESS and DECOMPRESS, FORMATMESSAGE, and the text of binaries: fn_varbintohexstr.

Binaries that COMPRESS did not make decompress to NULL. HASHBYTES of a national text is of its UTF-16 bytes, of other text of
its bytes in code page 1252. Sources: "HASHBYTES", "COMPRESS", "DECOMPRESS", "FORMATMESSAGE (Transact-SQL)". fn_varbintohexstr
is not documented; that it writes 0x and small letters is from public scripts that use it.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import Any

from aglab.core.sqltypes import MAX, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.execute.messages_format import format_message
from aglab.tsql.functions.registry import builder
from aglab.tsql.functions.system import keyed
from aglab.tsql.messages import MESSAGES, error
from aglab.tsql.query.scope import Expr
from aglab.tsql.types import BINARIES, STRINGS

ALGORITHMS = {"MD5": "md5", "SHA": "sha1", "SHA1": "sha1", "SHA2_256": "sha256", "SHA2_512": "sha512"}


def _bytes_of(call: ast.Call, arg: Expr, position: int) -> Any:
    """A function that gives an argument's bytes. Error 8116 for what is neither text nor binary."""
    name = arg.type.name if arg.type is not None else "varchar"
    if name not in STRINGS and name not in BINARIES:
        raise error(8116, name, position, call.parts[-1].lower(), line=call.line)
    if name in BINARIES:
        return lambda value: value
    return lambda value: value.encode("utf-16-le" if name[0] == "n" else "cp1252", "replace")


@builder("HASHBYTES", 2)
def _hashbytes(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    algorithm, value, read = args[0].fn, args[1].fn, _bytes_of(call, args[1], 2)

    def run(frame: Any) -> bytes | None:
        name, data = algorithm(frame), value(frame)
        known = ALGORITHMS.get(str(name).upper())
        return None if data is None or known is None else hashlib.new(known, read(data), usedforsecurity=False).digest()

    return Expr(run, SqlType("varbinary", length=8000), args[0].refs | args[1].refs, True)


@builder("COMPRESS", 1)
def _compress(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    value, read = args[0].fn, _bytes_of(call, args[0], 1)

    def run(frame: Any) -> bytes | None:
        data = value(frame)
        return None if data is None else gzip.compress(read(data), mtime=0)

    return Expr(run, SqlType("varbinary", length=MAX), args[0].refs, True)


@builder("DECOMPRESS", 1)
def _decompress(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    value, read = args[0].fn, _bytes_of(call, args[0], 1)

    def run(frame: Any) -> bytes | None:
        data = value(frame)
        try:
            return None if data is None else gzip.decompress(read(data))
        except (OSError, EOFError, zlib.error):
            return None

    return Expr(run, SqlType("varbinary", length=MAX), args[0].refs, True)


@builder("FORMATMESSAGE", 1, 21)
def _formatmessage(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    functions = [arg.fn for arg in args]

    def run(frame: Any) -> str | None:
        first, *rest = (fn(frame) for fn in functions)
        if isinstance(first, int):
            known = MESSAGES.get(first)
            if known is None or first < 13000:
                return None
            first = known[2]
            for place in range(10):
                first = first.replace(f"{{{place}}}", "%s")
        return None if first is None else format_message(str(first), rest)[:2047]

    return Expr(run, nvarchar(2048), frozenset().union(*(arg.refs for arg in args)), True)


keyed("FN_VARBINTOHEXSTR", nvarchar(), lambda runtime, value: None if value is None else "0x" + bytes(value).hex(), 1, 1, "a")
