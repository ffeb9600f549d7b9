"""Rounding of exact numbers."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from aglab.tsql.types import CONTEXT


def quantize(value: Decimal, scale: int) -> Decimal:
    """Rounded half away from zero to ``scale`` places."""
    return value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=CONTEXT)
