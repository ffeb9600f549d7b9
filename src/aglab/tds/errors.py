"""What can be wrong with bytes from a client, in two grades.

A :class:`ProtocolError` ends the connection: after it the byte stream cannot be trusted. A :class:`RequestRefused`
ends one request: its message was framed well, but asks for something that the twin does not carry (a
CLR type). The connection answers it with an error token and stays usable.
"""

from __future__ import annotations

from aglab.core.errors import AglabError

BAD_VALUE = 8023
NOT_CARRIED = 50500  # number of every "the twin's wire does not carry this" error


class ProtocolError(AglabError):
    """The peer broke the protocol or went over a limit; the connection is closed."""


class Truncated(ProtocolError):
    """A message ends too early; of one that is still arriving: wait for more."""


class RequestRefused(AglabError):
    """One well-framed request cannot be carried out.

    Parameters
    ----------
    message : str
        What was asked, for the client's error message.
    number : int
        Error number sent to the client.
    """

    def __init__(self, message: str, number: int = NOT_CARRIED, severity: int = 16, state: int = 1) -> None:
        self.number = number
        self.severity = severity
        self.state = state
        super().__init__(message)


class TooLong(RequestRefused):
    """A value is longer than its column was declared."""
