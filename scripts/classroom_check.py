"""Three seats of a local hub at once: what each sees of the others, how long it takes, what it weighs. For classroom_check.sh.

Every claim is tried from inside a seat: the password file of the other is opened, its home listed, its nodes logged in to with
the seat's own password. Memory is the proportional set size (shared pages divided among their users) of all processes of a seat.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 300.0
FIRST = """
import json, os, time
begin = time.perf_counter()
import aglab
cluster = aglab.cluster("twin")
seconds = time.perf_counter() - begin
cluster.sql("CREATE DATABASE [only_{name}]")
cluster.run_load(60)
aglab.predict("16-checkpoint-throttle", "{name}", reason="known to {name} alone")
print("FACTS" + json.dumps(dict(
    ports=[node.port for node in cluster.nodes], password_file=str(cluster._twin.password_file), home=os.environ["HOME"],
    notebooks=len(list(__import__("pathlib").Path.home().glob("aglab/notebooks/*.ipynb"))), twin_s=round(seconds, 1))))
"""
SECOND = """
import json, os, pathlib
from aglab.core.errors import AglabError
from aglab.lab.driver import Connection
def tried(what):
    try:
        return "ALLOWED: " + str(what())
    except PermissionError:
        return "PermissionError"
    except AglabError as error:
        return str(getattr(error, "number", None) or error)
seen = {{}}
for name, other in json.loads('''{others}''').items():
    seen[name] = dict(
        password=tried(lambda: pathlib.Path(other["password_file"]).read_text()),
        home=tried(lambda: os.listdir(other["home"])),
        nodes=[tried(lambda: Connection("127.0.0.1", port, "sa", cluster._password())) for port in other["ports"]])
