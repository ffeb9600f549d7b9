"""A cursor over tokens and the small readers every part of the parser uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tsql.lexer import (
    BINARY,
    DECIMAL,
    END,
    INTEGER,
    NAME,
    NATIONAL,
    OPERATOR,
    QUOTED,
    RESERVED,
    STRING,
    VARIABLE,
    Token,
    tokenize,
)
from aglab.tsql.messages import TsqlError, error, not_implemented
from aglab.tsql.parser.option_lists import check_options, once

if TYPE_CHECKING:
    from aglab.tsql.store.user_types import TypeBook, UserType

MAX_DEPTH = 100  # nesting of expressions, blocks and subqueries; SQL Server gives error 191 beyond its own limit

SYNONYMS = {
    "integer": "int",
    "dec": "decimal",
    "character": "char",
    "rowversion": "timestamp",
    "sysname": "nvarchar",
    "charvarying": "varchar",
    "datetimeoffsetn": "datetimeoffset",
}
LIMITS = {"char": 8000, "varchar": 8000, "binary": 8000, "varbinary": 8000, "nchar": 4000, "nvarchar": 4000}
KNOWN_TYPES = frozenset(
    "bit tinyint smallint int bigint decimal numeric money smallmoney float real date time datetime datetime2 smalldatetime "
    "datetimeoffset char varchar nchar nvarchar binary varbinary text ntext image uniqueidentifier xml sql_variant timestamp "
    "hierarchyid geography geometry cursor table".split()
)


WORDED_TYPES = frozenset({"national", "double", "character", "sysname"})


class ParserBase:
    """Tokens and position. Subclasses (mixins) read expressions, queries and statements."""

    def __init__(self, text: str, types: TypeBook | None = None) -> None:
        self.text = text
        self.types = types
        self.user_type: UserType | None = None  # what data_type() met last
        self.readonly: set[str] = set()  # table-valued parameters of the procedure that is read
        self.tokens: list[Token] = tokenize(text)
        self.position = 0
        self.token = self.tokens[0]
        self.depth = 0

    # --- moving -------------------------------------------------------------------------------------------------------------

    def advance(self) -> Token:
        """Step over the current token and return it."""
        token = self.token
        if token.kind != END:
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def peek(self, ahead: int = 1) -> Token:
        """A later token."""
        index = min(self.position + ahead, len(self.tokens) - 1)
        return self.tokens[index]

    def seek(self, position: int) -> None:
        """Go back to an earlier position."""
        self.position = position
        self.token = self.tokens[position]

    def enter(self) -> None:
        """One nesting level more; error 191 when it is too deep."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise error(191, line=self.token.line)

    def leave(self) -> None:
        """One nesting level less."""
        self.depth -= 1

    # --- asking -------------------------------------------------------------------------------------------------------------

    def at(self, *words: str) -> bool:
        """Whether the current token is one of these unquoted words or operators."""
        return self.token.upper in words and self.token.kind in (NAME, OPERATOR)

    def at_sequence(self, *words: str) -> bool:
        """Whether the next tokens are exactly these words or operators."""
        return all(self.peek(i).upper == word for i, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        """Step over one of these words or operators if it is next."""
        if self.token.upper in words and self.token.kind in (NAME, OPERATOR):
            self.advance()
            return True
        return False

    def accept_sequence(self, *words: str) -> bool:
        """Step over the words if all of them come next."""
        if self.at_sequence(*words):
            for _ in words:
                self.advance()
            return True
        return False

    def expect(self, *words: str) -> Token:
        """Step over one of these words; error 102/156 otherwise."""
        if self.token.upper in words and self.token.kind in (NAME, OPERATOR):
            return self.advance()
        raise self.syntax_error()

    def syntax_error(self, token: Token | None = None) -> TsqlError:
        """Error 102, or 156 at a reserved word, pointing at a token as SQL Server does."""
        token = token or self.token
        if token.kind == END:
            if len(self.tokens) > 1:
                last = self.tokens[-2]
                return error(102, self._shown(last), line=last.line)
            return error(102, "", line=token.line)
        if token.kind == NAME and token.upper in RESERVED:
            if token.upper == "WITH":
                return error(319, line=token.line)
            return error(156, token.value, line=token.line)
        return error(102, self._shown(token), line=token.line)

    @staticmethod
    def _shown(token: Token) -> str:
        return token.value[:128]

    # --- names --------------------------------------------------------------------------------------------------------------

    def is_name(self, token: Token | None = None) -> bool:
        """Whether the token can be an identifier."""
        token = token or self.token
        return token.kind == QUOTED or (token.kind == NAME and token.upper not in RESERVED)

    def name(self) -> str:
        """An identifier."""
        if not self.is_name():
            raise self.syntax_error()
        token = self.advance()
        if token.kind == QUOTED and not token.value:
            raise error(1038, line=token.line)
        return token.value

    def any_word(self) -> str:
        """An identifier or any keyword, upper-cased when unquoted."""
        if self.token.kind not in (NAME, QUOTED):
            raise self.syntax_error()
        token = self.advance()
        return token.upper or token.value

    def multipart(self) -> tuple[str, ...]:
        """name, schema.name, database.schema.name or server.database.schema.name; empty parts as in db..name."""
        parts = [self.name()]
        while self.at("."):
            self.advance()
            if self.at("."):
                parts.append("")
                continue
            if self.token.kind in (NAME, QUOTED):
                parts.append(self.advance().value)
            else:
                raise self.syntax_error()
            if len(parts) > 4:
                raise self.syntax_error()
        return tuple(parts)

    def variable(self) -> str:
        """@name"""
        if self.token.kind != VARIABLE or self.token.value.startswith("@@"):
            raise self.syntax_error()
        return self.advance().value

    def integer(self) -> int:
        """A whole number, perhaps negative."""
        negative = self.accept("-")
        if self.token.kind not in (INTEGER, DECIMAL) or "." in self.token.value:
            raise self.syntax_error()
        value = int(self.advance().value)
        return -value if negative else value

    def string(self) -> str:
        """A character literal."""
        if self.token.kind not in (STRING, NATIONAL):
            raise self.syntax_error()
        return self.advance().value

    # --- types --------------------------------------------------------------------------------------------------------------

    def data_type(self, ordinal: int = 1, user: str = "") -> SqlType:
        """A data type; error 2715 for an unknown one.

        ``user``: "column", "variable" or "parameter", where user-defined types may stand: ``user_type`` then says which it was,
        and a table type is the type "table". Elsewhere they are error 243, as in CAST.
        """
        self.user_type = None
        line = self.token.line
        if self.token.kind not in (NAME, QUOTED):
            raise self.syntax_error()
        if (
            self.token.kind == NAME
            and self.token.upper in RESERVED
            and self.token.upper not in ("NATIONAL", "DOUBLE", "TABLE", "CURSOR")
        ):
            raise self.syntax_error()
        written, schema = self.advance().value, ""
        if self.at(".") and self.peek().kind in (NAME, QUOTED):
            self.advance()
            schema, written = written, self.name()
        name = written.lower()
        if schema.lower() not in ("", "sys") or (name not in KNOWN_TYPES and name not in WORDED_TYPES and name not in SYNONYMS):
            found = self._user_type(schema, written, user, line)
            if found is not None:
                return found
            if schema.lower() not in ("", "sys", "dbo") or (schema and name not in KNOWN_TYPES):
                raise error(2715, ordinal, f"{schema}.{written}", line=line)
        if name == "national":
            name = "n" + self.name().lower()
            name = {"ncharacter": "nchar", "ntext": "ntext"}.get(name, name)
        elif name == "double":
            self.accept("PRECISION")
            return SqlType("float")
        if name in ("char", "character", "nchar", "binary") and self.accept("VARYING"):
            name = {"char": "varchar", "character": "varchar", "nchar": "nvarchar", "binary": "varbinary"}[name]
        if name == "sysname":
            return SqlType("nvarchar", length=128)
        name = SYNONYMS.get(name, name)
        if name not in KNOWN_TYPES:
            raise error(2715, ordinal, written, line=line)
        numbers = self._type_numbers()
        return make_type(name, numbers, ordinal, line, written)

    def _user_type(self, schema: str, name: str, user: str, line: int) -> SqlType | None:
        """What a user-defined type stands for. Errors 243."""
        found = self.types.find(schema, name, user == "column") if self.types is not None else None
        if found is None:
            return None
        if not user:
            raise error(243, found.full_name, line=line)
        self.user_type = found
        return SqlType("table") if found.base is None else found.base

    def _type_numbers(self) -> list[int]:
        numbers: list[int] = []
        if self.accept("("):
            if self.accept("MAX"):
                numbers.append(MAX)
            else:
                numbers.append(self.integer())
                if self.accept(","):
                    numbers.append(self.integer())
            self.expect(")")
        return numbers

    # --- option lists -------------------------------------------------------------------------------------------------------

    def option_list(self) -> dict[str, Any]:
        """``(NAME = value, NAME, NAME (nested) ...)`` with its parentheses; values are str, int or nested dicts."""
        self.expect("(")
        options: dict[str, Any] = {}
        while True:
            words = [self.any_word()]
            while self.token.kind == NAME and not self.at("ON", "OFF"):
                words.append(self.any_word())
            name = " ".join(words)
            once(name, options, self.token.line)
            options[name] = self.option_value()
            if self.at("ON") and self.peek().upper == "PARTITIONS":
                raise not_implemented(f"{name} ... ON PARTITIONS", self.token.line)
            if not self.accept(","):
                break
        self.expect(")")
        return options

    def options_of(self, statement: str) -> dict[str, Any]:
        """An option list whose names and values ``statement`` knows. Errors 155, 102, 59001, 59005."""
        line = self.token.line
        options = self.option_list()
        check_options(statement, options, line)
        return options

    def option_value(self) -> Any:
        """The value of one option: after ``=`` or in parentheses or a bare word; True when there is none."""
        if self.accept("="):
            if self.at("("):
                return self.option_list() if self.peek().kind == NAME and self.peek(2).upper in ("=", "(") else self._plain_list()
            value = self._option_scalar()
            if self.at("(") and isinstance(value, str):
                return {value: self.option_list() if self.peek().kind == NAME else self._plain_list()}
            return value
        if self.at("("):
            return self.option_list() if self.peek().kind == NAME else self._plain_list()
        if self.at("ON", "OFF"):
            return self.any_word()
        return True

    def _plain_list(self) -> list[Any]:
        self.expect("(")
        values = [self._option_scalar()]
        while self.accept(","):
            values.append(self._option_scalar())
        self.expect(")")
        return values

    def _option_scalar(self) -> Any:
        token = self.token
        if token.kind in (STRING, NATIONAL):
            return self.advance().value
        if token.kind in (INTEGER, DECIMAL) or self.at("-"):
            number = self.integer()
            if self.at("SECONDS", "MINUTES", "KB", "MB", "GB", "TB", "%", "DAYS", "HOURS"):
                return f"{number} {self.any_word()}" if not self.at("%") else f"{number}{self.advance().value}"
            return number
        if token.kind == BINARY:
            return self.advance().value
        if token.kind in (NAME, QUOTED):
            return self.any_word()
        if token.kind == VARIABLE:
            return self.advance().value
        raise self.syntax_error()


def make_type(name: str, numbers: list[int], ordinal: int = 1, line: int = 0, written: str = "") -> SqlType:
    """The type for a name and its numbers in parentheses, with T-SQL's defaults and limits."""
    written = written or name
    if name in LIMITS:
        length = numbers[0] if numbers else 1
        if length != MAX and not 1 <= length <= LIMITS[name]:
            raise error(131, length, "type", written, LIMITS[name], line=line)
        return SqlType(name, length=length)
    if name in ("decimal", "numeric"):
        precision = numbers[0] if numbers else 18
        scale = numbers[1] if len(numbers) > 1 else 0
        if not 1 <= precision <= 38:
            raise error(2717, precision, "parameter", written, 38, line=line)
        if not 0 <= scale <= precision:
            raise error(2717, scale, "parameter", written, precision, line=line)
        return SqlType("decimal" if name == "decimal" else "numeric", precision=precision, scale=scale)
    if name in ("time", "datetime2", "datetimeoffset"):
        scale = numbers[0] if numbers else 7
        if not 0 <= scale <= 7:
            raise error(2717, scale, "parameter", written, 7, line=line)
        return SqlType(name, scale=scale)
    if name == "float" and numbers:
        return SqlType("real" if numbers[0] <= 24 else "float")
    if name == "timestamp":
        return SqlType("binary", length=8)
    if numbers:
        raise error(2716, ordinal, written, line=line)
    return SqlType(name)
