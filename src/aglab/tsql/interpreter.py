"""The interpreter: batches, RPC calls and transaction requests as generators of effects."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from aglab.tsql.effects import Effect
from aglab.tsql.host import Host
from aglab.tsql.session import Session


class Interpreter:
    """Runs what one session sends.

    Parameters
    ----------
    host : Host
        The node.
    session : Session
        The connection's state, from ``host.instance.open_session(...)``.
    """

    def __init__(self, host: Host, session: Session) -> None:
        self.host = host
        self.session = session

    def run_batch(self, text: str, parameters: Iterable[Any] | None = None) -> Generator[Effect, Any, None]:
        """Run a batch; ``parameters`` (name, value, type) become declared variables."""
        raise NotImplementedError
        yield

    def run_rpc(self, name_or_id: str | int, parameters: Iterable[Any]) -> Generator[Effect, Any, None]:
        """Run a procedure by name or well-known id; parameters have .name, .value, .type (SqlType), .is_output."""
        raise NotImplementedError
        yield

    def transaction_request(self, kind: str, name: str = "", isolation: int = 0, begin_after: bool = False) -> Generator[Effect, Any, None]:
        """A transaction manager request: "begin", "commit", "rollback", "save"."""
        raise NotImplementedError
        yield

    def close(self) -> None:
        """The client left: roll back and forget the session."""
        self.host.instance.close_session(self.session)
