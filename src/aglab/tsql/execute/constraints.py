"""CHECK and FOREIGN KEY over rows that are there already: WITH CHECK, NOCHECK, DBCC CHECKCONSTRAINTS.

Sources: "ALTER TABLE" (new constraints test the rows unless WITH NOCHECK is written; those switched on again do not
unless WITH CHECK is) and "DBCC CHECKCONSTRAINTS" (Transact-SQL); the words of 4916 and 4917 were not looked up.
A constraint that some rows were never tested against is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from aglab.tsql import ast_statements as st
from aglab.tsql.execute.targets import Target, TargetMixin
from aglab.tsql.execute.writes import exists
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import CheckConstraint, ForeignKey, Row, Table
from aglab.tsql.writers import variant_text

EVERY = frozenset({"ALL"})


def constraints_of(table: Table) -> list[CheckConstraint | ForeignKey]:
    """CHECK and FOREIGN KEY constraints."""
    return [*table.checks, *table.foreign_keys]


class ConstraintMixin(TargetMixin):
    """Constraints over existing rows."""

    def violations(
        self, table: Table, database: Database | None, names: frozenset[str]
    ) -> Iterator[tuple[str, Row, list[int], TsqlError]]:
        """(constraint, row, the columns it looks at, error 547) for each row that breaks one of the enabled constraints named."""
        context = self.context()
        writer = self.writer(context, Target(table, database))
        frame = context.frame(self.runtime)
        shown = f"{table.schema}.{table.name}"
        wanted = [one for one in writer.checks if names == EVERY or one[0].lower() in names]
        keys = [one for one in writer.foreign if names == EVERY or one[0].name.lower() in names]
        for row in table.rows.values():
            frame[writer.slot] = row
            for name, column, fn in wanted:
                if fn(frame) is False:
                    part = f", column '{column}'" if column else ""
                    at = table.ordinal(column) if column else None
                    problem = error(547, "ALTER TABLE", "CHECK", name, writer.database_name, shown, part)
                    yield name, row, [] if at is None else [at], problem
            for key, parent in keys:
                values = [row[ordinal] for ordinal in key.columns]
                ordinals = [parent.ordinal(name) for name in key.referenced_columns]
                if any(value is None for value in values) or exists(parent, ordinals, values):
                    continue
                part = f", column '{key.referenced_columns[0]}'" if len(ordinals) == 1 else ""
                there = (writer.database_name, parent.full_name, part)
                yield key.name, row, list(key.columns), error(547, "ALTER TABLE", "FOREIGN KEY", key.name, *there)

    def test_rows(self, table: Table, database: Database | None, names: Iterable[str], line: int) -> None:
        """Error 547 at the first row that breaks one of these constraints."""
        found = next(self.violations(table, database, frozenset(name.lower() for name in names)), None)
        if found is not None:
            found[3].line = line
            raise found[3]

    def added(self, table: Table, database: Database | None, before: Table, s: st.AlterTable) -> None:
        """ALTER TABLE ... [WITH CHECK | NOCHECK] ADD: the new constraints and the rows."""
        old = {one.name for one in constraints_of(before)}
        new = [one.name for one in constraints_of(table) if one.name not in old]
        if not new:
            return
        if s.options.get("CHECK", True):
            self.test_rows(table, database, new, s.line)
        else:
            table.checks = [replace(one, trusted=one.name in old and one.trusted) for one in table.checks]
            table.foreign_keys = [replace(one, trusted=one.name in old and one.trusted) for one in table.foreign_keys]

    def switched(self, table: Table, database: Database | None, s: st.AlterTable) -> None:
        """ALTER TABLE ... [WITH CHECK | NOCHECK] {CHECK | NOCHECK} CONSTRAINT {ALL | name, ...}. Errors 4917, 547."""
        known = {one.name.lower(): one.name for one in constraints_of(table)}
        wanted = set(known) if s.names == ["ALL"] else {name.lower() for name in s.names}
        for name in s.names:
            if s.names != ["ALL"] and name.lower() not in known:
                problem = error(4917, name, line=s.line)
                problem.followed_by = error(4916, line=s.line)  # type: ignore[attr-defined]
                raise problem
        on = s.action == "CHECK"
        tested = on and s.options.get("CHECK", False)

        def changed(one: Any) -> Any:
            if one.name.lower() not in wanted:
                return one
            return replace(one, enabled=on, trusted=on and (tested or (one.trusted and one.enabled)))

        table.checks = [changed(one) for one in table.checks]
        table.foreign_keys = [changed(one) for one in table.foreign_keys]
        if tested:
            self.test_rows(table, database, wanted, s.line)

    def broken_rows(
        self, database: Database, only: Table | None, constraint: str, disabled: bool
    ) -> Iterator[tuple[str, str, str]]:
        """(Table, Constraint, Where) of DBCC CHECKCONSTRAINTS; ``disabled``: WITH ALL_CONSTRAINTS."""
        names = frozenset({constraint.lower()}) if constraint else EVERY
        for table in [only] if only is not None else list(database.tables()):
            kept = table.checks, table.foreign_keys
            if disabled or constraint:
                table.checks = [replace(one, enabled=True) for one in kept[0]]
                table.foreign_keys = [replace(one, enabled=True) for one in kept[1]]
            try:
                for name, row, ordinals, _ in self.violations(table, database, names):
                    where = " AND ".join(
                        f"[{table.columns[o].name}] = '{variant_text(row[o])}'"
                        for o in ordinals or range(len(row))
                        if row[o] is not None
                    )
                    yield f"[{table.schema}].[{table.name}]", f"[{name}]", where
            finally:
                table.checks, table.foreign_keys = kept
