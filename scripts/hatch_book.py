"""Build hook: the wheel carries the built book where ``make book`` has made one."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BookHook(BuildHookInterface):
    """Adds ``_build/html`` as ``aglab/_bundle/book`` to a wheel that is not editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the wheel is put together."""
        html = Path(self.root) / "_build" / "html"
        if version != "editable" and (html / "index.html").is_file():
            build_data["force_include"][str(html)] = "aglab/_bundle/book"
