"""Hostile T-SQL text: whatever is sent, the answer is rows or a T-SQL error; never a defect of the twin (59004) or an exception.

``AGLAB_FUZZ_EXAMPLES`` raises the number of examples (``make soak``). Texts that once failed are kept below.
"""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .fakes import Client, FakeHost
from .test_fixtures import SETUP, cases

EXAMPLES = int(os.environ.get("AGLAB_FUZZ_EXAMPLES", "150"))
FUZZ = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 1000)  # the gate's are the same ones each time
DEFECT = 59004
TEXTS = [
    text.strip()
    for name in ("queries", "errors", "programs")
    for _, text in cases(name)
    if len(text) < 600 and not re.search(r"(?i)\b(while|goto|waitfor|generate_series|replicate)\b", text)
]
TOKENS = sorted({token for text in TEXTS for token in re.findall(r"\w+|'[^']*'|[^\w\s]", text)})
FOUND = [
    "set textsize #",
    "set lock_timeout 'x'",
    "exec sp_configure 'show advanced options', #",
    "sp_prepare",
    "sp_prepexec 1",
    "EXEC sp_prepare NULL, N'@a int'",
]


def answered(text: str) -> None:
    """Run a text and check what must always hold."""
    client = Client(FakeHost("OLTP"))
    client.run(SETUP)
    try:
        result = client.run(text)
    except AssertionError as error:
        assert "would block" in str(error), error  # a lock of its own session's that the fake host does not grant
        return
    assert DEFECT not in result.errors, [m.text for m in result.messages]
    assert client.session.trancount >= 0 and client.session.status == "sleeping"


@given(st.lists(st.sampled_from(TOKENS), max_size=25))
@FUZZ
def test_any_words(words):
    """Words of the language in any order."""
    answered(" ".join(word for word in words if word.lower() not in ("while", "goto", "waitfor")))


@given(st.data())
@FUZZ
def test_mutated_statements(data):
    """A statement with words dropped, doubled, exchanged or taken from another."""
    words = re.findall(r"\s+|\w+|'[^']*'|[^\w\s]", data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(len(words) - 1, 0)))
        kind = data.draw(st.sampled_from("dxrs"))
        if not words:
            break
        if kind == "d":
            del words[place]
        elif kind == "x":
            words.insert(place, words[place])
        elif kind == "r":
            words[place] = data.draw(st.sampled_from(TOKENS))
        else:
            other = data.draw(st.integers(0, len(words) - 1))
            words[place], words[other] = words[other], words[place]
    answered("".join(word for word in words if word.lower() not in ("while", "goto", "waitfor")))


@given(st.text(max_size=80))
@FUZZ
def test_any_text(text):
    """Any characters at all."""
    answered(text)


@pytest.mark.parametrize("text", FOUND)
def test_texts_that_once_failed(text):
    """Found by a soak run, mended since."""
    answered(text)
