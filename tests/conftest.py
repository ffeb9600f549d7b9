"""For every test: a user's folder of its own, and nothing of the caller's settings."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory, monkeypatch):
    """No test reads or writes the files of whoever runs it."""
    for name in ("AGLAB_MODE", "AGLAB_DRIVER", "AGLAB_PROFILE", "AGLAB_DEBUG", "AGLAB_SERVERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path_factory.mktemp("home")))
