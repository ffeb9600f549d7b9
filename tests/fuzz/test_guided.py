"""The targets of guided fuzzing hold for the inputs that it begins with, and it says what it needs."""

import sys

import guided
import pytest


@pytest.fixture(autouse=True)
def folders(monkeypatch):
    """The tests whose checks the targets are."""
    for folder in (guided.TESTS, guided.TESTS / "wire"):
        monkeypatch.syspath_prepend(str(folder))


def test_first_inputs_of_the_wire_hold(monkeypatch):
    """Each place of an input is reached, and a stream that breaks the rules of the wire would be seen."""
    check, seeds = guided.wire_target()
    for seed in seeds:
        check(seed)
    assert {seed[0] for seed in seeds} == set(range(8))
    monkeypatch.setattr("aglab.tds.connection.parse_batch", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        check(seeds[4])


def test_first_texts_hold(monkeypatch):
    """Texts of the fixtures, one in ten; a defect of the parser would be seen."""
    check, seeds = guided.text_target()
    for seed in [*seeds[::10], b"\xff\xfe", b""]:
        check(seed)
    monkeypatch.setattr("aglab.tsql.parser.statements.parse_batch", lambda _: 1 / 0)
    check, seeds = guided.text_target()
    with pytest.raises(ZeroDivisionError):
        check(seeds[0])


def test_without_atheris_it_says_how_to_get_it(monkeypatch, capsys):
    """It is no dependency: the exit code is that of something missing."""
    monkeypatch.setitem(sys.modules, "atheris", None)
    monkeypatch.setattr(sys, "argv", ["guided.py", "wire"])
    assert guided.main() == 3 and "pip install atheris" in capsys.readouterr().err
