"""``%%tsql`` in a notebook: a cell of T-SQL for a node of an opened lab or cluster.

::

    %load_ext aglab.lab.magic
    %%tsql lab            # or: %%tsql cluster sql2 OLTP
    SELECT name FROM sys.databases;

The first word names a variable of the notebook that holds a lab or a cluster; a node and a database may follow.
"""

from __future__ import annotations

from typing import Any

from aglab.core.errors import UsageError


def tsql(line: str, cell: str, namespace: dict[str, Any]) -> Any:
    """Run a cell.

    Raises
    ------
    UsageError
        The line names no lab or cluster of the notebook, or has more than three words.
    """
    words = line.split("#")[0].split()
    if not 1 <= len(words) <= 3:
        raise UsageError(f"%%tsql {line.strip()!r} must name a lab or a cluster", "write %%tsql lab, or %%tsql cluster sql2 OLTP")
    holder = namespace.get(words[0])
    cluster: Any = getattr(holder, "cluster", holder)
    if not callable(getattr(cluster, "sql", None)):
        raise UsageError(
            f"%%tsql: {words[0]!r} is no lab or cluster of this notebook", "open one first: lab = aglab.open_lab(...)"
        )
    node = words[1] if len(words) > 1 else None
    return cluster.sql(cell, node, database=words[2] if len(words) > 2 else cluster.database)


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext aglab.lab.magic``."""
    shell.register_magic_function(lambda line, cell: tsql(line, cell, shell.user_ns), "cell", "tsql")
