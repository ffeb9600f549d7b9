"""The class on Kubernetes: what values.yaml says is what the chart knows, and what the seat's image and the local hub need.

The chart is not here. The rules below are written after its values.schema.yaml and values.yaml (repository
jupyterhub/zero-to-jupyterhub-k8s, read again at commit 02dd73df): the keys that are used, their types, and that the chart takes
no other key beside them. Nothing was rendered with helm.
A slow test starts a hub on this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CLASSROOM = ROOT / "docker" / "classroom"


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """A table that takes these keys and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


OPEN = {"type": "object"}
FLAG, TEXT, COUNT = {"type": "boolean"}, {"type": "string"}, {"type": "integer"}
SIZE = {"type": ["number", "string"], "pattern": r"^\d+(\.\d+)?[KMGT]$"}
EGRESS = (
    "cloudMetadataServer",
    "dnsPortsCloudMetadataServer",
    "dnsPortsKubeSystemNamespace",
    "dnsPortsPrivateIPs",
    "nonPrivateIPs",
    "privateIPs",
)
POLICY = closed(
    enabled=FLAG, egress={"type": "array"}, ingress={"type": "array"}, egressAllowRules=closed(**dict.fromkeys(EGRESS, FLAG))
)
RULES = closed(
    hub=closed(config=OPEN, concurrentSpawnLimit=COUNT, activeServerLimit=COUNT),
    proxy=closed(service=closed(type={"enum": ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]})),
    singleuser=closed(
        image=closed(("name", "tag"), name=TEXT, tag=TEXT, pullPolicy={"enum": ["IfNotPresent", "Always", "Never"]}),
        memory=closed(guarantee=SIZE, limit=SIZE),
        cpu=closed(guarantee={"type": "number"}, limit={"type": "number"}),
        startTimeout=COUNT,
        cmd={"type": ["array", "string"]},
        defaultUrl=TEXT,
        extraEnv=OPEN,
        storage=closed(
            type={"enum": ["dynamic", "static", "none"]},
            capacity={"type": "string", "pattern": r"^\d+[KMGT]i$"},
            homeMountPath=TEXT,
            extraVolumes={"type": "array"},
            extraVolumeMounts={"type": "array"},
        ),
        networkPolicy=POLICY,
        cloudMetadata=closed(("blockWithIptables", "ip"), blockWithIptables=FLAG, ip=TEXT),
    ),
    cull=closed(enabled=FLAG, timeout=COUNT, every=COUNT, maxAge=COUNT),
    prePuller=closed(continuous=closed(enabled=FLAG)),
)


def values(name: str = "values.yaml") -> dict[str, Any]:
    return yaml.safe_load((CLASSROOM / name).read_text(encoding="utf-8"))


def merged(below: Any, above: Any) -> Any:
    """Two value files as helm lays one over the other."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


@pytest.mark.parametrize("layers", [["values.yaml"], ["values.yaml", "remote.yaml"]])
def test_values_are_what_the_chart_knows(layers):
    """Keys and types of both files, and of one laid over the other."""
    found: Any = {}
    for name in layers:
        jsonschema.validate(values(name), RULES)
        found = merged(found, values(name))
    jsonschema.validate(found, RULES)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("singleuser", "memroy"), "2G"),
        (("singleuser", "memory", "limit"), "2 gigabytes"),
        (("proxy", "service", "type"), "Public"),
    ],
)
def test_the_rules_can_fail(path, value):
    """A key with a slip in it, a size and a type that the chart does not take."""
    wrong = values()
    place = wrong
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, RULES)


def test_no_password_no_way_out_and_nothing_published():
    """The class password is given on the command line; a seat reaches names and hub alone; the proxy is inside the cluster."""
    found = values()
    assert "DummyAuthenticator" not in found["hub"]["config"]
    assert found["proxy"]["service"]["type"] == "ClusterIP"
    rules = found["singleuser"]["networkPolicy"]["egressAllowRules"]
    assert not any(rules[name] for name in ("nonPrivateIPs", "privateIPs", "cloudMetadataServer"))
    text = (CLASSROOM / "remote.yaml").read_text()
    assert "secretKeyRef" in text and not re.search(r"^\s*(AGLAB_PASSWORD|password): *[\"'\w]", text, flags=re.M)


def test_image_values_and_check_name_the_same_hub():
    """One version of JupyterHub and of the chart everywhere: a seat of another major version is refused by its hub."""
    docker, script = (CLASSROOM / "Dockerfile").read_text(), (ROOT / "scripts" / "classroom_check.sh").read_text()
    wanted = re.search(r"^ARG JUPYTERHUB=(\S+)", docker, flags=re.M)[1]
    assert f"jupyterhub={wanted} " in script
    chart = re.search(r"--version (\S+)", (CLASSROOM / "values.yaml").read_text())[1]
    assert f"{chart} brings {wanted}" in docker
    assert values()["singleuser"]["storage"]["homeMountPath"] == re.search(r"--home-dir (\S+)", docker)[1]


def test_the_seat_begins_with_the_learners_copy(tmp_path):
    """The command of values.yaml copies notebooks and labs into a fresh home, then starts the server with the hub's arguments."""
    if os.name == "nt":
        pytest.skip("a seat is a Linux container")
    (tmp_path / "bin").mkdir()
    for name, body in (("jupyterhub-singleuser", 'echo "server $@"'), ("python", f'exec "{sys.executable}" "$@"')):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*values()["singleuser"]["cmd"], "--port=1"], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "server --port=1\n"
    assert list((tmp_path / "aglab" / "notebooks").glob("*.ipynb"))


@pytest.mark.skipif(os.name == "nt", reason="the check is for Linux")
def test_the_check_tells_what_a_seat_should_not_see(monkeypatch):
    """Each thing a seat could see of another, and each thing it could lack, is named."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import classroom_check

    monkeypatch.setattr(classroom_check.os, "geteuid", lambda: 0)
    hidden = {"password": "PermissionError", "home": "PermissionError", "nodes": ["18456"] * 3}
    good = {"databases": ["only_a"], "prediction": "a", "kept": ["16-checkpoint-throttle.json"], "seen": {"b": hidden}}
    assert classroom_check.judged("a", {"notebooks": 1}, good) == []
    for wrong, said in (
        ({"databases": ["only_a", "only_b"]}, "databases"),
        ({"prediction": "b"}, "prediction"),
        ({"kept": []}, "kept"),
        ({"seen": {"b": {**hidden, "password": "ALLOWED: x"}}}, "password of b"),
        ({"seen": {"b": {**hidden, "home": "ALLOWED: []"}}}, "home of b"),
        ({"seen": {"b": {**hidden, "nodes": ["18456", "ALLOWED: a connection", "18456"]}}}, "node of b"),
    ):
        [text] = classroom_check.judged("a", {"notebooks": 1}, {**good, **wrong})
        assert said in text
    assert "notebooks" in classroom_check.judged("a", {"notebooks": 0}, good)[0]


@pytest.mark.classroom
@pytest.mark.timeout(1500)
@pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="the hub's proxy needs node and npm")
@pytest.mark.skipif(sys.platform != "linux", reason="user ids and memory of Linux")
def test_three_learners_do_not_see_one_another():
    """A hub on this machine, three private twins at once."""
    done = subprocess.run(
        [str(ROOT / "scripts" / "classroom_check.sh")], capture_output=True, text=True, timeout=1400, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "none sees another's" in done.stdout
