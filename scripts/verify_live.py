#!/usr/bin/env python3
"""make verify-live: the containers on real images, step by step, and a report of evidence: versions, passed or failed, ratios.

Licence terms restrict publishing benchmarks of SQL Server, so the report holds no rate and no time, only ratios of two runs on
the same machine. Beside it lie the recordings of the difference corpus and what the twin answers otherwise. You set ACCEPT_EULA.
--notebooks runs the book's notebooks too, each on containers of its own: how many cells hold, and which do not.
Usage: verify_live.py [--out FOLDER] [--keep] [--notebooks [NAME ...]] (exit code 0 all passed, 1 something failed)
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aglab import __version__
from aglab.core.errors import AglabError

ROOT = Path(__file__).resolve().parent.parent
CONNECTED = """SELECT s.connected_state_desc FROM sys.dm_hadr_availability_replica_states AS s
JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id WHERE r.replica_server_name = N'{}'"""
WAIT_S_MAX = 120.0
CELL_S_MAX = 3600  # a real server's seconds are the wall's
OUTCOMES = {"same": "the twin answers the same", "differs": "it answers otherwise", "not known": "it does not know"}


def aglab(*words: str) -> dict[str, Any]:
    """A command of aglab, as JSON."""
    done = subprocess.run([sys.executable, "-m", "aglab", *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AglabError(done.stderr.strip().removeprefix("aglab: ") or f"exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something observable."""
    deadline = time.monotonic() + WAIT_S_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise AglabError(f"not within {WAIT_S_MAX:g} s: {what}")
        time.sleep(0.5)


