"""Asks a cluster the questions of the difference corpus: records the answers, or replays a recording and says what differs.

Result sets and their types come over ``mssql-python``. It hands on no severity and no state, so a question that fails is sent
once more over ``pymssql``, which does: questions leave nothing behind and may be sent twice.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.core.progress import Progress, no_progress
from aglab.lab.cluster import Cluster
from aglab.lab.driver import messages
from aglab.lab.login import driver_name
from aglab.lab.results import ConnectionLost, SqlFailed
from aglab.live.corpus import REAL as SQL_SERVER
from aglab.live.corpus import STAND_IN as TWIN
from aglab.live.corpus import Answer, Column, Question, Recording, ResultSet, Verdict, compare, scrubbed, write

_SIZED = {-9: "nvarchar", -8: "nchar", 12: "varchar", 1: "char", -2: "binary", -3: "varbinary"}
_PLAIN = {4: "int", 5: "smallint", -6: "tinyint", -5: "bigint", -7: "bit", 6: "float", 7: "real", 91: "date", 2: "numeric"}
_OTHER = {
    -11: "uniqueidentifier",
    -150: "sql_variant",
    -152: "xml",
    -154: "time",
    -155: "datetimeoffset",
    -1: "text",
    -4: "image",
}
_SIZE_MAX = 8000
SEVERITY_OF_ERRORS = 11


def type_name(kind: int, size: int, digits: int) -> str:
    """A column's type as T-SQL writes it, from what ODBC says of it.

    >>> type_name(-9, 128, 0), type_name(-9, 0, 0), type_name(3, 10, 3), type_name(93, 23, 3), type_name(4, 10, 0)
    ('nvarchar(128)', 'nvarchar(max)', 'decimal(10,3)', 'datetime', 'int')
    """
    if kind in _SIZED:
        return f"{_SIZED[kind]}({size if 0 < size <= _SIZE_MAX else 'max'})"
    if kind in (2, 3):
        return f"{'numeric' if kind == 2 else 'decimal'}({size},{digits})"
    if kind == 93:
        return {(23, 3): "datetime", (16, 0): "smalldatetime"}.get((size, digits), f"datetime2({digits})")
    return {**_PLAIN, **_OTHER}.get(kind, f"odbc type {kind}")


def who(cluster: Cluster) -> tuple[str, str]:
    """Who answers (``stand-in`` or ``SQL Server``) and the first lines of its version; a simulation says so in its errorlog."""
    version = str(cluster.sql("SELECT @@VERSION AS version").value).splitlines()[0].strip()
    simulated = cluster.mode == "twin" or len(cluster.sql("EXEC sp_readerrorlog 0, 1, N'SIMULATED'").table) > 0
    return (TWIN if simulated or "aglab" in version.lower() else SQL_SERVER), version


def ask(cluster: Cluster, question: Question) -> Answer:
    """The answer to one question, scrubbed.

    Raises
    ------
    UsageError
        The driver in use names no types.
    """
    if driver_name() != "mssql-python":
        raise UsageError(f"AGLAB_DRIVER={driver_name()} does not name types as the corpus has them", "unset AGLAB_DRIVER")
    answer = Answer()
    with cluster.connect(question.node, question.database) as connection:
        cursor = connection.cursor()
        try:
            cursor.execute(question.statement)
            _take(cursor, answer)
            while cursor.nextset():
                _take(cursor, answer)
        except Exception as error:  # noqa: BLE001 - the driver's own classes; what is not an answer is raised again below
            failed: Exception | None = error
        else:
            failed = None
        finally:
            cursor.close()
    if failed is not None:
        answer.error, answer.messages = _error(cluster, question, failed)
    return scrubbed(answer, question.varies)


def _take(cursor: Any, answer: Answer) -> None:
    answer.messages += messages(cursor)
    if not cursor.description:
        return
    from mssql_python import ddbc_bindings

    described: list[dict[str, Any]] = []
    ddbc_bindings.DDBCSQLDescribeCol(cursor.hstmt, described)  # type: ignore[attr-defined]
    columns = [
        Column(one["ColumnName"], type_name(one["DataType"], one["ColumnSize"], one["DecimalDigits"]), one["Nullable"] != 0)
        for one in described
    ]
    answer.results.append(ResultSet(columns, [list(row) for row in cursor.fetchall()]))


def _error(cluster: Cluster, question: Question, failed: Exception) -> tuple[dict[str, Any], list[str]]:
    """The error of a question with severity and state, and the messages before it."""
    try:
        from pymssql import _mssql
    except ImportError:
        raise MissingError("severity and state of an error need the package pymssql", "pip install 'aglab[test]'") from None
    node = cluster.node(question.node)
    errors: list[dict[str, Any]] = []
    messages: list[str] = []

    def heard(state: int, severity: int, server: bytes, procedure: bytes, line: int, text: bytes) -> None:
        said = text.decode("utf-8", "replace")
        if severity >= SEVERITY_OF_ERRORS:
            errors.append({"severity": severity, "state": state, "line": line, "text": said})
        else:
            messages.append(said)

    raw = _mssql.connect(
        server=node.server, port=str(node.port), user=cluster.user, password=cluster._password(), database=question.database
    )
    number = None
    try:
        messages.clear()
        raw.set_msghandler(heard)
        raw.execute_query(question.statement)
        while raw.nextresult():
            pass
    except _mssql.MSSQLDatabaseException as error:
        number = error.number
    finally:
        raw.close()
    if number is None or not errors:
        raise AglabError(f"question {question.name} failed once and not the second time: {failed}", "ask it in two questions")
    return {"number": number, **errors[0]}, messages


def record(cluster: Cluster, questions: Sequence[Question], folder: Path, progress: Progress = no_progress) -> list[Path]:
    """Ask every question and write its recording; who answered is looked up, not claimed."""
    evidence, server = who(cluster)
    today = dt.date.today().isoformat()
    written = []
    for number, question in enumerate(questions):
        progress(number, len(questions), question.name)
        written.append(write(folder, Recording(question, evidence, server, today, ask(cluster, question))))
    progress(len(questions), len(questions), "recorded")
    return written


def replay(cluster: Cluster, recordings: Sequence[Recording], progress: Progress = no_progress) -> list[Verdict]:
    """Ask again what was recorded; one verdict for each. A node that is gone is an error, not a difference."""
    verdicts = []
    for number, recording in enumerate(recordings):
        progress(number, len(recordings), recording.question.name)
        try:
            now = ask(cluster, recording.question)
        except ConnectionLost:
            raise
        except SqlFailed as error:  # the login: a database that takes nobody in
            now = Answer(error={"number": error.number, "severity": 0, "state": 0, "line": 0, "text": error.text})
        verdicts.append(compare(recording.answer, now, recording.question.name))
    progress(len(recordings), len(recordings), "compared")
    return verdicts


def form_group(cluster: Cluster, folder: Path) -> None:
    """Group ag1 on three bare nodes by the scripts of ``docker/sql``, in the order of ``docker/init/form_group.sh``.

    Parameters
    ----------
    cluster : Cluster
        Without an availability group.
    folder : Path
        The scripts.
    """
    nodes = [node.name for node in cluster.nodes]
    secret = f"aA1-{uuid.uuid4()}"
    shared = {"share": "/var/opt/aglab", "MASTER_KEY_PASSWORD": secret, "PEER_LOGIN_PASSWORD": secret}
    group = {"group_options": "CLUSTER_TYPE = NONE", "failover_mode": "MANUAL", "cluster_type": "NONE"}

    def run(script: str, on: str, **variables: str) -> None:
        text = (folder / script).read_text(encoding="utf-8")
        for name, value in {**shared, **group, **variables}.items():
            text = text.replace(f"$({name})", value)
        cluster.sql(text, on)

    prints = {}
    for node in nodes:
        run("01_certificate.sql", node, node=node)
        run("02_endpoint.sql", node, node=node)
        query = f"SELECT CONVERT(varchar(64), thumbprint, 2) FROM sys.certificates WHERE name = N'{node}_certificate'"
        prints[node] = str(cluster.sql(query, node).value)
    for node in nodes:
        for peer in (one for one in nodes if one != node):
            run("03_trust_peer.sql", node, peer=peer, thumbprint=prints[peer])
    run("04_create_group.sql", nodes[0])
    for node in nodes[1:]:
        run("05_join_group.sql", node)
    run("06_add_database.sql", nodes[0])
    run("08_wait_until_synchronized.sql", nodes[0])
