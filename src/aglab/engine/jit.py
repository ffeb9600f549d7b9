"""Numba where it is, plain Python where it is not: one source, the same numbers.

``AGLAB_NUMBA=0`` switches compilation off. Compiled kernels are cached in a folder named by a digest of every kernel
source: Numba's own cache looks only at the file of the outermost function and would keep stale callees. The folder is
the user's cache folder, or a temporary one where that cannot be written.

A process that only reads compiled kernels is mostly busy with importing Numba: two things that it does not need then are left
out (:func:`_without_pauses`, :func:`_without_scipy`).
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
# _nrt: no references are counted. Arrays belong to the caller, kernels make none, and counting took half of a tick's time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


@contextlib.contextmanager
def _without_pauses() -> Iterator[None]:
    """Collect no garbage: an import makes very many objects that stay, and would look through them again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextlib.contextmanager
def _without_scipy() -> Iterator[None]:
    """Let Numba take SciPy's presence for its BLAS.

    Where SciPy is installed, Numba imports its linear algebra with its own, only to know whether that works: a tenth of a cold
    start, and no kernel multiplies matrices. Code that does still imports it, when it is compiled.
    """
    if "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules or importlib.util.find_spec("scipy") is None:
        yield
        return
    from numba.np import linalg

    room: Any = linalg
    asked = getattr(room, "ensure_blas", None)
    if asked is None:  # a Numba that does it in another way
        yield
        return
    room.ensure_blas = lambda: None
    try:
        from numba.np import arraymath

        if getattr(arraymath, "ensure_blas", None) is room.ensure_blas:
            setattr(arraymath, "ensure_blas", asked)  # noqa: B010
    finally:
        room.ensure_blas = asked
    yield


def _wanted() -> bool:
    if os.environ.get("AGLAB_NUMBA", "1").strip().lower() in ("0", "off", "no", "false"):
        return False
    try:
        with _without_pauses():
            import numba  # noqa: F401
    except ImportError:
        return False
    return True


COMPILED = _wanted()


@functools.cache
def source_digest() -> str:
    """A short digest of the engine's sources and of the versions that compile them."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    if COMPILED:
        import numba
        import numpy

        digest.update(f"{numba.__version__} {numpy.__version__}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """A writable folder for compiled kernels."""
    for base in _candidates():
        folder = base / "aglab" / "kernels" / source_digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except (OSError, RuntimeError):
            continue
    return Path(tempfile.mkdtemp(prefix="aglab-kernels-"))


def _candidates() -> list[Path]:
    chosen = os.environ.get("AGLAB_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    try:
        import platformdirs

        user = [Path(platformdirs.user_cache_dir("aglab", appauthor=False))]
    except (ImportError, RuntimeError, OSError):
        user = []
    return [*user, Path(tempfile.gettempdir()) / f"aglab-{os.environ.get('USERNAME') or os.environ.get('USER') or 'user'}"]


def kernel(function: F) -> F:
    """Compile a function that only other kernels call; without Numba, the function as it is.

    It gets no wrapper for Python: leaving those out halves the time of a cold start.
    """
    if not COMPILED:
        return function
    import numba

    options: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
    try:
        # arrays are passed as seven numbers each: a call that is not inlined costs more than most bodies
        compiled: Any = numba.njit(**options, forceinline=True)(function)
    except (KeyError, TypeError):  # a Numba that does not know the option
        compiled = numba.njit(**options)(function)
    return compiled


def plain(function: F) -> F:
    """The Python form of a :func:`kernel`, for set-up code: the compiled one cannot be called from Python."""
    return getattr(function, "py_func", function)  # type: ignore[return-value]


_FIRST = threading.RLock()  # what a first call leaves out for its time is the whole process's: one at a time


class _Entry:
    """A compiled kernel that Python calls; its first call reads it from the disk, or compiles it."""

    def __init__(self, function: Callable[..., Any], compiled: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled = compiled
        self._cold = True

    @property
    def kept(self) -> bool:
        """Whether it has been compiled before and lies in the cache folder."""
        return any(Path(self._compiled.stats.cache_path).glob(f"*.{self.py_func.__name__}-*.nbi"))

    def __call__(self, *arguments: Any) -> Any:
        if self._cold:
            return self._first(*arguments)
        return self._compiled(*arguments)

    def _first(self, *arguments: Any) -> Any:
        with _FIRST:
            # a compiler leaves much behind that must be collected: only where there is something to read is it put off
            with _without_scipy(), _without_pauses() if self.kept else contextlib.nullcontext():
                result = self._compiled(*arguments)
            self._cold = False
            return result


def entry(function: F) -> F:
    """Compile a kernel that Python calls (nogil, cached on disk); without Numba, the function as it is."""
    if not COMPILED:
        return function
    import numba
    from numba.core import config

    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder())
    try:
        made: Any = _Entry(function, numba.njit(**_OPTIONS, cache=True)(function))
    finally:
        settings.CACHE_DIR = before
    return made  # type: ignore[no-any-return]
