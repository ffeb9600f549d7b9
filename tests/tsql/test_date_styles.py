"""CONVERT's numbered styles, each type beside the documented table."""

from __future__ import annotations

import datetime

import pytest

from aglab.tsql import TsqlError
from aglab.tsql.date_styles import hijri, styles

from .fakes import Client

MOMENT = "2024-01-02 03:04:05.1234567"
# style -> what a datetime and a datetime2(7) of MOMENT give ("CAST and CONVERT", table of date and time styles)
TABLE = {
    0: ("Jan  2 2024  3:04AM",) * 2,
    1: ("01/02/24",) * 2,
    101: ("01/02/2024",) * 2,
    2: ("24.01.02",) * 2,
    102: ("2024.01.02",) * 2,
    3: ("02/01/24",) * 2,
    103: ("02/01/2024",) * 2,
    4: ("02.01.24",) * 2,
    104: ("02.01.2024",) * 2,
    5: ("02-01-24",) * 2,
    105: ("02-01-2024",) * 2,
    6: ("02 Jan 24",) * 2,
    106: ("02 Jan 2024",) * 2,
    7: ("Jan 02, 24",) * 2,
    107: ("Jan 02, 2024",) * 2,
    8: ("03:04:05",) * 2,
    9: ("Jan  2 2024  3:04:05:123AM", "Jan  2 2024  3:04:05.1234560AM"),
    10: ("01-02-24",) * 2,
    110: ("01-02-2024",) * 2,
    11: ("24/01/02",) * 2,
    111: ("2024/01/02",) * 2,
    12: ("240102",) * 2,
    112: ("20240102",) * 2,
    13: ("02 Jan 2024 03:04:05:123", "02 Jan 2024 03:04:05.1234560"),
    14: ("03:04:05:123", "03:04:05.1234560"),
    20: ("2024-01-02 03:04:05",) * 2,
    21: ("2024-01-02 03:04:05.123", "2024-01-02 03:04:05.1234560"),
    22: ("01/02/24  3:04:05 AM",) * 2,
    23: ("2024-01-02",) * 2,
    126: ("2024-01-02T03:04:05.123", "2024-01-02T03:04:05.1234560"),
    127: ("2024-01-02T03:04:05.123", "2024-01-02T03:04:05.1234560"),
    131: ("21/06/1445  3:04:05:123AM", "21/06/1445  3:04:05.1234560AM"),
}
TABLE |= {100: TABLE[0], 108: TABLE[8], 24: TABLE[8], 109: TABLE[9], 113: TABLE[13], 114: TABLE[14], 120: TABLE[20]}
TABLE |= {121: TABLE[21], 25: TABLE[21]}


def text(expression: str, style: int, into: str = "varchar(60)") -> str:
    result = Client().run(f"SELECT CONVERT({into}, {expression}, {style})")
    return result.value if not result.errors else f"error {result.errors[0]}"


def test_every_style_of_the_table() -> None:
    """datetime and datetime2(7); the twin keeps microseconds, so that the seventh digit is 0."""
    assert set(styles()) == {*TABLE, 130}
    for style, (old, new) in TABLE.items():
        assert text(f"CAST('{MOMENT[:23]}' AS datetime)", style) == old, style
        assert text(f"CAST('{MOMENT}' AS datetime2)", style) == new, style


@pytest.mark.parametrize(
    ("expression", "style", "wanted"),
    [
        ("CAST('2024-01-02 03:04:05.1234' AS datetime2(3))", 126, "2024-01-02T03:04:05.123"),
        ("CAST('2024-01-02 03:04:05.9' AS datetime2(0))", 121, "2024-01-02 03:04:06"),
        ("CAST('2024-01-02 03:04:05' AS datetime2)", 126, "2024-01-02T03:04:05"),
        ("CAST('2024-01-02 03:04:05' AS datetime2)", 121, "2024-01-02 03:04:05.0000000"),
        ("CAST('2024-01-02T03:04:05.5+02:00' AS datetimeoffset(1))", 126, "2024-01-02T03:04:05.5+02:00"),
        ("CAST('2024-01-02T03:04:05.5+02:00' AS datetimeoffset(1))", 127, "2024-01-02T01:04:05.5Z"),
        ("CAST('2024-01-02T03:04:05.5+02:00' AS datetimeoffset(1))", 121, "2024-01-02 03:04:05.5 +02:00"),
        ("CAST('2024-01-02T03:04:05.5+02:00' AS datetimeoffset(1))", 0, "Jan  2 2024  3:04AM +02:00"),
        ("CAST('2024-01-02T03:04:05.5+02:00' AS datetimeoffset(1))", 101, "01/02/2024"),
        ("CAST('17:30:00' AS time(0))", 100, "5:30PM"),
        ("CAST('17:30:00.25' AS time(2))", 114, "17:30:00.25"),
        ("CAST('17:30:00' AS time)", 101, "error 8114"),
        ("CAST('2024-01-02' AS date)", 100, "Jan  2 2024"),
        ("CAST('2024-01-02' AS date)", 126, "2024-01-02"),
        ("CAST('2024-01-02' AS date)", 108, "error 8114"),
        ("CAST('2024-01-02' AS date)", 114, "error 281"),
        ("CAST('2024-01-02' AS datetime)", 15, "error 281"),
        ("CAST('0500-01-02' AS date)", 131, "error 9814"),
    ],
)
def test_scales_and_parts(expression: str, style: int, wanted: str) -> None:
    """Digits follow the type's scale; a type without the part that a style shows is an error."""
    assert text(expression, style) == wanted


def test_hijri() -> None:
    """A published pair of dates, the first day, and every day follows the one before."""
    assert hijri(datetime.date(2006, 12, 30)) == (1427, 12, 10)
    assert hijri(datetime.date(622, 7, 18)) == (1, 1, 1)
    assert text("CAST('2006-12-30 00:38:54.840' AS datetime)", 131) == "10/12/1427 12:38:54:840AM"
    assert text("CAST('2006-12-30 00:38:54.840' AS datetime)", 130, "nvarchar(60)").startswith("10 ذو الحجة 1427 ")
    before = hijri(datetime.date(2000, 1, 1))
    for day in range(1, 4000):
        now = hijri(datetime.date(2000, 1, 1) + datetime.timedelta(days=day))
        assert now[2] == before[2] + 1 or ((now[2] == 1 and before[2] in (29, 30)) and now != before)
        before = now


def test_styles_say_how_text_is_read() -> None:
    """Day first, year first; Hijri input and an unknown style are errors by name."""
    client = Client()
    for style, written in ((103, "02/01/2024"), (104, "02.01.2024"), (101, "01/02/2024"), (102, "2024.01.02"), (11, "24/01/02")):
        assert client.run(f"SELECT CONVERT(date, '{written}', {style})").value == datetime.date(2024, 1, 2), style
    assert client.run("SELECT CONVERT(date, '10/12/1427', 131)").errors == [59001]
    assert client.run("SELECT CONVERT(date, '20240102', 99)").errors == [9809]


def test_a_date_before_the_calendar_is_an_error() -> None:
    """Not a wrong date."""
    with pytest.raises(TsqlError):
        hijri(datetime.date(622, 7, 17))
