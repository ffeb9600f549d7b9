"""Which requests are so short that handing them to the world's thread costs more than running them.

A text counts as quick when all it does is read (SELECT, SET, DECLARE, PRINT) and its last run ended in one slice of less than
:data:`QUICK_S`. One that looks at the engine is quick only while the engine is up to date: simulation stays off the event loop.
What is learned here changes where a request runs, never what it answers.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from aglab.tds import Rpc, SqlBatch
from aglab.tsql import ast_statements as st
from aglab.tsql.interpreter import known

if TYPE_CHECKING:
    from aglab.twin.clients import Client
    from aglab.twin.cluster import Cluster

QUICK_S = 0.002  # wall seconds
TEXTS_KEPT = 500
TEXT_CHARACTERS_MAX = 20_000
BEHIND_S_MAX = 5.0  # virtual seconds that the engine may have to advance on the event loop
READING = (st.SetOption, st.SetVariable, st.Declare, st.Print, st.SetIsolation)
PREPARED = {"sp_executesql": 0, "sp_prepexec": 2}  # which parameter is the statement


class Quick:
    """Texts that were quick when they last ran, and whether they look at the engine."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.texts: OrderedDict[str, bool] = OrderedDict()

    def may(self, client: Client, request: Any) -> bool:
        """Whether a request may run on the event loop."""
        if isinstance(request, Rpc) and request.name == "sp_unprepare":
            return True
        looks = self.texts.get(_text(client, request))
        if looks is None or self.cluster.groups.seeding.due_s() is not None:
            return False
        if not looks:
            return True
        plant = self.cluster.plant
        if plant.behind_s() > BEHIND_S_MAX:
            return False
        due_s = plant.due_s()
        return due_s is None or due_s > self.cluster.clock.now_s

    def note(self, client: Client, request: Any, turns: int, spent_s: float, looks: bool) -> None:
        """A request has ended: it took ``turns`` slices, the last of ``spent_s`` wall seconds."""
        text = _text(client, request)
        if turns != 1 or spent_s > QUICK_S:
            self.texts.pop(text, None)
        elif text and text not in self.texts:
            body = known(text)
            if body and all(_reads(one) for one in body):
                self.texts[text] = looks
                if len(self.texts) > TEXTS_KEPT:
                    self.texts.popitem(last=False)
        elif looks and text:
            self.texts[text] = True


def _text(client: Client, request: Any) -> str:
    """The statements of a batch, or of a call that carries or names a text; empty for anything else."""
    text: Any = ""
    if isinstance(request, SqlBatch):
        text = request.text
    elif isinstance(request, Rpc) and request.params:
        if request.name == "sp_execute":
            text = client.session.prepared.get(request.params[0].value, ("", ""))[1]
        else:
            place = PREPARED.get(request.name, len(request.params))
            text = request.params[place].value if place < len(request.params) else ""
    return text if isinstance(text, str) and len(text) <= TEXT_CHARACTERS_MAX else ""


def _reads(statement: st.Statement) -> bool:
    if isinstance(statement, st.QueryStatement):
        return getattr(statement.query, "into", None) is None
    return type(statement) in READING
