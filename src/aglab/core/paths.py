"""Where the files that travel with aglab lie (the checkout, or the copy inside an installed wheel), and where a user's do.

In a checkout, ``data/``, ``labs/``, ``notebooks/`` and ``docker/`` stand beside ``src/``; a wheel carries the same
folders under ``aglab/_bundle``. The checkout wins, so that an edited lab is the one that runs.
"""

from __future__ import annotations

import os
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


def user_home() -> Path:
    """A user's folder: ``AGLAB_HOME``, or the system's place for a user's data."""
    import platformdirs

    chosen = os.environ.get("AGLAB_HOME")
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("aglab", appauthor=False))


def bundle_path(*parts: str) -> Path:
    """A path below :func:`bundle_root`, e.g. ``bundle_path("data", "profiles")``."""
    return bundle_root().joinpath(*parts)
