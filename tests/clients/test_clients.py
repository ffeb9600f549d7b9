"""Clients that DBAs' own tools are built on, against a running twin: go-mssqldb, mssql-jdbc, tedious, tiberius, .NET's SqlClient.

One small program per client runs the same list of checks and prints a JSON line for each: the values it saw, in a spelling
that all clients share (text; None for NULL). What the values must be stands here, once. A program is built where its
toolchain is present, into the ignored folder ``build/clients``; otherwise its checks are skipped with the reason.

Run with ``make test-clients``. ``CLIENTS_ONLY=go`` narrows it to one client.
"""

from __future__ import annotations

import decimal
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from aglab.twin import spawn_child

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "clients"
BUILD_S_MAX = 800
RUN_S_MAX = 300
GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
WORDS = "Grüße 漢字 😀"
ROWS = 100_000

CASTS = {
    "int": ("42", "42"),
    "bigint": ("-9007199254740991", "-9007199254740991"),
    "bit": ("1", "1"),
    "decimal(18,4)": ("-1234.5678", "-1234.5678"),
    "float": ("2.5", "2.5"),
    "varchar(50)": ("'plain'", "plain"),
    "nvarchar(50)": (f"N'{WORDS}'", WORDS),
    "nvarchar(max)": ("REPLICATE(CAST(N'漢' AS nvarchar(max)), 8000)", "漢" * 8000),
    "datetime2(3)": ("'2026-01-02T03:04:05.678'", "2026-01-02T03:04:05.678"),
    "date": ("'2026-01-02'", "2026-01-02"),
    "uniqueidentifier": (f"'{GUID}'", GUID),
    "varbinary(8)": ("0x0102FF", "0102ff"),
}
QUERIES = {
    "Types": "SELECT " + ", ".join(f"CAST({text} AS {name}) AS c{i}" for i, (name, (text, _)) in enumerate(CASTS.items())),
    "Nulls": "SELECT " + ", ".join(f"CAST(NULL AS {name}) AS c{i}" for i, name in enumerate(CASTS)),
    "Dmv": (
        "SELECT RTRIM(counter_name), cntr_type, CASE WHEN cntr_value > 0 THEN 1 ELSE 0 END FROM sys.dm_os_performance_counters "
        "WHERE object_name LIKE N'%:SQL Statistics%' AND counter_name = N'Batch Requests/sec'"
    ),
    "Rows": f"SELECT CAST(value AS int) AS n, CAST(value * 2 AS int) AS twice FROM GENERATE_SERIES(1, {ROWS})",
    "BulkNew": (
        "DROP TABLE IF EXISTS dbo.bulk_rows; "
        "CREATE TABLE dbo.bulk_rows (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL, n float NULL DEFAULT 7)"
    ),
    "BulkSeen": "SELECT COUNT(*), SUM(id), MAX(word), MAX(CASE id WHEN 2 THEN CAST(n AS int) END) FROM dbo.bulk_rows",
    "TableNew": (
        "DROP PROCEDURE IF EXISTS dbo.take_rows; DROP TYPE IF EXISTS dbo.some_rows; "
        "CREATE TYPE dbo.some_rows AS TABLE (id int NOT NULL PRIMARY KEY, word nvarchar(20) NULL, n float NULL)"
    ),
    "TableTake": (
        "CREATE PROCEDURE dbo.take_rows @rows dbo.some_rows READONLY AS SELECT COUNT(*), SUM(id), MAX(word), MAX(n) FROM @rows"
    ),
    "Slow": "WAITFOR DELAY '00:00:30'",
    "Dirty": "USE OLTP; SET LOCK_TIMEOUT 123; CREATE TABLE #kept (id int); BEGIN TRANSACTION",
    "State": "SELECT @@SPID, DB_NAME(), @@LOCK_TIMEOUT, OBJECT_ID(N'tempdb..#kept'), @@TRANCOUNT",
}
CLIENTS = {
    "go": {"connect disable": "FALSE", "connect false": "FALSE", "connect true": "TRUE", "connect strict": "TRUE"},
    "jdbc": {"connect false": "FALSE", "connect true": "TRUE", "connect strict": "TRUE"},
    "tedious": {"connect false": "FALSE", "connect true": "TRUE", "connect strict": "TRUE"},
    "dotnet": {"connect false": "FALSE", "connect true": "TRUE"},
    "tiberius": {"connect NotSupported": "FALSE", "connect Off": "FALSE", "connect On": "TRUE", "connect Required": "TRUE"},
}
CHECKS = "wrong password,version,types,nulls,parameters,two results,error,transaction,dmv,rows,cancel,abandon,pool".split(",")


