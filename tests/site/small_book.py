"""Books of one page, built with the course's configuration and extension."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from visits import ROOT


def make_book(folder: Path) -> Path:
    """Give a folder the course's configuration and extension, and one page."""
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy(ROOT / name, folder)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    write_notebook(folder)
    return folder


def write_notebook(book: Path, *sources: str) -> None:
    """Write the book's only page: a title, then a code cell for each source."""
    write_cells(book, nbformat.v4.new_markdown_cell("# A page"), *map(nbformat.v4.new_code_cell, sources))


def write_cells(book: Path, *cells: nbformat.NotebookNode, name: str = "page") -> None:
    """Write a page, the book's only one unless another is named."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata), book / f"{name}.ipynb")


def build(book: Path) -> subprocess.CompletedProcess:
    """Build the book as `make site` does, except that here Sphinx runs the page's few cells."""
    command = [Path(sys.executable).parent / "jupyter-book", "build", str(book), "-n", "-W", "--keep-going"]
    return subprocess.run(command, cwd=book, capture_output=True, text=True, timeout=120)
