"""Core speaks exactly: types print as T-SQL, counters carry PerfMon names, errors carry a remedy."""

from __future__ import annotations

import doctest
import importlib

import pytest

import aglab
from aglab.core import errors, paths, sqltypes, units
from aglab.core.counters import BY_KEY, COUNTERS


@pytest.mark.parametrize("module", [units, errors])
def test_documented_examples_run(module):
    """Every example in a docstring is true."""
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (sqltypes.nvarchar(), "nvarchar(max)"),
        (sqltypes.varchar(10), "varchar(10)"),
        (sqltypes.decimal(18, 2), "decimal(18,2)"),
        (sqltypes.DATETIME2, "datetime2(7)"),
        (sqltypes.INT, "int"),
        (sqltypes.varbinary(8), "varbinary(8)"),
        (sqltypes.char(3), "char(3)"),
    ],
)
def test_types_print_as_t_sql(value, text):
    """A type prints the way T-SQL writes it."""
    assert str(value) == text


def test_counter_keys_and_paths_are_unique():
    """One key, one PerfMon path."""
    assert len(BY_KEY) == len(COUNTERS)
    assert len({counter.path("OLTP") for counter in COUNTERS}) == len(COUNTERS)
    assert BY_KEY["transactions_per_s"].path("OLTP") == "SQLServer:Databases(OLTP)\\Transactions/sec"
    assert BY_KEY["checkpoint_pages_per_s"].path() == "SQLServer:Buffer Manager\\Checkpoint pages/sec"


def test_exit_codes():
    """1 failed, 2 wrong use, 3 missing on this machine."""
    assert [e("x").exit_code for e in (errors.AglabError, errors.UsageError, errors.MissingError)] == [1, 2, 3]
    assert str(errors.AglabError("x")) == "x"


def test_bundle_is_found_and_its_absence_is_said(tmp_path, monkeypatch):
    """The data folder is found; an incomplete installation says so with a remedy."""
    assert (paths.bundle_path("data", "published") / "figures.csv").is_file()
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "a" / "b" / "aglab")
    with pytest.raises(errors.MissingError, match="reinstall aglab"):
        paths.bundle_root()
    (tmp_path / "a" / "b" / "aglab" / "_bundle").mkdir(parents=True)
    assert paths.bundle_root().name == "_bundle"


@pytest.mark.parametrize("name", sorted(aglab._PUBLIC))
def test_public_names_exist(name):
    """Every public name of the architecture loads."""
    room, attribute = aglab._PUBLIC[name]
    module = importlib.import_module(room)
    assert getattr(aglab, name) is (getattr(module, attribute) if attribute else module)
    assert callable(getattr(aglab, name))


def test_unknown_public_name():
    """An unknown name is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        aglab.nope  # noqa: B018
    assert "open_lab" in dir(aglab)