def needs(*tools: str) -> list[str]:
    """The full paths of a toolchain's programs, or a skip that names the missing one."""
    found = [shutil.which(tool) for tool in tools]
    for tool, path in zip(tools, found, strict=True):
        if path is None:
            pytest.skip(f"{tool} is not on the PATH")
    return [path for path in found if path]


def made(command: list[str], folder: Path, **environment: str) -> None:
    """Run one build step; a registry that cannot be reached is a skip only where CLIENTS_OFFLINE says so."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=BUILD_S_MAX, env={**os.environ, **environment}
    )
    if done.returncode:
        text = f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-2000:]}"
        pytest.skip(text) if os.environ.get("CLIENTS_OFFLINE") else pytest.fail(text)


def build(client: str) -> list[str]:
    """Build one client's program; the command that runs it."""
    source, target = HERE / client, BUILD / client
    target.mkdir(parents=True, exist_ok=True)
    if client == "go":
        (go,) = needs("go")
        made([go, "build", "-p", "1", "-o", str(target / "clientcheck"), "."], source)
        return [str(target / "clientcheck")]
    if client == "jdbc":
        maven, java, _compiler = needs("mvn", "java", "javac")
        pom = ["-q", "-B", "-f", str(source / "pom.xml")]
        if not list(target.glob("*.jar")):
            made([maven, *pom, "dependency:copy-dependencies", f"-DoutputDirectory={target}"], source)
        return [java, "-cp", f"{target}{os.sep}*", str(source / "Check.java")]
    if client == "tedious":
        node, npm = needs("node", "npm")
        for file in ("package.json", "check.js"):
            shutil.copy(source / file, target)
        made([npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent", "--prefer-offline"], target)
        return [node, str(target / "check.js")]
    if client == "dotnet":
        return [str(build_dotnet(source, target))]
    (cargo,) = needs("cargo")
    shutil.copytree(source, target, dirs_exist_ok=True)
    made([cargo, "build", "-q", "-j1"], target, CARGO_TARGET_DIR=str(target / "target"))
    return [str(target / "target" / "debug" / "clientcheck")]


DOTNET_HOST = "MicrosoftSqlToolsServiceLayer"


def build_dotnet(source: Path, target: Path) -> Path:
    """Mono's compiler makes the program; .NET Core, SqlClient and SMO come with the SQL tools service in the wheel of mssql-cli.

    The service's host starts the assembly of its own name, so the program takes that name. This .NET wants OpenSSL 1.1, which
    Debian no longer has and pymssql's wheel brings along.
    """
    (compiler,) = needs("mcs")
    folder = target / "bin"
    if not (folder / DOTNET_HOST).is_file():
        made([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target), "mssql-cli==1.0.0"], target)
        with zipfile.ZipFile(next(target.glob("mssql_cli-*.whl"))) as wheel:
            part = "mssqlcli/mssqltoolsservice/bin/"
            for name in wheel.namelist():
                if name.startswith(part) and "/" not in name.removeprefix(part):
                    (folder / name.removeprefix(part)).parent.mkdir(exist_ok=True)
                    (folder / name.removeprefix(part)).write_bytes(wheel.read(name))
        (folder / DOTNET_HOST).chmod(0o755)
    bundled = Path(importlib.util.find_spec("pymssql").origin).parents[1] / "pymssql.libs"  # type: ignore[union-attr, arg-type]
    for name in ("libssl", "libcrypto"):
        found = sorted(bundled.glob(f"{name}-*.so.1.1*"))
        if not found:
            pytest.skip(f"{bundled} has no {name} 1.1, which .NET Core 2.2 needs")
        for link in (found[0].name, f"{name}.so.1.1"):
            (folder / link).unlink(missing_ok=True)
            (folder / link).symlink_to(found[0])
    references = [f"-r:{name}.dll" for name in ("System.Data", "System.Core", "Microsoft.CSharp")]
    sources = [str(source / name) for name in ("check.cs", "smo.cs")]
    made([compiler, "-langversion:latest", f"-out:{folder / DOTNET_HOST}.dll", *references, *sources], target)
    return folder / DOTNET_HOST


def dotnet_settings() -> dict[str, str]:
    """Where .NET Core finds OpenSSL 1.1, and the ICU of this machine, newer than it looks for by itself."""
    icu = sorted(Path("/usr/lib").glob("*/libicuuc.so.*.*"))
    version = {"CLR_ICU_VERSION_OVERRIDE": icu[-1].name.removeprefix("libicuuc.so.")} if icu else {}
    return {"LD_LIBRARY_PATH": str(BUILD / "dotnet" / "bin"), "CLR_OPENSSL_VERSION_OVERRIDE": "1.1", **version}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``seen(client)`` -> {check: its JSON line}; each program runs once, against one twin on the wall's clock."""
    only = os.environ.get("CLIENTS_ONLY")
    with spawn_child(tmp_path_factory.mktemp("clients") / "s", profile="hpe-dl380-gen9-ssd", pace="1x") as twin:

        @lru_cache
        def ran(client: str) -> dict[str, dict[str, Any]]:
            if only and only != client:
                pytest.skip(f"CLIENTS_ONLY={only}")
            node = twin.nodes[0]
            environment = {
                **os.environ,
                "CLIENT_HOST": "localhost" if client == "tiberius" else node.host,
                "CLIENT_PORT": str(node.port),
                "CLIENT_PASSWORD": twin.password(),
                "CLIENT_CERTIFICATE": str(next(twin.state_dir.glob("*certificate.pem"))),
                "CLIENT_QUERIES": json.dumps(QUERIES),
                **(dotnet_settings() if client == "dotnet" else {}),
            }
            done = subprocess.run(
                build(client), env=environment, capture_output=True, text=True, encoding="utf-8", timeout=RUN_S_MAX
            )
            assert done.returncode == 0, f"{client} ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            return {line["check"]: line for line in lines}

        yield ran


def outcome(lines: dict[str, dict[str, Any]], check: str) -> Any:
    """The value of one check; a skip where the client has no such feature, a failure where it met an error."""
    line = lines.get(check)
    assert line is not None, f"the program printed nothing for {check!r}"
    if "not_offered" in line:
        pytest.skip(line["not_offered"])
    assert "error" not in line, line["error"]
    return line["value"]


@pytest.mark.parametrize(("client", "mode"), [(client, mode) for client, modes in CLIENTS.items() for mode in modes])
def test_encryption(client, mode, seen):
    """Each encryption mode connects, and the session's row says whether it is encrypted."""
    assert outcome(seen(client), mode) == CLIENTS[client][mode]


def wrong_password(value: Any) -> None:
    """The server's login error."""
    assert value[0] == 18456 and value[1].endswith("Login failed for user 'sa'.")


def version(value: Any) -> None:
    """The product's line, with the word that it is simulated."""
    assert value.startswith("Microsoft SQL Server 2022") and "SIMULATED" in value


def types(value: Any) -> None:
    """Each type's value."""
    value[3] = str(decimal.Decimal(value[3]))
    value[10] = value[10].lower()
    assert value == [shown for _text, shown in CASTS.values()]


def nulls(value: Any) -> None:
    """NULL of each type."""
    assert value == [None] * len(CASTS)


def parameters(value: Any) -> None:
    """Parameters come back as they went: bigint, bit, float, text, long text, binary, NULL, GUID, date and time."""
    value[7] = value[7].lower()
    expected = ["9007199254740991", "1", "2.5", WORDS, "x" * 9000, "0102ff", None, GUID, "2026-01-02T03:04:05.678"]
    assert value == expected


def two_results(value: Any) -> None:
    """Two result sets of different shape, in order."""
    assert value == [[["1"]], [["two", "2"]]]


def error(value: Any) -> None:
    """Error 208 with its words, and the connection works on."""
    assert value == [[208, "Invalid object name 'dbo.nowhere'."], "1"]


def transaction(value: Any) -> None:
    """Rows and @@TRANCOUNT: inside, after the rollback, inside again, after the commit."""
    assert value == [["2", "1"], ["0", "0"], ["2", "1"], ["2", "0"]]


def dmv(value: Any) -> None:
    """A counter of type PERF_COUNTER_BULK_COUNT that has counted."""
    assert value == ["Batch Requests/sec", "272696576", "1"]


def rows(value: Any) -> None:
    """Every row, and the sum of their second column."""
    assert value == [str(ROWS), str(ROWS * (ROWS + 1))]


def cancel(value: Any) -> None:
    """The client gave up waiting as it was told to, and the same session answers the next query."""
    assert value == [True, True]


def abandon(value: Any) -> None:
    """A result closed after its first row leaves the connection usable."""
    assert value == "1"


def pool(value: Any) -> None:
    """Each checkout has the same session, as new: database, lock time-out, temporary table, transaction."""
    assert len(value) == 3 and value[0][0] is not None
    assert value == [[value[0][0], "master", "-1", None, "0"]] * 3


BULK_ROWS = 5000


@pytest.mark.parametrize("client", ["go", "jdbc", "tedious", "dotnet"])
def test_bulk_copy(client, seen):
    """Rows, NULL that becomes a default, and a second load that meets a key of the first: none of its rows stay."""
    loaded, refused, after = outcome(seen(client), "bulk")
    assert loaded == [str(BULK_ROWS), str(BULK_ROWS * (BULK_ROWS + 1) // 2), "漢", "7"] and after == loaded
    assert refused[0] == 2627 and "Violation of PRIMARY KEY constraint" in refused[1]


@pytest.mark.parametrize("client", ["go", "jdbc", "tedious", "dotnet"])
def test_table_valued_parameters(client, seen):
    """A procedure takes a client's table, one without rows, and one whose rows break the type's key."""
    taken, empty, refused = outcome(seen(client), "tables")
    assert taken == ["3", "6", "漢", "2.5"] and empty == ["0", None, None, None]
    assert refused[0] == 2627 and "Violation of PRIMARY KEY constraint" in refused[1]


def test_a_client_that_hangs_up(seen):
    """tiberius gives up by dropping its connection: its session ends soon."""
    assert outcome(seen("tiberius"), "gone") == [True, True]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("client", list(CLIENTS))
def test_check(client, check, seen):
    """One client's outcome of one check is what the function of that name demands."""
    globals()[check.replace(" ", "_")](outcome(seen(client), check))


def test_cursors_of_the_server(seen):
    """mssql-jdbc's scrollable and updatable result sets, of each type, and selectMethod=cursor."""
    walks = ["4132", "41324/4", "41324/4"]
    assert outcome(seen("jdbc"), "cursors") == [*walks, "1changed,2b,3c,4new", 10, "1"]


def test_a_wish_for_mars(seen):
    """SqlClient with MultipleActiveResultSets=true connects; it refuses a second reader itself and goes on after the first."""
    refused, following = outcome(seen("dotnet"), "mars")
    assert "already an open DataReader" in refused and following == "2"


def test_smo_reads_the_group(seen):
    """SMO's availability groups: replicas with roles and modes, databases with states, and no property that the node refuses."""
    replicas = [f"ag1 sql{n} {'Primary' if n == 1 else 'Secondary'} SynchronousCommit" for n in (1, 2, 3)]
    assert outcome(seen("dotnet"), "smo groups") == [*replicas, "ag1 OLTP Synchronized"]


def test_smo_fills_server_and_database(seen):
    """Every property of SMO's Server, its settings and a Database; what is known to be missing is named here."""
    facts, refused = outcome(seen("dotnet"), "smo objects")
    assert facts == ["Developer Edition (64-bit)", True, "Full", True, "PRIMARY OLTP"]
    missing = {"Server.ProcessorUsage"}
    # A database without user tables has no allocation units here: SMO's sums over them are NULL.
    missing |= {"Database.DataSpaceUsage", "Database.IndexSpaceUsage", "Database.SpaceAvailable"}
    assert {line.partition(":")[0] for line in refused} <= missing


def test_smo_scripts_a_table(seen):
    """A table's script has its key, default and index, and makes the table again."""
    again, script = outcome(seen("dotnet"), "smo script")
    assert again is True
    for part in ("IDENTITY(1,1)", "CONSTRAINT [pk_smo] PRIMARY KEY CLUSTERED", "[df_smo]  DEFAULT", "INCLUDE([price])"):
        assert "".join(part.split()) in "".join(script.split()), script  # SMO's versions differ in their spaces
