"""Where the files that travel with aglab lie: the checkout, or the copy inside an installed wheel.

In a checkout, ``data/``, ``labs/``, ``notebooks/`` and ``docker/`` stand beside ``src/``; a wheel carries the same
folders under ``aglab/_bundle``. The checkout wins, so that an edited lab is the one that runs.
"""

from __future__ import annotations

from pathlib import Path

from aglab.core.errors import MissingError

_PACKAGE = Path(__file__).resolve().parent.parent


def bundle_root() -> Path:
    """The folder that holds ``data``, ``labs`` and ``notebooks``.

    Raises
    ------
    MissingError
        The installation is incomplete: neither a checkout nor a bundle is there.
    """
    checkout = _PACKAGE.parent.parent
    if (checkout / "data" / "published").is_dir() and (checkout / "labs").is_dir():
        return checkout
    bundled = _PACKAGE / "_bundle"
    if bundled.is_dir():
        return bundled
    raise MissingError(f"aglab's data folder was not found at {bundled}", "reinstall aglab (pip install --force-reinstall aglab)")


def bundle_path(*parts: str) -> Path:
    """A path below :func:`bundle_root`, e.g. ``bundle_path("data", "profiles")``."""
    return bundle_root().joinpath(*parts)
