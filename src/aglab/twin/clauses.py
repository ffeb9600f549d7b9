"""Reads the clauses of administrative statements from their tokens: words, names, texts, numbers, lists, parenthesised options.

What does not fit is error 102 at the token, as the parser would give; an option that a list does not know is error 155.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aglab.tsql.lexer import BINARY, DECIMAL, INTEGER, NAME, NATIONAL, QUOTED, STRING, Token
from aglab.tsql.messages import error

_TEXTS = (STRING, NATIONAL)


class Clauses:
    """A cursor over the tokens that follow a statement's first words.

    >>> from aglab.tsql.lexer import tokenize
    >>> reader = Clauses(tokenize("ag1 SET (DB_FAILOVER = ON)")[:-1])
    >>> reader.name(), reader.accept("SET"), reader.options({"DB_FAILOVER": Clauses.switch}, "SET")
    ('ag1', True, {'DB_FAILOVER': True})
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.place = 0

    @property
    def token(self) -> Token | None:
        """The token ahead; None at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def wrong(self) -> Exception:
        """Error 102 at the token ahead."""
        token = self.token or self.tokens[-1] if self.tokens else None
        return error(102, token.value if token is not None else "")

    def at(self, *words: str) -> bool:
        """Whether these words (or signs) are ahead, in this order; a word in quotes is a name, not a word."""
        ahead = self.tokens[self.place : self.place + len(words)]
        if len(ahead) < len(words):
            return False
        return all(
            (one.kind not in (QUOTED, *_TEXTS)) and str(one.value).upper() == word for one, word in zip(ahead, words, strict=True)
        )

    def accept(self, *words: str) -> bool:
        """Take these words if they are ahead."""
        found = self.at(*words)
        self.place += len(words) if found else 0
        return found

    def expect(self, *words: str) -> None:
        """Take these words or fail."""
        if not self.accept(*words):
            raise self.wrong()

    def choice(self, *words: str) -> str:
        """Take one of several words."""
        for word in words:
            if self.accept(word):
                return word
        raise self.wrong()

    def _take(self, *kinds: int) -> Any:
        token = self.token
        if token is None or token.kind not in kinds:
            raise self.wrong()
        self.place += 1
        return token.value

    def name(self) -> str:
        """An identifier."""
        return str(self._take(NAME, QUOTED))

    def text(self) -> str:
        """A string constant."""
        return str(self._take(*_TEXTS))

    def text_or_name(self) -> str:
        """What may be quoted as a string or be a name."""
        return str(self._take(NAME, QUOTED, *_TEXTS))

    def number(self) -> int:
        """A whole number."""
        return int(self._take(INTEGER))

    def decimal(self) -> float:
        """A number, whole or not."""
        return float(self._take(INTEGER, DECIMAL))

    def binary(self) -> bytes:
        """A binary constant."""
        digits = str(self._take(BINARY))[2:]
        return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")

    def word(self) -> str:
        """A bare word, upper case."""
        return str(self._take(NAME)).upper()

    def switch(self) -> bool:
        """ON or OFF."""
        return self.choice("ON", "OFF") == "ON"

    def end(self) -> None:
        """Nothing may follow but a semicolon."""
        self.accept(";")
        if self.token is not None:
            raise self.wrong()

    def listed(self, read: Callable[[], Any]) -> list[Any]:
        """One or more of something, with commas between."""
        found = [read()]
        while self.accept(","):
            found.append(read())
        return found

    def options(self, known: Mapping[str, Callable[[Clauses], Any]], what: str, equals: bool = True) -> dict[str, Any]:
        """``(NAME = value, ...)``; ``known`` reads each value. A reader whose option takes no equals sign: see :meth:`parts`."""
        self.expect("(")
        found = self.parts(known, what, equals)
        self.expect(")")
        return found

    def parts(self, known: Mapping[str, Callable[[Clauses], Any]], what: str, equals: bool = True) -> dict[str, Any]:
        """``NAME = value, ...`` without the parentheses. ``NAME (...)`` needs no equals sign, BASIC takes no value."""
        found: dict[str, Any] = {}
        while True:
            name = self.word()
            if name not in known:
                raise error(155, name, what)
            if equals and not self.at("("):
                self.accept("=")
            found[name] = known[name](self)
            if not self.accept(","):
                return found
