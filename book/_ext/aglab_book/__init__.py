"""The book's own Sphinx extension: pages that work from disk, and content that comes from the library instead of from typing.

``offline`` keeps every page free of other hosts, ``mathml`` renders formulas without a script, ``blocks`` puts explorables,
quizzes, figures and T-SQL steps on pages, ``figures_in_print`` the papers' numbers, ``ledger`` the comparison with the
twin, ``facts`` what the twin knows, ``describe`` how a system is described, ``coverage`` where the papers' subjects are taught,
``plans`` the instructor's, ``reasons`` where the twin is far off.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from aglab_book import blocks, coverage, describe, evidence, facts, html, ledger, mathml, numbers, offline, plans, reasons


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every part."""
    for part in (offline, mathml, blocks, numbers, ledger, evidence, facts, describe, coverage, plans, reasons):
        part.setup(app)
    # Another library or another directive makes other pages of the same text: with another version Sphinx reads them all again.
    version = int.from_bytes(html.made_from()[:6], "big")
    return {"version": "1", "env_version": version, "parallel_read_safe": True, "parallel_write_safe": True}
