"""A stand-in for the docker client, not Docker: keeps containers in a file, prints what it was told to print, notes every call.

``STAND_IN`` names a folder: ``calls`` gets each command line, ``state.json`` holds containers and volumes, ``wrong.json`` maps
the words a command begins with to ``[exit code, standard error]``, or to ``"hang"``.
"""

import json
import os
import signal
import sys
from pathlib import Path

folder = Path(os.environ["STAND_IN"])
words = sys.argv[1:]
if words[:1] == ["compose"]:  # without its options, which come in any order
    plain, skip = ["compose"], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-f", "--ansi", "--profile", "--tail", "--timeout"):
            skip = True
        else:
            plain.append(word)
    words = plain
line = " ".join(words)
with (folder / "calls").open("a") as calls:
    print(line, file=calls)
state_file = folder / "state.json"
state = json.loads(state_file.read_text()) if state_file.exists() else {"containers": {}, "volumes": [], "logs": {}}
wrong = json.loads((folder / "wrong.json").read_text()) if (folder / "wrong.json").exists() else {}


def keep():
    """Write the state."""
    state_file.write_text(json.dumps(state))


trouble = next((wrong[begin] for begin in wrong if line.startswith(begin)), None)
if trouble == "hang":
    signal.pause()
if words[:2] == ["compose", "up"] and trouble is None:
    for name in [word for word in words[2:] if not word.startswith("-")]:
        state["containers"][name] = "running"
    state["volumes"] = ["aglab_sql1-data"]
    keep()
if trouble is not None:
    code, text = trouble
    print(text, file=sys.stderr)
    if words[:2] == ["compose", "up"]:
        state["containers"]["prepare"] = "exited"
        keep()
    sys.exit(code)
if words[:1] == ["info"]:
    told = {"ServerVersion": "28.0", "Architecture": "x86_64", "MemTotal": 16 << 30, "KernelVersion": "6.8.0"}
    print(json.dumps({**told, "DockerRootDir": str(folder), **state.get("info", {})}))
elif words[:2] == ["compose", "version"]:
    print("2.40.3")
elif words[:1] == ["ps"] and "--quiet" in words:
    print("\n".join(state.get("attempts", [])))
elif words[:1] == ["ps"]:
    for name, how in state["containers"].items():
        print(f"{name}\t{how}\tUp (healthy)\taglab-{name}-1")
elif words[:2] == ["image", "inspect"]:
    print(json.dumps([{"Id": "x", "Size": 1, "Architecture": "amd64", "Config": {"Labels": state.get("labels", {})}}]))
elif words[0] in state.get("answers", {}):
    print(state["answers"][words[0]])
elif words[:2] == ["volume", "ls"]:
    print("\n".join(state["volumes"]))
elif words[:2] == ["compose", "logs"]:
    print(state["logs"].get(words[-1], ""))
elif words[:2] == ["compose", "run"]:
    for step in range(1, 7):
        print(f"init: {step}/6 a step")
elif words[:2] == ["compose", "down"]:
    state["containers"] = {}
    if "--volumes" in words:
        state["volumes"] = []
    keep()