class Checks:
    """The steps; each returns what it found, or raises."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.cluster: Any = None

    def connected(self, node: str) -> bool:
        """Whether the primary has a session with the replica."""
        return bool(self.cluster.sql(CONNECTED.format(node), "sql1").value == "CONNECTED")

    def group_forms(self) -> str:
        """docker compose forms the group from nothing"""
        roles = {node["name"]: node["role"] for node in aglab("up", "--mode", "docker")["nodes"]}
        assert roles == {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "SECONDARY"}, roles
        from aglab.lab import cluster

        self.cluster = cluster("docker", attach=True)
        return str(self.cluster.server)

    def again(self) -> str:
        """a second start changes nothing"""
        aglab("up", "--mode", "docker")
        return "nothing to do"

    def rows_arrive(self) -> str:
        """a committed row is read on both secondaries"""
        self.cluster.sql("CREATE TABLE OLTP.dbo.verify_live (id int NOT NULL PRIMARY KEY)", "sql1")
        self.cluster.sql("INSERT OLTP.dbo.verify_live VALUES (1)", "sql1")
        for node in ("sql2", "sql3"):
            until(lambda node=node: self.cluster.sql("SELECT COUNT(*) FROM OLTP.dbo.verify_live", node).value == 1, node)
        return "sql2, sql3"

    def counters(self) -> str:
        """counters of a default instance on Linux begin with SQLServer:"""
        query = (
            "SELECT DISTINCT RTRIM(object_name) AS name FROM sys.dm_os_performance_counters WHERE object_name LIKE N'%:Database%'"
        )
        names = [str(name) for name in self.cluster.sql(query).table["name"]]
        assert any(name.startswith("SQLServer:Database Replica") for name in names), names
        return ", ".join(sorted(names))

    def checkpoint_option(self) -> str:
        """sqlservr on Linux takes -k and says so"""
        self.cluster.restart("sql3", ["-k100"])
        until(lambda: self.connected("sql3"), "sql3 is connected")
        self.cluster.restart("sql3")
        until(lambda: self.connected("sql3"), "sql3 is connected")
        return "its errorlog names -k100"

    def backup_to_nul(self) -> str:
        """BACKUP ... TO DISK = N'NUL' works on Linux"""
        self.cluster.sql("BACKUP LOG OLTP TO DISK = N'NUL'", "sql1")
        return "NUL"

    def corpus(self) -> str:
        """the questions of the difference corpus are answered; the twin's answers beside them"""
        import collections

        from aglab.core.paths import bundle_path
        from aglab.lab import cluster, corpus
        from aglab.live.corpus import load, load_questions

        folder = self.out / "corpus"
        for old in folder.glob("*.toml"):  # recordings of an earlier run are not this one's
            old.unlink()
        corpus.record(self.cluster, load_questions(bundle_path("data", "corpus", "questions.toml")), folder)
        with cluster("twin", bare=True) as twin:
            corpus.form_group(twin, bundle_path("docker", "sql"))
            verdicts = corpus.replay(twin, load(folder))
        lines = [f"{one.name}: {one.outcome}: {text}" for one in verdicts for text in one.differences]
        (self.out / "differences.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        counted = collections.Counter(one.outcome for one in verdicts)
        said = ", ".join(f"{counted[outcome]} {words}" for outcome, words in OUTCOMES.items())
        return f"{len(verdicts)} asked: {said}"

    def crash(self) -> str:
        """docker kill is noticed; the node comes back by itself when it is started"""
        self.cluster.fault("crash", node="sql2")
        until(lambda: not self.connected("sql2"), "sql2 is missed")
        self.cluster.fault("start", node="sql2")
        until(lambda: self.connected("sql2"), "sql2 is back")
        return "sql2"

    def cut(self) -> str:
        """docker network disconnect ends the session; connect brings it back"""
        self.cluster.fault("cut", node="sql3")
        until(lambda: not self.connected("sql3"), "sql3 is missed")
        self.cluster.fault("heal", node="sql3")
        until(lambda: self.connected("sql3"), "sql3 is back")
        return "sql3"

    def clean_stop(self) -> str:
        """docker stop reaches SQL Server as process 1: the errorlog before the last start says that it was ended"""
        self.cluster.fault("stop", node="sql3")
        self.cluster.fault("start", node="sql3")
        until(lambda: self.connected("sql3"), "sql3 is back")
        lines = self.cluster.sql("EXEC sp_readerrorlog 1, 1, N'terminating'", "sql3").table
        assert len(lines), "no line says so: the stop was a crash"
        return str(lines["Text"].iloc[-1])

    def load(self) -> str:
        """HammerDB builds its schema, loads the group, and two runs agree"""
        rates = [self.cluster.run_load(60, warm_up_s=30).series("Transactions/sec", "sql1").mean() for _ in range(2)]
        assert min(rates) > 0, "no transactions"
        return f"second run / first run = {rates[1] / rates[0]:.2f}"

    def steps(self) -> list[Callable[[], str]]:
        """In order."""
        named = (self.group_forms, self.again, self.rows_arrive, self.counters, self.checkpoint_option, self.backup_to_nul)
        return [*named, self.corpus, self.crash, self.cut, self.clean_stop, self.load]


def said(result: dict[str, Any]) -> dict[str, Any]:
    """The result, printed."""
    print(f"{'passed' if result['passed'] else 'FAILED'}  {result['what']}: {result['found']}", flush=True)
    return result


def run(checks: Checks) -> list[dict[str, Any]]:
    """Every step, in order; a failure does not end the others, but without a group there is nothing to look at."""
    results = []
    for step in checks.steps():
        what = (step.__doc__ or step.__name__).strip()
        try:
            results.append({"step": step.__name__, "what": what, "passed": True, "found": step()})
        except (AglabError, AssertionError) as error:
            results.append({"step": step.__name__, "what": what, "passed": False, "found": str(error) or "it did not hold"})
        said(results[-1])
        if checks.cluster is None:
            break
    return results


def notebook(name: str) -> dict[str, Any]:
    """A notebook of the book on containers that were started for it alone, as its lab.toml wants them."""
    from aglab.lab.labs import describe

    result = {"step": name, "what": f"notebook {name} on the containers", "passed": False}
    cluster = describe(name.replace("_", "-"))["cluster"]
    words = ["--bare"] if cluster.get("bare") else []
    words += ["--cluster-type", cluster["cluster_type"]] if "cluster_type" in cluster else []
    words += ["--profile", cluster["profile"]] if "profile" in cluster else []
    try:
        aglab("down", "--mode", "docker", "--delete-data")
        aglab("up", "--mode", "docker", *words)
    except AglabError as error:
        return {**result, "found": str(error)}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "cells.xml"
        nbval = ["--nbval-lax", f"--nbval-cell-timeout={CELL_S_MAX}", "--timeout=0", "-p", "no:cacheprovider", "-q"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *nbval, f"--junitxml={kept}", str(ROOT / "notebooks" / f"{name}.ipynb")],
            env={**os.environ, "AGLAB_MODE": "docker"}, cwd=ROOT, capture_output=True, check=False,
        )  # fmt: skip
        cells = ET.parse(kept).findall(".//testcase") if kept.is_file() else []
    bad = [
        str(cell.get("name")).split()[-1] for cell in cells if cell.find("failure") is not None or cell.find("error") is not None
    ]
    found = f"{len(cells) - len(bad)} of {len(cells)} cells hold" + (f"; not: {', '.join(bad)}" if bad else "")
    return {**result, "passed": bool(cells) and not bad, "found": found}


