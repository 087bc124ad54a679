"""Small books, built with the course's configuration and extension, from Markdown."""

import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup
from built_site import ROOT
from execute import CACHE, keep
from jupyter_cache import get_cache
from myst_nb.core.read import read_myst_markdown_notebook
from notebooks import code_cells, names, read, run

KERNEL = nbformat.from_dict({"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def make_book(book: Path, pages: dict[str, str]) -> Path:
    """Give a folder the course's configuration, its extension and some files."""
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / name, book / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy(ROOT / name, book)
    for name, text in pages.items():
        write_file(book / name, text)
    return book


def write_file(file: Path, text: str) -> None:
    """Write a file of a book. A page becomes a notebook, with a cell of code for each `{code-cell}`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != ".md" or file.name == "glossary.md":
        file.write_text(text, encoding="utf-8")
        return
    notebook = read_myst_markdown_notebook(text)
    notebook.metadata = KERNEL
    nbformat.write(notebook, file.with_suffix(".ipynb"))


def build(book: Path) -> subprocess.CompletedProcess:
    """Build the book as `make site` does, of what its cells showed when they ran."""
    run_new_cells(book)
    command = [Path(sys.executable).parent / "jupyter-book", "build", str(book), "-n", "-W", "--keep-going"]
    return subprocess.run(command, cwd=book, capture_output=True, text=True, timeout=240)


def run_new_cells(book: Path) -> None:
    """Run the notebooks that the cache does not have. Sphinx would, but it meets kernels at ports."""
    with chdir(book):
        cache = get_cache(str(CACHE))
        for name in names():
            notebook = read(name)
            try:
                cache.match_cache_notebook(notebook)
            except KeyError:
                shown = run(name, notebook).notebook if code_cells(notebook) else notebook
                keep(cache, name, shown, {"execution_seconds": 0})


def read_page(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
