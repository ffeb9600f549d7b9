"""What ``aglab bench wire`` measures: a node under load from go-mssqldb, beside Microsoft's mock server in Rust (with cargo).

Rates are of this machine at this moment; the ratios were measured side by side, the mock server before and after the node. The
mock answers ``SELECT 1`` from a table of replies, the node through parser, plan and session. The load program is built from
``tests/bench/wire/go`` of a checkout, the mock server is crate mssql-mock-tds; both into ``build/bench``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

import aglab
from aglab.core.errors import AglabError, MissingError

MOCK_VERSION = "0.3.0"
BUILD_S_MAX = 1800.0
SECONDS = 2.0
ROWS = 100_000
DMV = "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = N'Batch Requests/sec'"
SERIES = f"SELECT CAST(value AS int) AS n, CAST(value * 2 AS int) AS twice FROM GENERATE_SERIES(1, {ROWS})"
Load = Callable[..., dict[str, Any]]


def measure() -> list[dict[str, Any]]:
    """Rows of ``what``, ``value``, ``unit``, ``note``.

    Raises
    ------
    MissingError
        No Go, or no checkout to build the load program from.
    """
    from aglab.twin import spawn_child

    checkout = Path(aglab.__file__).parents[2]
    load = _load_program(checkout)
    mock = _mock_program(checkout)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="aglab-bench-", ignore_cleanup_errors=True) as folder:
        before = _of_mock(mock, load, Path(folder)) if mock else {}
        begin = time.perf_counter()
        with spawn_child(Path(folder) / "s", profile="hpe-dl380-gen9-ssd") as twin:
            rows.append(_row("three nodes, from nothing to ready", time.perf_counter() - begin, "s"))
            seen = _of_node(load, twin, rows)
            kb = psutil.Process(twin.process_id).memory_info().rss / 1024
            rows.append(_row("three nodes, memory after that", kb / 1024, "MB", "resident"))
        after = _of_mock(mock, load, Path(folder)) if mock else {}
    for count in sorted(seen.keys() & before.keys()):
        rate = (before[count] + after[count]) / 2
        rows.append(_row(f"mssql-mock-tds, SELECT 1, {count} connections", rate, "round trips/s", "canned reply"))
        rows.append(_row(f"node / mock, {count} connections", seen[count] / rate, "ratio"))
    return rows


def _row(what: str, value: float, unit: str, note: str = "") -> dict[str, Any]:
    return {"what": what, "value": round(value, 3), "unit": unit, "note": note}


def _of_node(load: Load, twin: Any, rows: list[dict[str, Any]]) -> dict[int, float]:
    node, word = twin.nodes[0], twin.password()
    process = psutil.Process(twin.process_id)

    def run(what: str, unit: str, value: str = "per_second", **options: Any) -> float:
        used = sum(process.cpu_times()[:2])
        got = load(node.port, word, **options)
        if got["errors"]:
            raise AglabError(f"bench wire, {what}: {got['errors']} errors, the first: {got['first_error']}", "see aglab status")
        each_us = (sum(process.cpu_times()[:2]) - used) / max(got["count"], 1) * 1e6
        note = f"p50 {got['p50_ms']:.2f} ms, p99 {got['p99_ms']:.2f} ms, {each_us:,.0f} us of the node's processor each"
        rows.append(_row(what, got[value], unit, note))
        return float(got[value])

    load(node.port, word, seconds=0.5)
    seen = {count: run(f"SELECT 1, {count} connections", "round trips/s", connections=count, seconds=SECONDS) for count in (1, 8)}
    for count, title in ((1, "counter by name, 1 connection"), (8, "counter by name, 8 connections")):
        run(title, "round trips/s", query=DMV, connections=count, seconds=SECONDS)
    run(f"{ROWS:,} rows of two ints", "rows/s", "rows_per_second", query=SERIES, rows=ROWS, seconds=SECONDS)
    run("connect and close", "ms", "p50_ms", connect=True, seconds=SECONDS)
    run("SELECT 1, 200 connections", "round trips/s", connections=200, seconds=2 * SECONDS)
    return seen


def _of_mock(program: Path, load: Load, folder: Path) -> dict[int, float]:
    with _mock(program, folder) as port:
        load(port, "x", seconds=0.5)
        return {count: load(port, "x", connections=count, seconds=SECONDS)["per_second"] for count in (1, 8)}


@contextmanager
def _mock(program: Path, folder: Path) -> Iterator[int]:
    """The mock server on a free port."""
    from aglab.tds.certificate import self_signed_certificate

    made = self_signed_certificate(["localhost"])
    (folder / "mock.pem").write_bytes(made.certificate_pem)
    (folder / "mock-key.pem").write_bytes(made.key_pem)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(program), "--port", str(port), "--tls-mode", "optional"]
    command += ["--cert", str(folder / "mock.pem"), "--key", str(folder / "mock-key.pem")]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20.0
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                break
            except OSError as error:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise AglabError(f"the mock server did not open port {port}", "run aglab bench wire again") from error
                time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=20.0)


def _load_program(checkout: Path) -> Load:
    source, target = checkout / "tests" / "bench" / "wire" / "go", checkout / "build" / "bench" / "wireload"
    go = shutil.which("go")
    if go is None or not source.is_dir():
        missing = "Go is not on the PATH" if go is None else "the load program's source is not in this installation"
        raise MissingError(f"bench wire: {missing}", "install Go (https://go.dev/dl) and use a checkout")
    _built([go, "build", "-o", str(target), "."], source)

    def load(port: int, password: str, **options: Any) -> dict[str, Any]:
        words = [f"-{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in options.items()]
        done = subprocess.run(
            [str(target), f"-port={port}", *words],
            capture_output=True,
            text=True,
            timeout=120.0 + float(options.get("seconds", 2.0)),
            env={**os.environ, "WIRELOAD_PASSWORD": password},
        )
        if done.returncode:
            raise AglabError(f"bench wire: the load program failed ({done.stderr.strip()[-300:]})", "see the line above")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return load


def _mock_program(checkout: Path) -> Path | None:
    """The mock server, built once; None without cargo."""
    root = checkout / "build" / "bench" / "mock"
    program = root / "bin" / "mssql-mock-tds"
    cargo = shutil.which("cargo")
    if cargo is None:
        return None
    if not program.exists():
        _built([cargo, "install", "-q", "mssql-mock-tds", "--version", MOCK_VERSION, "--root", str(root)], checkout)
    return program


def _built(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_S_MAX)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MissingError(
            f"bench wire: {command[0]} could not build ({last})", "it needs the network once, to fetch its sources"
        )
