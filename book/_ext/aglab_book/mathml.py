"""Formulas as MathML, which browsers draw themselves: no script, no fonts to fetch, readable by screen readers."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("aglab_mathml", (_inline, None), (_block, None))


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    formula = convert(node.astext(), display="block")
    # A long formula scrolls inside its box: the keyboard must reach it.
    translator.body.append(f'<div class="aglab-math" tabindex="0" role="group" aria-label="Formula">{formula}</div>')
    raise nodes.SkipNode
