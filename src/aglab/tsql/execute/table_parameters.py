"""Table-valued parameters: a table variable of the caller, or the rows that a client sent, become a read-only table.

Sources: "Use table-valued parameters (Database Engine)", MS-TDS 2.2.5.5.5. Numbers and words of 206, 500, 1077 and 2715 as in
"Database engine events and errors".
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import TableValue
from aglab.tsql.effects import Wait
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.targets import Target, TargetMixin
from aglab.tsql.execute.writes import assigner
from aglab.tsql.messages import error
from aglab.tsql.runtime import Variables
from aglab.tsql.store.table import Table
from aglab.tsql.store.user_types import UserType

ROWS_A_TURN = 250  # rows before other sessions get a turn


class TableParameterMixin(TargetMixin):
    """Table-valued parameters."""

    def bind_table(self, variables: Variables, name: str, kind: UserType, argument: Any) -> Effects[None]:
        """Give a procedure its table. Left out, it has no rows. Errors 206, 500, 1077, and those of its rows."""
        from aglab.tsql.execute.definitions import build_table

        value = argument.value if argument is not None and not argument.default else None
        if argument is not None and value is not None and not isinstance(value, (Table, TableValue)):
            raise error(206, argument.type.name if argument.type is not None else "int", kind.name)
        if isinstance(value, Table):
            if value.type_name.lower() != kind.full_name.lower():
                raise error(206, value.type_name.rpartition(".")[2] or "table", kind.name)
            table = value
        else:
            table = build_table(self.runtime, kind.columns, kind.constraints, "", name, 0)
            table.type_name = kind.full_name
            if value is not None:
                yield from self._fill(table, kind, value)
        variables.tables[name.lower()] = table
        variables.readonly.add(name.lower())

    def _fill(self, table: Table, kind: UserType, value: TableValue) -> Effects[None]:
        """The client's rows, converted as INSERT converts them."""
        sent = value.type_name if "." in value.type_name else f"dbo.{value.type_name}"
        if value.type_name and sent.lower() != kind.full_name.lower():
            schema, _, bare = sent.partition(".")
            if (schema.lower(), bare.lower()) not in self.runtime.database.types:
                raise error(2715, 1, value.type_name)
            raise error(206, bare, kind.name)
        if not value.columns and not value.rows:
            return
        if len(value.columns) != len(table.columns):
            raise error(500, len(value.columns), len(table.columns))
        target = Target(table, None, table.name.lower())
        context = self.context()
        writer = self.writer(context, target)
        taken = [
            (ordinal, assigner(sent_column.type, table, column, writer.shown))
            for ordinal, (sent_column, column) in enumerate(zip(value.columns, table.columns, strict=True))
            if ordinal not in value.defaults and column.computed is None
        ]
        numbered = [ordinal for ordinal, _ in taken if table.columns[ordinal].identity is not None]
        taken = [one for one in taken if one[0] not in numbered]  # NULL there is the next number
        frame = context.frame(self.runtime)
        for number, row in enumerate(value.rows, 1):
            if number % ROWS_A_TURN == 0:
                yield Wait("time", self.runtime.host.now_s())  # takes no time: others get a turn, an attention gets through
            if any(row[ordinal] is not None for ordinal in numbered):
                raise error(1077)
            provided = {
                ordinal: (cell if (cell := row[ordinal]) is None or change is None else change(cell)) for ordinal, change in taken
            }
            stored = writer.row(frame, provided, False)
            writer.verify_unique(self.runtime, target.database_id, table.next_row_id, stored)
            table.put(table.next_row_id, stored)
