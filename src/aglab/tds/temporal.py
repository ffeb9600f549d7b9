"""Dates and times on the wire (MS-TDS 2.2.5.5.1.8), both ways.

Python keeps microseconds; the seventh digit of time(7) and its kin is cut off coming in and 0 going out. datetime counts
1/300 seconds and comes back as SQL Server prints it: milliseconds that end in 0, 3 or 7.
"""

from __future__ import annotations

import datetime as dt
import struct

BASE_1900 = dt.date(1900, 1, 1).toordinal()
DAYS_MAX = dt.date.max.toordinal()
DAY_US = 86_400_000_000
TICKS_PER_DAY = 300 * 86400
MINUTES_PER_DAY = 1440
TIME_BYTES = (3, 3, 3, 4, 4, 5, 5, 5)
OFFSET_MINUTES_MAX = 840

_DATETIME = struct.Struct("<iI")
_SMALLDATETIME = struct.Struct("<HH")


def microseconds(value: dt.time | dt.datetime) -> int:
    """Microseconds since midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def as_datetime(value: object) -> dt.datetime:
    """A datetime from a datetime or a date; TypeError otherwise."""
    if isinstance(value, dt.datetime):
        return value
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    raise TypeError(f"{type(value).__name__} is not a date")


def encode_datetime(value: object) -> bytes:
    """datetime: days since 1900-01-01 and 1/300 seconds, rounded to the nearest."""
    moment = as_datetime(value)
    days = moment.toordinal() - BASE_1900
    ticks = (microseconds(moment) * 3 + 5000) // 10000
    if ticks >= TICKS_PER_DAY:
        days, ticks = days + 1, 0
    return _DATETIME.pack(days, ticks)


def decode_datetime(data: bytes) -> dt.datetime:
    """The reverse; ValueError outside 1753 to 9999 or a day."""
    days, ticks = _DATETIME.unpack(data)
    if ticks >= TICKS_PER_DAY:
        raise ValueError(f"{ticks} ticks exceed a day")
    milliseconds = (ticks * 10 + 1) // 3
    return dt.datetime.fromordinal(_checked(days + BASE_1900)) + dt.timedelta(milliseconds=milliseconds)


def encode_smalldatetime(value: object) -> bytes:
    """smalldatetime: days since 1900-01-01 and minutes, 30 seconds and more rounded up."""
    moment = as_datetime(value)
    days = moment.toordinal() - BASE_1900
    minutes = (microseconds(moment) + 30_001_000) // 60_000_000  # 29.998 s rounds down, 29.999 s up
    if minutes >= MINUTES_PER_DAY:
        days, minutes = days + 1, 0
    return _SMALLDATETIME.pack(days, minutes)


def decode_smalldatetime(data: bytes) -> dt.datetime:
    """The reverse."""
    days, minutes = _SMALLDATETIME.unpack(data)
    if minutes >= MINUTES_PER_DAY:
        raise ValueError(f"{minutes} minutes exceed a day")
    return dt.datetime.fromordinal(_checked(days + BASE_1900)) + dt.timedelta(minutes=minutes)


def encode_date(value: object) -> bytes:
    """date: days since 0001-01-01 in three bytes."""
    if isinstance(value, dt.date):
        return (value.toordinal() - 1).to_bytes(3, "little")
    raise TypeError(f"{type(value).__name__} is not a date")


def decode_date(data: bytes) -> dt.date:
    """The reverse."""
    return dt.date.fromordinal(_checked(int.from_bytes(data, "little") + 1))


def encode_time(value: dt.time | dt.datetime, scale: int) -> bytes:
    """time(n): units of 10^-n seconds since midnight, rounded, never up into the next day."""
    step = 10 ** (7 - scale)
    ticks = (microseconds(value) * 10 + step // 2) // step
    return min(ticks, DAY_US * 10 // step - 1).to_bytes(TIME_BYTES[scale], "little")


def decode_time_us(data: bytes, scale: int) -> int:
    """Microseconds since midnight; ValueError for a day or more."""
    us = int.from_bytes(data, "little") * 10 ** (7 - scale) // 10
    if us >= DAY_US:
        raise ValueError(f"{us} microseconds exceed a day")
    return us


def decode_time(data: bytes, scale: int) -> dt.time:
    """time(n) as ``datetime.time``."""
    return (dt.datetime.min + dt.timedelta(microseconds=decode_time_us(data, scale))).time()


def encode_datetime2(value: object, scale: int) -> bytes:
    """datetime2(n): time(n), then date; rounds into the next day where it must."""
    moment = as_datetime(value).replace(tzinfo=None)
    step = 10 ** (7 - scale)
    ticks = (microseconds(moment) * 10 + step // 2) // step
    day = moment.toordinal() - 1
    if ticks >= DAY_US * 10 // step:
        if day + 1 < DAYS_MAX:
            day, ticks = day + 1, 0
        else:
            ticks -= 1
    return ticks.to_bytes(TIME_BYTES[scale], "little") + day.to_bytes(3, "little")


def decode_datetime2(data: bytes, scale: int) -> dt.datetime:
    """The reverse."""
    us = decode_time_us(data[:-3], scale)
    return dt.datetime.fromordinal(_checked(int.from_bytes(data[-3:], "little") + 1)) + dt.timedelta(microseconds=us)


def encode_datetimeoffset(value: object, scale: int) -> bytes:
    """datetimeoffset(n): datetime2(n) in UTC, then the offset in minutes. A naive value is UTC."""
    moment = as_datetime(value)
    offset = moment.utcoffset() or dt.timedelta()
    return encode_datetime2(moment.replace(tzinfo=None) - offset, scale) + struct.pack("<h", int(offset.total_seconds() // 60))


def decode_datetimeoffset(data: bytes, scale: int) -> dt.datetime:
    """The reverse, as an aware datetime."""
    (minutes,) = struct.unpack("<h", data[-2:])
    if abs(minutes) > OFFSET_MINUTES_MAX:
        raise ValueError(f"offset of {minutes} minutes exceeds 14 hours")
    zone = dt.timezone(dt.timedelta(minutes=minutes))
    return (decode_datetime2(data[:-2], scale) + zone.utcoffset(None)).replace(tzinfo=zone)


def _checked(ordinal: int) -> int:
    if not 1 <= ordinal <= DAYS_MAX:
        raise ValueError(f"day {ordinal} lies outside years 1 to 9999")
    return ordinal
