"""Compiled kernels are there before they are needed."""

import os
import subprocess
import sys

import pytest

from aglab.engine import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="Numba is off or not installed")


@pytest.mark.slow  # compiles: a quarter of a minute on an idle processor, once
def test_kernels_are_compiled_once_and_then_kept(tmp_path):
    """Without a cache they are not kept; the module's run keeps them, and a second process finds all that a twin reads."""
    environment = {**os.environ, "AGLAB_CACHE_DIR": str(tmp_path)}
    asks = "from aglab.engine.warm import kernels_kept; print(kernels_kept())"

    def answer(*words):
        return subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=600, check=True
        ).stdout

    assert answer("-c", asks) == "False\n"
    answer("-m", "aglab.engine.warm")
    assert answer("-c", asks) == "True\n"
    before = sorted(path.name for path in tmp_path.rglob("*.nbi"))
    twin = "from aglab.twin.service import Twin; t = Twin.start(); f = t.cluster.plant.flow.copy(); "
    twin += "f.gauges(f.primary); f.advance(0.1); t.stop()"
    answer("-c", twin)
    assert sorted(path.name for path in tmp_path.rglob("*.nbi")) == before


def test_without_numba_nothing_is_compiled():
    """AGLAB_NUMBA=0: nothing to wait for."""
    environment = {**os.environ, "AGLAB_NUMBA": "0"}
    asks = "from aglab.engine.warm import kernels_kept; print(kernels_kept())"
    done = subprocess.run([sys.executable, "-c", asks], env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True\n"
