"""Which lab can run in which mode: from what the doctor found and what lab.toml needs."""

from __future__ import annotations

import pytest
from cli_help import run

from aglab.core.errors import UsageError
from aglab.lab import readiness
from aglab.lab.labs import lab_slugs


def examined(docker=True, remote=True, netem=True):
    """What the doctor returns."""
    findings = [
        {"what": "Python", "ok": True, "found": "3.12", "modes": "twin", "remedy": ""},
        {"what": "Docker Engine", "ok": docker, "found": "not installed", "modes": "docker", "remedy": "install it"},
        {"what": "limit delay", "ok": netem, "found": "this kernel has no netem", "modes": "limits", "remedy": "modprobe"},
        {"what": "servers of your own", "ok": remote, "found": "no file", "modes": "remote", "remedy": "name it"},
    ]
    return {"findings": findings, "modes": {"twin": True, "docker": docker, "remote": remote}}


def modes(slug, **found):
    [row] = readiness.lab_readiness(examined(**found), [slug])
    return row["modes"]


def test_where_everything_is_there():
    """Every lab in every mode; what a mode cannot do for a lab's later part is named with its reason."""
    for row in readiness.lab_readiness(examined()):
        assert all(found["ok"] for found in row["modes"].values()), row
        assert row["modes"]["twin"]["missing"] == []
    assert modes("12-synchronous-commit")["docker"]["missing"] == []
    assert (
        "delay: the network and disks of these servers are not ours to break"
        in modes("12-synchronous-commit")["remote"]["missing"]
    )
    assert any("DAX" in text for text in modes("21-tail-of-the-log")["docker"]["missing"])


def test_what_is_missing_is_named_for_each_mode():
    """No Docker, no servers, no netem: the lab and the mode that feel it."""
    found = modes("12-synchronous-commit", docker=False, remote=False)
    assert found["twin"]["ok"] and not found["docker"]["ok"] and not found["remote"]["ok"]
    assert found["docker"]["missing"] == ["Docker Engine: not installed"] and found["docker"]["start"] == ""
    assert found["remote"]["missing"] == ["servers of your own: no file"]
    slow = modes("12-synchronous-commit", netem=False)["docker"]
    assert slow["ok"] and slow["missing"] == ["delay: this kernel has no netem; modprobe"]
    assert modes("10-build-the-group", netem=False)["docker"]["missing"] == []


@pytest.mark.parametrize(
    ("slug", "command"),
    [
        ("10-build-the-group", "aglab up --mode docker --bare"),
        ("12-synchronous-commit", "aglab up --mode docker"),
        ("13-redo-and-failover", "aglab up --mode docker --cluster-type NONE"),
    ],
)
def test_how_to_start_the_containers(slug, command):
    """As lab.toml wants them."""
    assert modes(slug)["docker"]["start"] == command


def test_a_mode_that_a_lab_is_not_made_for(monkeypatch):
    """Said, whatever runs here; a need that nobody knows is a slip in lab.toml."""
    about = {"title": "x", "modes": ["twin"], "needs": []}
    monkeypatch.setattr(readiness, "describe", lambda slug: about)
    assert modes("x")["docker"]["missing"] == ["the lab is not made for mode docker"]
    about["modes"], about["needs"] = ["twin", "docker"], ["a-miracle"]
    with pytest.raises(UsageError, match="'a-miracle' is not known"):
        modes("x")


def test_doctor_shows_every_lab(capsys, monkeypatch):
    """A row for each lab in the table and in --json; a seat's check leaves them out."""
    monkeypatch.setattr("aglab.live.examine", lambda seat=False: examined(docker=False, remote=False))
    found = run(capsys, "doctor", "--json").json["labs"]
    assert [row["lab"] for row in found] == lab_slugs()
    assert set(found[0]["modes"]) == {"twin", "docker", "remote"}
    said = run(capsys, "doctor").out
    assert all(slug in said for slug in lab_slugs())
    assert "(1) Docker Engine: not installed" in said