def report(results: list[dict[str, Any]], cluster: Any) -> dict[str, Any]:
    """What goes into the file; no rate, no duration, no password, no name of this machine."""
    engine = subprocess.run(["docker", "version", "--format", "{{.Server.Version}}"], capture_output=True, text=True, check=False)
    return {
        "date": dt.date.today().isoformat(),
        "aglab": __version__,
        "server": cluster.server if cluster else None,
        "simulated": cluster.simulated if cluster else None,
        "engine": engine.stdout.strip(),
        "kernel": re.sub(r"^(\d+\.\d+).*", r"\1", platform.release()),
        "architecture": platform.machine(),
        "results": results,
        "passed": bool(results) and all(one["passed"] for one in results) and cluster is not None,
    }


def as_markdown(found: dict[str, Any]) -> str:
    """The report to attach to an issue."""
    real = "**A simulation answered: this is no evidence about SQL Server.**\n\n" if found["simulated"] else ""
    head = f"# Evidence of {found['date']}\n\n{real}{found['server']}\n\n"
    machine = f"aglab {found['aglab']}, Docker Engine {found['engine']}, Linux {found['kernel']}, {found['architecture']}\n\n"
    rows = [f"| {'passed' if one['passed'] else '**failed**'} | {one['what']} | {one['found']} |" for one in found["results"]]
    return head + machine + "\n".join(["| | step | found |", "|---|---|---|", *rows]) + "\n"


def main() -> int:
    """Run, write, tidy up; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "verify-live", help="folder of the report")
    parser.add_argument("--keep", action="store_true", help="leave the containers running")
    known = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    parser.add_argument("--notebooks", nargs="*", choices=known, metavar="NAME", help="notebooks too; all where none is named")
    options = parser.parse_args()
    if os.environ.get("ACCEPT_EULA", "").lower() not in ("y", "yes"):
        print(
            "verify-live: ACCEPT_EULA is not set; if you accept SQL Server's licence: ACCEPT_EULA=Y make verify-live",
            file=sys.stderr,
        )
        return 2
    checks = Checks(options.out)
    try:
        results = run(checks)
        if options.notebooks is not None and checks.cluster is not None:
            checks.cluster.close()
            for name in options.notebooks or known:
                results.append(said(notebook(name)))
        found = report(results, checks.cluster)
    finally:
        if checks.cluster is not None:
            checks.cluster.close()
        if not options.keep:
            subprocess.run([sys.executable, "-m", "aglab", "down", "--mode", "docker", "--delete-data"], check=False)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "evidence.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    (options.out / "evidence.md").write_text(as_markdown(found), encoding="utf-8")
    print(f"report: {options.out / 'evidence.md'}")
    return 0 if found["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
