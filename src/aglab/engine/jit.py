"""Numba where it is, plain Python where it is not: one source, the same numbers.

``AGLAB_NUMBA=0`` switches compilation off. Compiled kernels are cached in a folder named by a digest of every kernel
source: Numba's own cache looks only at the file of the outermost function and would keep stale callees. The folder is
the user's cache folder, or a temporary one where that cannot be written.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
# _nrt: no references are counted. Arrays belong to the caller, kernels make none, and counting took half of a tick's time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


def _wanted() -> bool:
    if os.environ.get("AGLAB_NUMBA", "1").strip().lower() in ("0", "off", "no", "false"):
        return False
    try:
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
        compiled: Any = numba.njit(**_OPTIONS, cache=True)(function)
    finally:
        settings.CACHE_DIR = before
    return compiled
