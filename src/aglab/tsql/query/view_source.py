"""System views as row sources: what a query wants of one travels down to the node that builds the rows."""

from __future__ import annotations

from collections.abc import Callable

from aglab.tsql.host import Wanted
from aglab.tsql.query.scope import Frame, Function
from aglab.tsql.query.sources import Rows
from aglab.tsql.store.table import Row


class ViewRows(Rows):
    """Rows of a system view.

    ``asked`` holds, by column, the values that the conditions leave (equality with constants): the node may then build fewer
    rows. It need not, and the conditions are tested on what comes all the same.
    """

    def __init__(self, slot: int, names: tuple[str, ...], produce: Callable[[Frame, Wanted], list[Row]], cache_slot: int) -> None:
        super().__init__(slot, len(names), lambda frame: produce(frame, self.wanted(frame)), cache_slot)
        self.names = names
        self.asked: dict[int, list[Function]] = {}

    def wanted(self, frame: Frame) -> Wanted:
        """Column name in lower case -> its values now, as the collation compares them; NULL equals nothing."""
        asked = self.asked.items()
        return {self.names[column]: frozenset(value for fn in each if (value := fn(frame)) is not None) for column, each in asked}
