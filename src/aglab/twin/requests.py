"""How a node takes its clients' messages: login, request, cancel, disconnect. Called on the world thread."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

from aglab.tds import BulkLoad, LoginRequest, Rpc, SqlBatch, TransactionRequest
from aglab.tsql import Message
from aglab.tsql.interpreter import RPC_NAMES
from aglab.tsql.messages import text_of
from aglab.tsql.permissions import is_sysadmin, server_allows, user_of
from aglab.twin.clients import Client
from aglab.twin.contained import wanted
from aglab.twin.governor import Governor, classify
from aglab.twin.governor_limits import admit, left
from aglab.twin.logins import fits
from aglab.twin.persistent_memory import OFFLINE, RECOVERY_PENDING
from aglab.twin.security import LoginGate, same_secret
from aglab.twin.traces.raising import BATCH, traced
from aglab.twin.traces.sessions import Traces

if TYPE_CHECKING:
    from collections.abc import Generator

    from aglab.twin.cluster import Cluster
    from aglab.twin.errorlog import ErrorLog
    from aglab.twin.listener import Connection
    from aglab.twin.node import Node

_DISABLED = (18470, 14, 1, "Login failed for user '{}'. Reason: The account is disabled.")
SESSIONS_MAX = 250  # for each node
NAME_MAX = 128


class Requests:
    """The client-facing half of :class:`aglab.twin.node.Node`."""

    cluster: Cluster
    name: str
    instance: Any
    errorlog: ErrorLog
    clients: dict[int, Client]
    governor: Governor
    traces: Traces
    accepting: bool
    logins: int
    logouts: int
    sa_password: str = ""
    gate: LoginGate = LoginGate()

    def log_line(self, text: str, source: str = "Server") -> None:
        """A line of the errorlog."""
        raise NotImplementedError

    def refusal(self, database: str, read_only_intent: bool = False, for_write: bool = False) -> Any:
        """Why the availability group keeps a client from a database here, or None."""
        raise NotImplementedError

    @property
    def _node(self) -> Node:
        return cast("Node", self)

    # -- coming in -----------------------------------------------------------------------------------------------
    def login(self, connection: Connection, request: LoginRequest) -> None:
        """Check who wants in, and open a session."""
        if not self.accepting:
            connection.reject(
                [Message(17142, 14, 1, "SQL Server service has been paused. No new connections will be allowed.")], 0.0
            )
            return
        self.cluster.groups.catch_up()
        user = request.user[:NAME_MAX]
        environment = wanted(self._node, connection.via.group if connection.via is not None else None, request.database)
        seen: Any = environment or self.instance
        problem = self._login_problem(request, seen)
        if problem is not None:
            state, reason = problem
            number = 18470 if state == 1 else 18456
            self.log_line(f"Error: {number}, Severity: 14, State: {state}.", "Logon")
            self.log_line(f"Login failed for user '{user}'. Reason: {reason} [CLIENT: 127.0.0.1]", "Logon")
            shown = Message(*_DISABLED[:3], _DISABLED[3].format(user)) if number == 18470 else _login_failed(user)
            connection.reject([shown], self.gate.failed(user))
            return
        if len(self.clients) >= SESSIONS_MAX:
            text = f"aglab twin: node {self.name} has {SESSIONS_MAX} sessions, its limit; close some."
            connection.reject([Message(17809, 20, 1, text)], 0.0)
            return
        login = seen.logins[user.lower()]
        database = request.database or str(login.get("default_database_name") or "master")
        found = seen.database(database)
        closed = found is None or found.options["state"] in (RECOVERY_PENDING, OFFLINE)
        if found is None or closed or user_of(seen, found, user) is None:
            connection.reject([self._not_opened(user, request.database, database), _login_failed(user)], 0.0)
            return
        place = self.cluster.addresses.route(self, connection.via, found.name, request.read_only_intent)  # type: ignore[arg-type]
        if place is not None:
            self.gate.succeeded(user)
            connection.route(*place)
            return
        refused = self.refusal(found.name, request.read_only_intent)
        if refused is not None:
            connection.reject([Message(refused.number, refused.severity, refused.state, refused.text)], 0.0)
            return
        self.gate.succeeded(user)
        self.logins += 1
        session = self.instance.open_session(
            login=user,
            database=found.name,
            host_name=request.host[:NAME_MAX],
            program_name=request.app[:NAME_MAX],
            client_interface=request.library[:32],
            is_sysadmin=is_sysadmin(seen, user),
            environment=environment,
            read_only_intent=request.read_only_intent,
        )
        classify(self, session)  # type: ignore[arg-type]
        client = Client(self, connection, session, self.cluster.world.wall())  # type: ignore[arg-type]
        session.login_time = self.now()  # type: ignore[attr-defined]
        self.clients[session.spid] = client
        connection.session = client
        connection.accept(seen.shown(found)[0], request.language or "us_english", session.spid)

    def _not_opened(self, user: str, asked: str, database: str) -> Message:
        """Error 4060, or 4064 where no database was asked for and the login's own cannot be opened; 18456 follows."""
        state, which = (38, "explicitly specified database") if asked else (40, "database")
        tail = "" if asked else " specified in the login properties"
        self.log_line(f"Error: 18456, Severity: 14, State: {state}.", "Logon")
        reason = f"Failed to open the {which} '{database[:NAME_MAX]}'{tail}."
        self.log_line(f"Login failed for user '{user}'. Reason: {reason} [CLIENT: 127.0.0.1]", "Logon")
        if not asked:
            return Message(4064, 11, 1, "Cannot open user default database. Login failed.")
        return Message(4060, 11, 1, f'Cannot open database "{database[:NAME_MAX]}" requested by the login. The login failed.')

    def _login_problem(self, request: LoginRequest, seen: Any) -> tuple[int, str] | None:
        """State of error 18456 and its reason, as the errorlog has them ("MSSQLSERVER_18456"); state 1 stands for 18470."""
        if request.integrated_security:
            return 5, "Could not find a login matching the name provided."
        login = seen.logins.get(request.user.lower())
        if login is None:
            same_secret(request.password, self.sa_password)  # the same time as for a login that exists
            return 5, "Could not find a login matching the name provided."
        if request.user.lower() == "sa":
            right = bool(self.sa_password) and same_secret(request.password, self.sa_password)
        else:
            right = fits(login, request.password)
        if not right and login.get("is_disabled"):
            return 7, "An error occurred while evaluating the password."
        if not right:
            return 8, "Password did not match that for the login provided."
        if login.get("is_disabled"):
            return 1, "The account is disabled."
        if not server_allows(seen, request.user, "CONNECT SQL"):
            return (
                12,
                "Login-based server access validation failed with an infrastructure error. Login lacks Connect SQL permission.",
            )
        return None

    # -- running -------------------------------------------------------------------------------------------------
    def request(self, connection: Connection, request: Any) -> None:
        """Begin what the client sent."""
        client = connection.session
        if client is None or client.gone:
            return
        looks = self.cluster.plant.looks
        self.cluster.world.begin(client, self._generate(client, request), lambda: self._finished(client, request, looks))

    def at_once(self, connection: Connection, request: Any) -> bool:
        """Run a request that is known to be quick on the thread that calls; False where that may not be."""
        client = connection.session
        if client is None or client.gone or not self.cluster.quick.may(client, request):
            return False
        return self.cluster.world.at_once(lambda: self.request(connection, request))

    def _generate(self, client: Client, request: Any) -> Generator[Any, Any, None]:
        interpreter = client.interpreter
        client.session.stop_asked = client.gone
        self.cluster.groups.catch_up()
        if getattr(request, "reset", False):
            self._reset(client, bool(request.reset_keep_transaction))
        if self.governor.enabled:
            yield from admit(self, client.session)  # type: ignore[arg-type]
        traced_now = bool(self.traces.watched & BATCH)
        if isinstance(request, SqlBatch):
            effects = interpreter.run_batch(request.text)
            yield from traced(self, client.session, effects, request.text) if traced_now else effects  # type: ignore[arg-type]
        elif isinstance(request, Rpc):
            effects = interpreter.run_rpc(request.name, request.params)
            if traced_now:
                name = str(RPC_NAMES.get(request.name, request.name))  # type: ignore[call-overload]
                text = next((one.value for one in request.params if isinstance(one.value, str)), name)
                effects = traced(self, client.session, effects, text, name)  # type: ignore[arg-type]
            yield from effects
        elif isinstance(request, TransactionRequest):
            yield from interpreter.transaction_request(
                request.kind,
                name=request.name or request.begin_name,
                isolation=request.isolation,
                begin_after=request.begin_after,
            )
        elif isinstance(request, BulkLoad):
            yield from interpreter.bulk_load(request)
        else:
            text = f"aglab twin: a {type(request).__name__} request is not implemented."
            yield Message(50003, 16, 1, text)

    def _reset(self, client: Client, keep_transaction: bool) -> None:
        """A pooled connection begins anew (the wire acknowledges by itself)."""
        self.cluster.world.leave(client)
        if keep_transaction:
            client.session.reset()
        else:
            deque(client.interpreter.reset(), maxlen=0)
        classify(self, client.session)  # type: ignore[arg-type]  # every new session is, a pooled connection's too

    def _finished(self, client: Client, request: Any, looks: int) -> None:
        task = client.task
        if task is not None:
            spent_s = self.cluster.world.wall() - task.turn_began_s
            self.cluster.quick.note(client, request, task.turns, spent_s, self.cluster.plant.looks != looks)
        client.request_ended()
        self.governor.count(client.session)
        if self.governor.running:
            left(self, client.session)  # type: ignore[arg-type]
        if client.gone:
            self._forget(client)
        elif client.hang_up_after:
            self.cluster.world.call(lambda: self.drop(client))

    # -- going ---------------------------------------------------------------------------------------------------
    def cancel(self, connection: Connection) -> None:
        """An attention: end what runs; if nothing runs any more, say so."""
        client = connection.session
        if client is None:
            return
        if client.task is None:
            connection.attention_done()
        else:
            client.task.cancel()

    def drained(self, connection: Connection) -> None:
        """A chunk has reached the socket."""
        client = connection.session
        if client is not None and client.task is not None:
            client.task.drained()

    def disconnected(self, connection: Connection) -> None:
        """The client has gone: cancel, roll back, release."""
        client = connection.session
        if client is None or client.gone:
            return
        client.gone = True
        self.cluster.world.leave(client)
        if client.task is None:
            self._forget(client)
        else:
            client.task.cancel()

    def drop(self, client: Client) -> None:
        """Close a client's connection from this side."""
        client.sink.hang_up()
        self.disconnected(client.sink)

    def _forget(self, client: Client) -> None:
        if self.clients.pop(client.session.spid, None) is not None:
            self.logouts += 1
            client.interpreter.close()


def _login_failed(user: str) -> Message:
    try:
        text = text_of(18456, user)
    except (KeyError, IndexError):
        text = f"Login failed for user '{user}'."
    return Message(18456, 14, 1, text)
