"""JupyterLab for a learner: on loopback, with a token, on a copy of the notebooks; Ctrl-C leaves nothing running.

JupyterLab runs in a process group of its own, so that Ctrl-C in the terminal reaches this program alone: it asks JupyterLab
to shut down (kernels end, and with them their twins), and ends by force what does not go.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aglab.cli import shell
from aglab.cli.workcopy import bring_up_to_date
from aglab.core.errors import AglabError, MissingError
from aglab.core.paths import bundle_root

READY_S_MAX = 90.0
END_S_MAX = 15.0
LOOPBACK = "127.0.0.1"
SETTINGS = Path(__file__).parent / "lab_settings"  # JupyterLab asks nobody whether it may fetch news


def serve(folder: Path | None, port: int, browser: bool, as_json: bool) -> None:
    """Start JupyterLab, say where it is, and stay until it ends or Ctrl-C.

    Raises
    ------
    MissingError
        JupyterLab is not installed, the port is in use, or the copy cannot be written.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise MissingError("the package jupyterlab is missing", "pip install jupyterlab")
    port = port or _free_port()
    _check_port(port)
    copy = bring_up_to_date(bundle_root(), folder or Path.home() / "aglab")
    for name in copy.kept:
        shell.note(f"you have changed {name}; a newer version came with aglab and was not copied (move yours away to get it)")
    token = secrets.token_hex(24)
    with _compiling(), tempfile.TemporaryFile() as log, _server(copy.folder, port, token, log) as process:
        _wait_until_ready(process, port, token, log)
        found = addresses(copy.folder, port, token)
        _announce(found, as_json)
        if browser:
            for key in ("book", "notebook"):
                if found[key]:
                    webbrowser.open(found[key])
        while process.poll() is None:
            time.sleep(0.2)
        if process.returncode not in (0, None):
            raise AglabError(
                f"JupyterLab has ended with code {process.returncode}: {_last_line(log)}", "start it again with: aglab lab"
            )


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """Compile the engine, once on a machine, while JupyterLab starts: the first nodes would have to wait for it."""
    child = subprocess.Popen(
        [sys.executable, "-m", "aglab.engine.warm"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        if child.poll() is None:
            child.terminate()
        child.wait()


def book_start() -> Path | None:
    """The built book's start page: in a checkout after ``make book``, or inside an installed wheel."""
    root = bundle_root()
    for place in (root / "_build" / "html", root / "book"):
        for name in ("index.html", "book/index.html"):
            if (place / name).is_file():
                return place / name
    return None


def addresses(folder: Path, port: int, token: str) -> dict[str, Any]:
    """Where everything is: the book's start page, JupyterLab, the first notebook, the learner's copy."""
    base = f"http://{LOOPBACK}:{port}"
    notebooks = sorted((folder / "notebooks").glob("*.ipynb"))
    start = f"/lab/tree/notebooks/{notebooks[0].name}" if notebooks else "/lab"
    page = book_start()
    return {
        "book": page.as_uri() + told_progress() if page else None,
        "notebook": f"{base}{start}?token={token}",
        "lab": f"{base}/lab?token={token}",
        "folder": str(folder),
    }


def told_progress() -> str:
    """What the learner has done, as the fragment that the book's start page takes over; empty when there is nothing yet."""
    from aglab.lab import progress

    done = {
        row["lab"]: {
            "predicted": row["prediction"] is not None,
            "passed": row["passed"],
            "solved": row["quiz_solved"],
            "of": row["quiz_of"],
        }
        for row in progress().rows
        if row["prediction"] is not None or row["tries"] or row["quiz_solved"]
    }
    if not done:
        return ""
    return "#progress=" + base64.urlsafe_b64encode(json.dumps(done).encode()).decode().rstrip("=")


def _announce(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        shell.print_json(found)
        return
    shell.say(f"Book:      {found['book'] or 'not built here; make book builds it in a checkout'}")
    shell.say(f"Notebook:  {found['notebook']}")
    shell.say(f"Your copy: {found['folder']}")
    shell.say("Ctrl-C ends JupyterLab, its kernels and their nodes.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise MissingError(
                f"port {port} is in use ({error.strerror})", "choose another one with --port, or leave it out"
            ) from error


@contextlib.contextmanager
def _server(folder: Path, port: int, token: str, log: Any) -> Iterator[subprocess.Popen[bytes]]:
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.ip={LOOPBACK}", f"--ServerApp.port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--ServerApp.answer_yes=True"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command.append(f"--LabApp.app_settings_dir={SETTINGS}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    environment = {**os.environ, "JUPYTER_TOKEN": token}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=folder, **options)
    try:
        yield process
    finally:
        _end(process, port, token)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, token: str, log: Any) -> None:
    deadline = time.monotonic() + READY_S_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AglabError(f"JupyterLab could not start: {_last_line(log)}", "aglab doctor says what this machine lacks")
        with contextlib.suppress(OSError), _ask(port, token, "GET", "api/status"):
            return
        time.sleep(0.1)
    raise AglabError(f"JupyterLab was not ready after {READY_S_MAX:.0f} s: {_last_line(log)}", "try again")


def _ask(port: int, token: str, method: str, path: str) -> Any:
    request = urllib.request.Request(
        f"http://{LOOPBACK}:{port}/{path}", method=method, headers={"Authorization": f"token {token}"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy has no business on loopback
    return opener.open(request, timeout=5)


def _last_line(log: Any) -> str:
    log.seek(0)
    lines = [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or "ERROR" in line]
    return shell.one_line((errors or lines or ["it said nothing"])[-1])


def _end(process: subprocess.Popen[bytes], port: int, token: str) -> None:
    """Ask JupyterLab to end, then end by force what is left of it and of its kernels."""
    import psutil

    tree: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        tree = psutil.Process(process.pid).children(recursive=True)
    if process.poll() is None:
        with contextlib.suppress(OSError), _ask(port, token, "POST", "api/shutdown") as answer:
            answer.read()
        try:
            process.wait(timeout=END_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=END_S_MAX)
    _, alive = psutil.wait_procs(tree, timeout=5)
    for one in alive:
        with contextlib.suppress(psutil.Error):
            one.kill()


__all__ = ["addresses", "book_start", "serve"]
