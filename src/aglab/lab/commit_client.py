"""A client for outages: it commits one row at a time, notes how long each commit took, and finds its way back to the primary.

Load generators end when their connection breaks; this one asks the next node. Times are the servers' own: a commit's latency is
read in the batch that commits, and an outage lasts from the last commit that was acknowledged to the next one. On real servers
two nodes have two clocks, and an outage that ends on another node carries their difference. Left out: concurrency (one row at
a time), listeners and drivers' own retries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from aglab.core.errors import AglabError, field_error
from aglab.core.progress import Progress, no_progress
from aglab.lab.driver import Connection

if TYPE_CHECKING:
    from aglab.lab.cluster import Cluster

TABLE = "commit_client"
EVERY_S_MIN, EVERY_S_MAX = 0.01, 60.0
_MAKE = f"""IF OBJECT_ID(N'dbo.{TABLE}') IS NULL
CREATE TABLE dbo.{TABLE} (id int NOT NULL PRIMARY KEY, at_time datetime2(7) NOT NULL);
SELECT COALESCE(MAX(id), 0) AS last_id FROM dbo.{TABLE};"""
_PAUSE = "WAITFOR DELAY '{delay}';"
_COMMIT = f"""SET NOCOUNT ON;
DECLARE @sent datetime2(7) = SYSDATETIME();
INSERT INTO dbo.{TABLE} (id, at_time) VALUES ({{id}}, @sent);
DECLARE @done datetime2(7) = SYSDATETIME();
SELECT @done AS answered_at, DATEDIFF_BIG(MICROSECOND, @sent, @done) AS latency_us;"""


class CommitClient:
    """Commits rows into ``dbo.commit_client`` until told to stop; use it in a ``with`` block or call :meth:`close`.

    Parameters
    ----------
    cluster : Cluster
    every_s : float
        Pause between two commits, and between two tries while nobody answers (0.01 to 60).
    """

    def __init__(self, cluster: Cluster, every_s: float = 0.5) -> None:
        if not EVERY_S_MIN <= every_s <= EVERY_S_MAX:
            limit = f"must be {EVERY_S_MIN:g} to {EVERY_S_MAX:g}"
            raise field_error("every_s", every_s, limit, "CommitClient", "use for example 0.5")
        self.cluster = cluster
        self.every_s = float(every_s)
        self.node = ""
        self.refusals: dict[str, str] = {}  # node -> why it took no row when it was last asked
        self._connection: Connection | None = None
        self._next_id = 1
        self._acknowledged: list[tuple[int, str, pd.Timestamp, float]] = []
        self._refused: list[tuple[int, str]] = []  # after how many commits, and why

    # -- work ------------------------------------------------------------------------------------------------------
    def run(
        self, seconds: float, do: Mapping[float, Callable[[], Any]] | None = None, progress: Progress = no_progress
    ) -> pd.DataFrame:
        """Commit for ``seconds`` on the servers' clock.

        Parameters
        ----------
        seconds : float
            How long; while no node takes the row, the pauses between tries are counted.
        do : mapping of seconds to callable, optional
            What to do meanwhile, e.g. ``{5: lambda: cluster.fault("crash", node="sql1")}``; the client waits for it.
        progress : callable
            ``progress(done, total, label)``.

        Returns
        -------
        DataFrame
            :attr:`commits`.
        """
        if not seconds > 0:
            raise field_error("seconds", seconds, "must be > 0", "CommitClient.run", "use for example 30")
        steps = sorted((do or {}).items())
        passed_s, mark = 0.0, self._last_time()
        while passed_s < seconds:
            while steps and passed_s >= steps[0][0]:
                steps.pop(0)[1]()
            self._pause()
            if self._commit_once():
                now = self._acknowledged[-1][2]
                passed_s += self.every_s if mark is None else max(0.0, (now - mark).total_seconds())
                mark = now
            else:
                passed_s += self.every_s
                mark = None
            progress(min(passed_s, seconds), seconds, f"{len(self._acknowledged)} commits, on {self.node or 'no node'}")
        for _, step in steps:
            step()
        return self.commits

    def _pause(self) -> None:
        """The pause passes on the server that took the last row; when there is none, on the cluster's clock."""
        minutes, rest = divmod(self.every_s, 60)
        if self._connection is not None:
            try:
                self._connection.run(_PAUSE.format(delay=f"00:{int(minutes):02d}:{rest:06.3f}"))
                return
            except AglabError as error:
                self._note(self.node, error)
        self.cluster.wait(self.every_s)

    def _last_time(self) -> pd.Timestamp | None:
        return self._acknowledged[-1][2] if self._acknowledged and self._connection is not None else None

    def _commit_once(self) -> bool:
        """One row, on the node that took the last one, else on any that takes it."""
        number = self._next_id
        for connection, node in self._ways():
            try:
                row = connection.run(_COMMIT.format(id=number)).table.iloc[0]
            except AglabError as error:
                self._note(node, error)
                number = self._next_id = self._next_id + 1  # the row may be there: its answer was lost
                continue
            self._next_id += 1
            self._acknowledged.append((number, node, pd.Timestamp(row["answered_at"]), float(row["latency_us"]) / 1000))
            return True
        return False

    def _ways(self) -> Any:
        """Connections to try: the open one, then a new one to each node in turn."""
        if self._connection is not None:
            yield self._connection, self.node
        names = [one.name for one in self.cluster.nodes]
        for name in sorted(names, key=lambda one: one == self.node):  # where it failed just now, last
            try:
                connection = self.cluster.connect(name, self.cluster.database)
            except AglabError as error:
                self._note(name, error)
                continue
            try:
                last = int(connection.run(_MAKE).value or 0)
            except AglabError as error:
                connection.close()
                self._note(name, error)
                continue
            self._connection, self.node = connection, name
            self._next_id = max(self._next_id, last + 1)
            yield connection, name

    def _note(self, node: str, error: AglabError) -> None:
        text = str(error).splitlines()[0].removeprefix(f"{node}: ")
        self.refusals[node] = text
        self._refused.append((len(self._acknowledged), f"{node}: {text}"))
        if node == self.node:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self.node = None, ""

    # -- results -----------------------------------------------------------------------------------------------------
    @property
    def commits(self) -> pd.DataFrame:
        """Every acknowledged commit: ``id``, ``node``, ``answered_at`` (server's clock), ``latency_ms``."""
        return pd.DataFrame(self._acknowledged, columns=["id", "node", "answered_at", "latency_ms"])

    def outages(self, longer_than_s: float = 1.0) -> pd.DataFrame:
        """Gaps between two acknowledged commits.

        Parameters
        ----------
        longer_than_s : float
            A gap counts when it exceeds the client's own pause by more than this.

        Returns
        -------
        DataFrame
            ``from_time``, ``to_time``, ``seconds`` (the pause taken off), ``node_before``, ``node_after``, ``said`` (a refusal).
        """
        rows = []
        for place in range(1, len(self._acknowledged)):
            (_, before, start, _), (_, after, end, _) = self._acknowledged[place - 1 : place + 1]
            gap_s = (end - start).total_seconds() - self.every_s
            if gap_s > longer_than_s:
                said = [text for count, text in self._refused if count == place]
                rows.append((start, end, round(gap_s, 3), before, after, said[-1] if said else "the commit waited"))
        return pd.DataFrame(rows, columns=["from_time", "to_time", "seconds", "node_before", "node_after", "said"])

    def lost(self, node: str) -> list[int]:
        """Ids of commits that were acknowledged and are not in the table on ``node``: what a failover has cost."""
        found = self.cluster.sql(f"SELECT id FROM dbo.{TABLE};", node, database=self.cluster.database).table["id"]
        there = {int(one) for one in found}
        return [number for number, *_ in self._acknowledged if number not in there]

    def close(self) -> None:
        """End its session."""
        self._hang_up()

    def __enter__(self) -> CommitClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
