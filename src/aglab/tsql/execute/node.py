"""Talking to the node: changes announced, commands handed over."""

from __future__ import annotations

from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.host import Change, Command
from aglab.tsql.messages import error, not_implemented


class NodeMixin(BaseExecutor):
    """Talking to the node: changes announced, commands handed over."""

    def announce(self, change: Change) -> Effects[None]:
        """Tell the node that a setting took effect."""
        effects = self.runtime.host.changed(change, self.session)
        if effects is not None:
            yield from effects

    def _no_transaction(self, what: str, line: int) -> None:
        if self.session.trancount:
            raise error(226 if what.startswith(("CREATE", "ALTER", "DROP")) else 3021, what, line=line)

    def _node(self, command: Command, line: int) -> Effects[None]:
        effects = self.runtime.host.administer(command, self.session)
        if effects is None:
            raise not_implemented(command.name, line)
        yield from effects
