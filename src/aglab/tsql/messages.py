"""SQL Server's messages: number -> severity, default state, text; and the exception that carries one.

Numbers, severities and wording follow "Database engine events and errors" (SQL Server documentation) and
sys.messages, us_english. ``{0}`` marks a substitution. Numbers from 59000 are the twin's own: they say plainly
what it does not implement. RAISERROR with a bare string uses 50000, as everywhere.
"""

from __future__ import annotations

from aglab.tsql.effects import Message
from aglab.tsql.messages_table import MESSAGES

NOT_IMPLEMENTED = 59001
KNOWLEDGE_PAGE = 'the page "What the twin knows"'


class TsqlError(Exception):
    """An error of T-SQL on its way to TRY/CATCH or to the client.

    ``line`` 0 means "not known yet": the statement that was running fills it in.
    """

    def __init__(self, number: int, severity: int, state: int, text: str, line: int = 0, procedure: str = "") -> None:
        super().__init__(f"Msg {number}, Level {severity}, State {state}: {text}")
        self.number = number
        self.severity = severity
        self.state = state
        self.text = text
        self.line = line
        self.procedure = procedure
        self.dooms = False  # the transaction cannot be committed any more (deadlock victim: already rolled back)
        self.aborts_batch = False
        self.ignored = False  # a duplicate key under IGNORE_DUP_KEY: INSERT goes on without the row

    def message(self) -> Message:
        """The effect that the node sends."""
        return Message(self.number, self.severity, self.state, self.text, max(self.line, 1), self.procedure)


def text_of(number: int, *args: object) -> str:
    """The message text with its substitutions."""
    return MESSAGES[number][2].format(*args)


def error(number: int, *args: object, line: int = 0, state: int | None = None) -> TsqlError:
    """The error ``number`` with SQL Server's severity, state and words.

    >>> str(error(208, "dbo.nosuch"))
    "Msg 208, Level 16, State 1: Invalid object name 'dbo.nosuch'."
    """
    severity, default_state, template = MESSAGES[number]
    return TsqlError(number, severity, default_state if state is None else state, template.format(*args), line)


def info(number: int, *args: object, line: int = 1) -> Message:
    """An informational message ``number``."""
    severity, state, template = MESSAGES[number]
    return Message(number, severity, state, template.format(*args), line)


def not_implemented(what: str, line: int = 0) -> TsqlError:
    """The twin's own refusal: it names the statement and where to read what is known."""
    return error(NOT_IMPLEMENTED, what, KNOWLEDGE_PAGE, line=line)
