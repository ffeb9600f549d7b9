"""Conversions between the units of DMVs (KB, KB/s), spec sheets (MB/s) and the engine (bytes, seconds)."""

PAGE_BYTES = 8192
KIB = 1024
MIB = 1024 * 1024
GIB = 1024 * 1024 * 1024
PAGES_PER_MIB = MIB // PAGE_BYTES


def mib_per_s_to_pages_per_s(rate_mib_s: float) -> float:
    """Pages per second moved by ``rate_mib_s`` MiB/s; ``-k750`` is 96,000 pages/s.

    >>> mib_per_s_to_pages_per_s(750)
    96000.0
    """
    return float(rate_mib_s) * PAGES_PER_MIB


def bytes_to_kb(value_bytes: float) -> float:
    """DMV kilobytes (1,024 bytes) of a number of bytes."""
    return value_bytes / KIB
