"""SQL Server's availability-group messages: number -> severity, state, text.

Numbers, severities and wording follow "Database engine events and errors" of SQL Server 2022 (documentation), 41400 to 49999
too; states follow error reports in public issue threads where there is one, else they are 1. ``{0}`` marks a substitution.
"""

from __future__ import annotations

from aglab.ag.effects import Refused
from aglab.ag.messages_table import MESSAGES, REASONS

__all__ = ["MESSAGES", "REASONS", "AgRefusal", "refuse", "text_of"]


def text_of(number: int, *args: object) -> str:
    """The message text with its substitutions."""
    return MESSAGES[number][2].format(*args)


def refuse(number: int, *args: object, state: int | None = None) -> Refused:
    """The error as an effect.

    >>> refuse(47122, "ag1").text[:60]
    "Cannot failover an availability replica for availability gro"
    """
    severity, default_state, template = MESSAGES[number]
    return Refused(number, severity, default_state if state is None else state, template.format(*args))


class AgRefusal(Exception):
    """Carries a :class:`Refused` from a rule to :meth:`Group.apply`; never leaves the room."""

    def __init__(self, number: int, *args: object, state: int | None = None) -> None:
        self.effect = refuse(number, *args, state=state)
        super().__init__(self.effect.text)
