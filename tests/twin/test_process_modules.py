"""What a process loads: three nodes have to fit beside a notebook on a small machine, and a command has to answer at once."""

import os
import subprocess
import sys

import pytest

HEAVY = {"pandas", "pyarrow", "plotly", "duckdb", "sqlglot", "matplotlib", "IPython", "dask", "ipywidgets", "mssql_python"}


def test_a_twin_loads_nothing_that_only_notebooks_need():
    """Nodes, engine and interpreter come up without any of the packages for tables, figures and notebooks."""
    text = "import sys, aglab.twin.serve; from aglab.tsql.catalog import registry; registry.load()"
    text += f"; print({HEAVY} & {{*sys.modules}})"
    environment = {**os.environ, "AGLAB_NUMBA": "0"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.stdout.strip(), done.returncode) == ("set()", 0), done.stderr


@pytest.mark.parametrize("words", [["--help"], ["status"], ["down"]])
def test_a_command_that_computes_nothing_loads_no_numerics(words, tmp_path):
    """Help and the question whether nodes run answer without NumPy, pandas and Numba, which take a second and more."""
    text = f"import sys; from aglab.cli import main; main({words!r})"
    text += f"; print('loaded', {HEAVY | {'numpy', 'numba', 'scipy', 'docker'}} & {{*sys.modules}})"
    environment = {**os.environ, "AGLAB_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "AGLAB_MODE": "twin"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.stdout.strip().splitlines()[-1], done.returncode) == ("loaded set()", 0), done.stderr
