"""How long the results of text functions may be, and the type that a client is told."""

import pytest

from .fakes import Client


@pytest.mark.parametrize(
    ("call", "length", "declared"),
    [
        ("REPLICATE('ab', 3)", 6, "varchar(8000)"),
        ("REPLICATE('ab', 5000)", 8000, "varchar(8000)"),
        ("REPLICATE(N'ab', 5000)", 4000, "nvarchar(4000)"),
        ("REPLICATE(CAST('ab' AS varchar(max)), 5000)", 10000, "varchar(max)"),
        ("REPLICATE(CAST(N'x' AS nvarchar(max)), 5000000)", 5000000, "nvarchar(max)"),
        ("REPLICATE('', 5)", 0, "varchar(8000)"),
        ("REPLICATE('a', -1)", None, "varchar(8000)"),
        ("REPLICATE('abc', NULL)", None, "varchar(8000)"),
        ("REPLACE('a', 'a', 'bbbb')", 4, "varchar(8000)"),
        ("REPLACE('a', N'a', N'bbbb')", 4, "nvarchar(4000)"),
        ("STUFF('ab', 1, 1, 'xyz')", 4, "varchar(8000)"),
    ],
)
def test_length_and_type(call, length, declared):
    """Results are cut at 8,000 bytes but for (max) types, and the declared type has room for the value."""
    result = Client().run(f"SELECT {call} AS t")
    value = result.value
    assert (None if value is None else len(value)) == length
    assert result.types == [declared]


def test_more_than_a_value_may_hold_is_an_error():
    """REPLICATE beyond the twin's limit names the limit instead of filling memory."""
    result = Client().run("SELECT REPLICATE(CAST('x' AS varchar(max)), 2000000000)")
    assert result.errors == [59003] and "268435456" in result.messages[0].text
