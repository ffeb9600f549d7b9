"""What a client sees of an availability group, and the promises it may hold the nodes to. Knows nothing of the model.

Every promise is judged from result sets alone: rows of the user's tables, and the availability-group views. Each has a name,
:data:`PROMISES`, and a failure says which one was broken.

The book-keeping: a *line* is the list of transactions in the log of a primary, each with the LSN where it ends
(``last_commit_lsn`` as the primary shows it). A replica whose database moves follows its primary's line; one that does not keeps
the line it followed last. A failover cuts the target's line at what the target says it has hardened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PROMISES = {
    "kept": "an acknowledged transaction survives every failover that claims no loss",
    "synchronized": "what was acknowledged while a replica was SYNCHRONIZED survives a failover to it",
    "loss": "a forced failover loses what its target had not hardened, and nothing else",
    "order": "sent >= received >= hardened >= redone",
    "forward": "LSNs of a replica grow, but for a rewind after a failover",
    "one primary": "two primaries never both serve, but where the documentation allows it",
    "refused": "what was refused or rolled back is not there",
    "atomic": "every transaction is there as a whole or not at all",
    "prefix": "a readable secondary shows what its primary committed up to some moment, in order",
    "ready": "a replica marked failover ready has hardened every acknowledged transaction",
    "suspended": "a suspended or disconnected replica receives no log",
    "converge": "after repair and resumption every replica holds the primary's rows",
}
SLOT = 10**5  # the last digits of an LSN: the slot in its block


class Broken(AssertionError):
    """A promise was broken; ``promise`` is its key in :data:`PROMISES`."""

    def __init__(self, promise: str, detail: str) -> None:
        super().__init__(f"{promise}: {PROMISES[promise]} ({detail})")
        self.promise = promise


@dataclass
class Line:
    """Transactions in one log, oldest first: (block where it ends, key)."""

    items: list[tuple[int, str]] = field(default_factory=list)

    def keys(self) -> set[str]:
        """What is in it."""
        return {key for _, key in self.items}

    def cut(self, block: int) -> tuple[list[tuple[int, str]], set[str]]:
        """What is certainly in the log up to a block, and what ends inside that very block."""
        return [one for one in self.items if one[0] < block], {key for at, key in self.items if at == block}


class TdsChecker:
    """Remembers what clients were told; :meth:`saw` and :meth:`became_primary` raise :class:`Broken`."""

    def __init__(self, nodes: list[str], primary: str, two_allowed: bool) -> None:
        line = Line()
        self.lines: dict[str, Line] = dict.fromkeys(nodes, line)  # node -> the line it holds or follows
        self.primary = primary
        self.always_two = two_allowed  # CLUSTER_TYPE = NONE
        self.two_allowed = two_allowed
        self.acknowledged: dict[str, frozenset[str]] = {}  # key -> replicas that were SYNCHRONIZED then
        self.optional: set[str] = set()  # outcome never heard of
        self.refused: set[str] = set()
        self.forfeited: set[str] = set()  # lost by a failover that was allowed to
        self.last: dict[str, dict[str, int]] = {}  # node -> its positions
        self.quiet: dict[str, int] = {}  # node -> what it had received when it was suspended or cut off
        self.judged = dict.fromkeys(PROMISES, 0)

    def require(self, promise: str, condition: bool, detail: str) -> None:
        """Count a judgement."""
        self.judged[promise] += 1
        if not condition:
            raise Broken(promise, detail)

    # -- transactions --------------------------------------------------------------------------------------------
    def acknowledge(self, primary: str, key: str, rows: list[dict[str, Any]]) -> None:
        """A commit was answered; ``rows`` are the primary's database replica states right after it."""
        own = next(row for row in rows if row["local"])
        self.lines[primary].items.append((int(own["committed"] or 0) // SLOT, key))
        self.acknowledged[key] = frozenset(row["n"] for row in rows if row["ready"] and not row["local"])
        self.saw(primary, rows)

    def in_doubt(self, key: str) -> None:
        """The connection ended inside the statement."""
        self.optional.add(key)

    def refuse(self, key: str) -> None:
        """The statement ended with an error, or was rolled back."""
        self.refused.add(key)

    # -- states --------------------------------------------------------------------------------------------------
    def saw(self, node: str, rows: list[dict[str, Any]]) -> None:
        """Rows of the state views on a node: one for each replica it shows."""
        own = next((row for row in rows if row["local"]), None)
        for row in rows:
            name = row["n"]
            at = {key: int(row[key]) // SLOT for key in ("sent", "received", "hardened", "redone") if row[key] is not None}
            if len(at) == 4:
                ordered = at["sent"] >= at["received"] >= at["hardened"] >= at["redone"]
                self.require("order", ordered, f"{name} as {node} shows it: {at}")
            if row["local"]:
                self._moved(name, at)
            moving = row["state"] != "NOT SYNCHRONIZING" and not row["suspended"]
            if own is not None and own["primary"] and not row["local"]:
                self._remote(node, name, row, at, moving)

    def _moved(self, name: str, at: dict[str, int]) -> None:
        before = self.last.get(name, {})
        for key, value in at.items():
            if key in ("hardened", "redone"):
                self.require("forward", value >= before.get(key, 0), f"{name} {key} {before.get(key)} -> {value}")
        self.last[name] = at

    def _remote(self, primary: str, name: str, row: dict[str, Any], at: dict[str, int], moving: bool) -> None:
        if moving:
            if self.lines[name] is not self.lines[primary]:
                self.lines[name] = self.lines[primary]
                self.last.pop(name, None)  # a rewind may lie between
            self.quiet.pop(name, None)
        elif row["suspended"]:
            held = self.quiet.setdefault(name, at.get("received", 0))
            self.require("suspended", at.get("received", 0) <= held, f"{name} received up to {at.get('received')} after {held}")
        if row["ready"] and moving:
            ends = [block for block, key in self.lines[primary].items if key in self.acknowledged]
            behind = max(ends, default=0)
            self.require("ready", at.get("hardened", behind) >= behind, f"{name} hardened {at.get('hardened')}, needs {behind}")

    def roles(self, serving: list[str], disturbed: bool) -> None:
        """Which nodes call themselves PRIMARY and let clients in; ``disturbed``: links are cut or nodes are down."""
        if len(serving) > 1:
            self.require("one primary", self.two_allowed, f"{serving}")
        elif len(serving) == 1 and not disturbed:
            self.two_allowed = self.always_two

    # -- failovers -----------------------------------------------------------------------------------------------
    def became_primary(self, node: str, hardened: int, lossless: bool, rows: set[str], detail: str) -> None:
        """A node took the primary role and shows ``rows`` (keys); it said before that it had hardened up to ``hardened``.

        ``lossless``: the way it became primary claims that nothing acknowledged is lost.
        """
        own = self.lines[node]
        kept, edge = own.cut(hardened // SLOT) if hardened else (list(own.items), set())
        certain = {key for _, key in kept}
        must = certain - self.optional
        may = certain | edge | self.optional
        promised = {key for key in self.acknowledged if key not in self.forfeited}
        if lossless:
            gone = sorted(promised - rows)
            self.require("kept", not gone, f"{detail}: {gone[:5]}")
        safe = sorted(key for key in promised - rows if node in self.acknowledged[key])
        self.require("synchronized", not safe, f"{detail}: {safe[:5]}")
        self.require("loss", must <= rows, f"{detail}: hardened but lost {sorted(must - rows)[:5]}")
        self.require("loss", rows <= may, f"{detail}: not hardened but there {sorted(rows - may)[:5]}")
        self.forfeited |= promised - rows
        self.forfeited -= rows
        self.lines[node] = Line([one for one in own.items if one[1] in rows])
        self.primary = node
        self.last.pop(node, None)
        for name in self.quiet:
            self.quiet[name] = 1 << 62
        if not lossless:
            self.two_allowed = True

    # -- rows ----------------------------------------------------------------------------------------------------
    def rows_on(self, node: str, rows: set[str], sums: tuple[int, int], whole: bool) -> None:
        """The transactions that a node shows; ``sums``: the total of the accounts and what it has to be.

        ``whole``: the node serves as primary, or has had time to redo everything.
        """
        self.require("atomic", sums[0] == sums[1], f"{node}: the accounts add up to {sums[0]}, not {sums[1]}")
        there = sorted(rows & self.refused)
        self.require("refused", not there, f"{node}: {there[:5]}")
        known = [key for _, key in self.lines[node].items]
        foreign = sorted(rows - set(known) - self.optional)
        self.require("prefix", not foreign, f"{node} shows {foreign[:5]}")
        gaps = [key not in rows for key in known]
        self.require("prefix", gaps == sorted(gaps), f"{node} lacks {[key for key in known if key not in rows][:5]}")
        if whole:
            self.require("converge", set(known) <= rows, f"{node} lacks {sorted(set(known) - rows)[:5]}")
