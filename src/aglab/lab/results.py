"""What one batch gave: result sets and messages as a query window shows them, or an error as the server sent it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.errors import AglabError

if TYPE_CHECKING:
    import pandas as pd


class SqlFailed(AglabError):
    """A T-SQL error as the server sent it.

    Attributes
    ----------
    number : int or None
        SQL Server's message number, where the driver hands it on.
    text : str
        The server's own words.
    """

    def __init__(self, text: str, number: int | None = None, node: str = "", line: int | None = None) -> None:
        self.text = text
        self.number = number
        self.node = node
        self.line = line
        number_text = f"Msg {number}: " if number else ""
        where = f"{node}: " if node else ""
        at = f" (batch that begins on line {line})" if line and line > 1 else ""
        super().__init__(f"{where}{number_text}{text}{at}")


class ConnectionLost(SqlFailed):
    """The connection is gone: the node restarted, was stopped or could not be reached."""


@dataclass
class Result:
    """What one batch gave: result sets, messages, rows affected."""

    tables: list[pd.DataFrame] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    @property
    def table(self) -> pd.DataFrame:
        """The first result set.

        Raises
        ------
        AglabError
            There is none.
        """
        if not self.tables:
            raise AglabError("the script returned no result set", "end it with a SELECT")
        return self.tables[0]

    @property
    def value(self) -> Any:
        """The first column of the first row of the first result set; None when it has no row."""
        return None if self.table.empty else self.table.iat[0, 0]

    def __repr__(self) -> str:
        parts = [table.to_string(index=False) for table in self.tables] + self.messages
        return "\n\n".join(parts) or "Commands completed successfully."

    def _repr_html_(self) -> str:
        parts = [table.to_html(index=False, border=0) for table in self.tables]
        parts += [f"<pre>{html.escape(message)}</pre>" for message in self.messages]
        return "".join(parts) or "<pre>Commands completed successfully.</pre>"