own = cluster.sql("SELECT name FROM sys.databases WHERE name LIKE N'only%'").table["name"].tolist()
told = aglab.predict("16-checkpoint-throttle")
kept = [str(path.name) for path in (pathlib.Path(os.environ["AGLAB_HOME"]) / "progress").glob("*")]
print("FACTS" + json.dumps(dict(seen=seen, databases=own, prediction=told.choice, kept=kept)))
"""


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Hub:
    """The hub's interface, and the kernels of its seats."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.client = AsyncHTTPClient(max_clients=32)

    async def ask(self, method: str, path: str) -> object:
        """One request; JSON or None."""
        request = HTTPRequest(
            f"{self.url}{path}",
            method,
            {"Authorization": f"token {self.token}"},
            request_timeout=120,
            allow_nonstandard_methods=True,
        )
        answer = await self.client.fetch(request)
        return json.loads(answer.body) if answer.body else None

    async def up(self) -> None:
        """Wait until the hub answers."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                await self.ask("GET", "/hub/api/users")
                return
            except (OSError, HTTPClientError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.3)

    async def seat(self, name: str) -> float:
        """Start a learner's server; seconds until it answers."""
        begin = time.monotonic()
        await self.ask("POST", f"/hub/api/users/{name}")
        await self.ask("POST", f"/hub/api/users/{name}/server")
        while True:
            user = await self.ask("GET", f"/hub/api/users/{name}")
            server = user["servers"].get("", {})
            if server.get("ready"):
                return time.monotonic() - begin
            if not server.get("pending") or time.monotonic() - begin > PATIENCE_S:
                raise SystemExit(f"classroom_check: the server of {name} did not start")
            await asyncio.sleep(0.3)

    async def kernel(self, name: str) -> str:
        """A kernel of a learner's server."""
        return (await self.ask("POST", f"/user/{name}/api/kernels"))["id"]

    async def run(self, name: str, kernel: str, code: str) -> dict:
        """What a cell prints after the word FACTS."""
        address = f"{self.url.replace('http', 'ws', 1)}/user/{name}/api/kernels/{kernel}/channels"
        socket_ = await websocket_connect(
            HTTPRequest(address, headers={"Authorization": f"token {self.token}"}, request_timeout=60)
        )
        number = secrets.token_hex(8)
        head = {"msg_id": number, "username": name, "session": number, "msg_type": "execute_request", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        await socket_.write_message(
            json.dumps(
                {"header": head, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": []}
            )
        )
        said = ""
        while True:
            message = json.loads(await asyncio.wait_for(socket_.read_message(), PATIENCE_S))
            if message["parent_header"].get("msg_id") != number:
                continue
            if message["msg_type"] == "stream":
                said += message["content"]["text"]
            elif message["msg_type"] == "error":
                raise SystemExit(f"classroom_check: {name}: {message['content']['ename']}: {message['content']['evalue']}")
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                socket_.close()
                return json.loads(said.split("FACTS", 1)[1])


def weight(home: str) -> tuple[float, float, int]:
    """Of the processes whose HOME is this seat's: proportional set size (MB), processor time (s), how many."""
    total, cpu_s, count = 0.0, 0.0, 0
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == home:
                total += process.memory_full_info().pss / 1e6
                cpu_s += sum(process.cpu_times()[:2])
                count += 1
        except psutil.Error:
            continue
    return total, cpu_s, count


async def check(hub: Hub, names: list[str]) -> list[str]:
    """Start all seats at once and try what each sees of the others; what is wrong."""
    begin = time.monotonic()
    await hub.up()
    print(f"hub: {time.monotonic() - begin:.1f} s")
    starts = await asyncio.gather(*(hub.seat(name) for name in names))
    kernels = await asyncio.gather(*(hub.kernel(name) for name in names))
    pairs = list(zip(names, kernels, strict=True))
    facts = dict(zip(names, await asyncio.gather(*(hub.run(n, k, FIRST.format(name=n)) for n, k in pairs)), strict=True))
    looks = []
    for name, kernel in pairs:
        others = json.dumps({other: facts[other] for other in names if other != name})
        looks.append(hub.run(name, kernel, SECOND.format(others=others)))
    seen = dict(zip(names, await asyncio.gather(*looks), strict=True))
    wrong = []
    for name, start in zip(names, starts, strict=True):
        mb, cpu_s, count = weight(facts[name]["home"])
        print(f"{name}: server {start:.1f} s, twin {facts[name]['twin_s']} s, {mb:.0f} MB and {cpu_s:.1f} s in {count} processes")
        wrong += [f"{name}: {text}" for text in judged(name, facts[name], seen[name])]
    ports = [port for one in facts.values() for port in one["ports"]]
    return wrong + ([] if len(set(ports)) == len(ports) else [f"nodes share ports: {ports}"])


def judged(name: str, facts: dict, seen: dict) -> list[str]:
    """What a seat sees that it should not, or lacks."""
    wrong = []
    if not facts["notebooks"]:
        wrong.append("no notebooks in its copy")
    if seen["databases"] != [f"only_{name}"]:
        wrong.append(f"databases {seen['databases']}")
    if seen["prediction"] != name or seen["kept"] != ["16-checkpoint-throttle.json"]:
        wrong.append(f"prediction {seen['prediction']!r}, kept {seen['kept']}")
    for other, tried in seen["seen"].items():
        wrong += [f"node of {other}: {said}" for said in tried["nodes"] if said != "18456"]
        if os.geteuid() == 0:  # seats have user ids of their own
            wrong += [
                f"{what} of {other}: {tried[what][:60]}" for what in ("password", "home") if tried[what] != "PermissionError"
            ]
    return wrong


def main() -> int:
    """Hub, seats, checks, end; nothing stays."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    names = [f"learner{number}" for number in range(1, count + 1)]
    folder = Path(tempfile.mkdtemp(prefix="aglab-classroom-"))
    folder.chmod(0o755)
    (folder / "home").mkdir()
    port, hub_port, proxy_port = free_ports(3)
    token = secrets.token_hex(24)
    environment = {
        **os.environ,
        "AGLAB_CLASSROOM": str(folder),
        "AGLAB_CLASSROOM_SEATS": " ".join(names),
        "AGLAB_CLASSROOM_URL": f"http://127.0.0.1:{port}",
        "AGLAB_CLASSROOM_HUB_PORT": str(hub_port),
        "AGLAB_CLASSROOM_PROXY_PORT": str(proxy_port),
        "AGLAB_CLASSROOM_TOKEN": token,
    }
    log = (folder / "hub.log").open("w")
    config = str(ROOT / "docker" / "classroom" / "local_hub.py")
    command = [sys.executable, "-m", "jupyterhub", "-f", config]
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True)
    wrong = ["the check did not end"]
    try:
        wrong = asyncio.run(check(Hub(f"http://127.0.0.1:{port}", token), names))
    finally:
        process.send_signal(signal.SIGTERM)  # the hub ends its seats, kernels and their twins
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        left = [one for name in names for one in [weight(str(folder / "home" / name))[2]] if one]
        if left or wrong:
            print((folder / "hub.log").read_text(errors="replace")[-4000:])
        shutil.rmtree(folder, ignore_errors=True)
    wrong += [f"{sum(left)} processes are left"] if left else []
    for text in wrong:
        print(f"WRONG: {text}")
    if not wrong:
        told = (
            "nodes, passwords and predictions"
            if os.geteuid() == 0
            else "nodes and predictions (one user id: files were not tried)"
        )
        print(f"{count} seats at once: none sees another's {told}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
