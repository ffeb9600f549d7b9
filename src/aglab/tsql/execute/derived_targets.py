"""UPDATE and DELETE through a common table expression or a derived table over one table.

The query gets one column more, the number of the table's row (:class:`aglab.tsql.ast.RowNumber`), so that whatever it
computes, filters or counts (ROW_NUMBER, TOP) says which rows change. Errors: 4403 aggregates, DISTINCT or GROUP BY, 4405 more
than one table in DELETE, 4406 a column that is computed. Over a join, another common table expression or a view: refused by
name. Source: "UPDATE (Transact-SQL)", "DELETE (Transact-SQL)", and the updatable views of "CREATE VIEW (Transact-SQL)" (SQL
Server documentation).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.store.table import Table

HIDDEN = "$row"


@dataclass
class Derived:
    """What stands between the statement and the table."""

    name: str
    base: ast.TableSource
    query: ast.Select
    aliases: list[str]
    replaced: ast.Source | None  # the node of FROM that named it; None: the statement has no FROM

    def node(self, line: int) -> ast.QuerySource:
        """The source to bind instead, with the row's number as its last column."""
        number = ast.SelectItem(line, ast.RowNumber(line, self.base.alias or self.base.parts[-1]), alias=HIDDEN)
        query = dataclasses.replace(self.query, items=[*self.query.items, number])
        alias = self.replaced.alias if self.replaced is not None else ""
        made = ast.QuerySource(line, query=query)
        made.alias = alias or self.name
        made.column_aliases = [*self.aliases, HIDDEN] if self.aliases else []
        return made

    def base_column(self, name: str, table: Table, line: int) -> str:
        """The table's column that a column of the query is. Error 4406 when it is computed, 207 when it is none."""
        columns: list[tuple[str, str | None]] = []
        for item in self.query.items:
            if isinstance(item.expression, ast.Star):
                columns += [(column.name, column.name) for column in table.columns]
            elif isinstance(item.expression, ast.ColumnRef):
                columns.append((item.alias or item.expression.parts[-1], item.expression.parts[-1]))
            else:
                columns.append((item.alias, None))
        for ordinal, (shown, column) in enumerate(columns):
            if (self.aliases[ordinal] if ordinal < len(self.aliases) else shown).lower() == name.lower():
                if column is None:
                    raise error(4406, self.name, line=line)
                return column
        raise error(207, name, line=line)


def replace_source(node: ast.Source, old: ast.Source, new: ast.Source) -> ast.Source:
    """FROM with one of its sources exchanged; the statement's own nodes stay as they are."""
    if node is old:
        return new
    if isinstance(node, ast.JoinSource):
        assert node.left is not None and node.right is not None
        left, right = replace_source(node.left, old, new), replace_source(node.right, old, new)
        return dataclasses.replace(node, left=left, right=right)
    return node


def _sources(node: ast.Source | None) -> list[ast.Source]:
    if isinstance(node, ast.JoinSource):
        return _sources(node.left) + _sources(node.right)
    return [] if node is None else [node]


def find_derived(s: st.Update | st.Delete) -> Derived | None:
    """The common table expression or derived table that a statement's target names; None: it is a table."""
    if len(s.target.parts) > 1:
        return None
    name = s.target.parts[0].lower()
    ctes = {cte.name.lower(): cte for cte in s.ctes}
    for node in _sources(s.source):
        if isinstance(node, ast.QuerySource) and node.alias.lower() == name:
            assert node.query is not None
            return _checked(s, node.alias, node.query, node.column_aliases, node, ctes)
        cte = ctes.get(node.parts[0].lower()) if isinstance(node, ast.TableSource) and len(node.parts) == 1 else None
        if cte is not None and name in (node.alias.lower(), cte.name.lower()):
            return _checked(s, cte.name, cte.query, cte.columns, node, ctes)
    if name in ctes and not any(isinstance(n, ast.TableSource) and n.alias.lower() == name for n in _sources(s.source)):
        if s.source is not None:
            raise not_implemented("changing rows through a common table expression that FROM does not name", s.line)
        return _checked(s, ctes[name].name, ctes[name].query, ctes[name].columns, None, ctes)
    return None


def _checked(
    s: st.Update | st.Delete,
    name: str,
    query: ast.Query,
    aliases: list[str],
    replaced: ast.Source | None,
    ctes: dict[str, ast.Cte],
) -> Derived:
    if not isinstance(query, ast.Select) or query.distinct or query.group or query.having is not None:
        raise error(4403, name, line=s.line)
    if isinstance(query.source, ast.JoinSource):
        if isinstance(s, st.Delete):
            raise error(4405, name, line=s.line)
        raise not_implemented("UPDATE through a query over more than one table", s.line)
    base = query.source
    if not isinstance(base, ast.TableSource) or (len(base.parts) == 1 and base.parts[0].lower() in ctes):
        raise not_implemented("changing rows through a query over another query", s.line)
    return Derived(name, base, query, aliases, replaced)
