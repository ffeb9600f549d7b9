"""What the process of a twin loads: three nodes have to fit beside a notebook on a small machine."""

import os
import subprocess
import sys

HEAVY = {"pandas", "pyarrow", "plotly", "duckdb", "sqlglot", "matplotlib", "IPython", "dask", "ipywidgets", "mssql_python"}


def test_a_twin_loads_nothing_that_only_notebooks_need():
    """Nodes, engine and interpreter come up without any of the packages for tables, figures and notebooks."""
    text = "import sys, aglab.twin.serve; from aglab.tsql.catalog import registry; registry.load()"
    text += f"; print({HEAVY} & {{*sys.modules}})"
    environment = {**os.environ, "AGLAB_NUMBA": "0"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.stdout.strip(), done.returncode) == ("set()", 0), done.stderr
