"""Runs every notebook again with a fresh kernel and keeps its outputs: read the diff before committing.

Usage: python scripts/run_notebooks.py [NAME ...]   (without a name: all)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
CELL_S = 300


def refresh(path: Path) -> None:
    """Execute one notebook in place; nothing is written when a cell fails."""
    import os

    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02d}"  # stable ids: a diff shows what changed, not that it was run
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as home:
        os.environ["AGLAB_HOME"] = home  # a learner's own predictions must not end up in the book
        client = NotebookClient(
            notebook, timeout=CELL_S, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
        )
        client.execute()
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop("application/vnd.jupyter.widget-view+json", None)  # a widget without a kernel is a dead box
            data.pop("application/vnd.plotly.v1+json", None)  # the book draws the HTML; JupyterLab draws anew
    nbformat.write(notebook, path)
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} code cells run")


def main(names: list[str]) -> None:
    """Run the notebooks named, or all."""
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    chosen = [path for path in paths if not names or path.stem in names or path.name in names]
    if not chosen:
        sys.exit(f"no notebook of {names}; there are: {', '.join(path.stem for path in paths)}")
    for path in chosen:
        refresh(path)


if __name__ == "__main__":
    main(sys.argv[1:])
