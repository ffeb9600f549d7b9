"""Compiled and plain Python give the same bits; the kernel cache finds a place to live, or the engine does without Numba."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from aglab.engine import COMPILED, jit

SCRIPT = """
import hashlib, sys
if sys.argv[1] == "absent":
    sys.modules["numba"] = None
from aglab.engine import COMPILED, Flow, steady
from aglab.scenario import Scenario
digest = hashlib.sha256()
for replicas, settings in ((1, {}), (3, {"k": 750}), (2, {"checkpoint": "indirect", "mode": "async", "version": "2014"})):
    flow = Flow(Scenario.default(replicas=replicas).with_settings(settings), seed=7)
    block = flow.advance(25.05)
    flow.change(users=50, checkpoint=True)
    if replicas > 1:
        flow.change("sql2", connected=False)
    flow.advance(5)
    for part in (block.values, flow.state.st, flow.state.seg, flow.state.cl, flow.state.tot):
        digest.update(part.tobytes())
    digest.update(repr(sorted(flow.gauges("sql1").items())).encode())
    digest.update(repr(steady(flow.scenario, 96000)).encode())
print(COMPILED, digest.hexdigest())
"""


def run(argument: str, **variables: str) -> list[str]:
    """Run the script in a fresh interpreter."""
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT, argument], capture_output=True, text=True, env=environment, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_compiled_and_plain_python_agree_bit_for_bit():
    """One source, two ways to run it, one digest; an absent numba is the same as switched off."""
    off = run("off", AGLAB_NUMBA="0")
    absent = run("absent")
    assert off[0] == absent[0] == "False"
    assert off[1] == absent[1]
    if COMPILED:
        on = run("on", AGLAB_NUMBA="1")
        assert on[0] == "True" and on[1] == off[1]


@pytest.mark.skipif(os.name == "nt", reason="folders that even root cannot write")
def test_an_unwritable_home_falls_back_to_a_temporary_folder(monkeypatch):
    """Without a cache folder in the home the kernels go to a temporary one."""
    monkeypatch.delenv("AGLAB_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/proc/none")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    jit.cache_folder.cache_clear()
    try:
        folder = jit.cache_folder()
        assert folder.is_dir() and "/proc" not in str(folder)
        monkeypatch.setenv("AGLAB_CACHE_DIR", "/proc/none")
        jit.cache_folder.cache_clear()
        assert jit.cache_folder().is_dir()
    finally:
        monkeypatch.undo()
        jit.cache_folder.cache_clear()


def test_the_cache_folder_is_named_by_the_sources(tmp_path, monkeypatch):
    """Any change of a kernel source names another folder: no stale callee is ever used."""
    monkeypatch.setenv("AGLAB_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    try:
        assert jit.cache_folder().name == jit.source_digest()
    finally:
        monkeypatch.undo()
        jit.cache_folder.cache_clear()


FIRST_RESULT = """
import gc, sys
from aglab.engine import Flow
from aglab.scenario import Scenario
Flow(Scenario.default(replicas=1)).advance(1)
loaded = "scipy.linalg" in sys.modules
from numba.np import arraymath, linalg
print(loaded, gc.isenabled(), arraymath.ensure_blas is linalg.ensure_blas, linalg.ensure_blas.__module__, arraymath._HAVE_BLAS)
"""


@pytest.mark.skipif(not COMPILED, reason="only Numba asks for a BLAS")
def test_a_first_result_needs_no_scipy_and_leaves_numba_as_it_is():
    """Numba is not made to import SciPy's linear algebra, knows of it all the same, and garbage is collected as before."""
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", FIRST_RESULT], capture_output=True, text=True, timeout=110, check=True)
    assert done.stdout.split() == ["False", "True", "True", "numba.np.linalg", "True"]


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again_after_an_error(collecting):
    """Whoever had switched collection off finds it off, whoever had not finds it on, whatever happened between."""
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(KeyError), jit._without_pauses():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.skipif(not COMPILED, reason="only Numba asks for a BLAS")
def test_a_numba_that_asks_for_blas_in_another_way_is_left_alone(monkeypatch):
    """Without the function that is put off, nothing is put in its place."""
    from numba.np import linalg

    for name in ("numba.np.arraymath", "scipy.linalg"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(linalg, "ensure_blas")
    with jit._without_scipy():
        assert not hasattr(linalg, "ensure_blas")
    assert "numba.np.arraymath" not in sys.modules
