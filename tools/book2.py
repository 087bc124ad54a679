"""Build the course plainly with Jupyter Book 2, without the extension in _ext/: what leaving Jupyter Book 1 would cost.

book2.py <program>   the jupyter-book of version 2

The pages are those of the last `make site`, with what their cells showed. An explorer is the picture of its first
state. Jupyter Book 2 writes its myst.yml itself, from _config.yml and _toc.yml; it asks whether it may.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from make_site import last_runs
from notebooks import path
from sphinx_external_toc.parsing import parse_toc_yaml

FOLDER = Path("_build/book2")
WIDGET = "application/vnd.jupyter.widget-view+json"
BESIDE_THE_PAGES = ["_config.yml", "_toc.yml", "references.bib"]


def without_widgets(notebook):
    """Leave of each widget the picture that it shows without a kernel."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.pop("widgets", None)
    return notebook


def lay_out():
    """Copy what a book is made of into a folder of its own."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree("_static", FOLDER / "_static")
    ran = last_runs()
    texts = [f"{page}.md" for page in parse_toc_yaml("_toc.yml") if page not in ran]
    for file in [*BESIDE_THE_PAGES, *filter(Path.exists, map(Path, texts))]:
        (FOLDER / file).parent.mkdir(exist_ok=True)
        shutil.copy(file, FOLDER / file)
    for name, notebook in ran.items():
        (FOLDER / path(name)).parent.mkdir(exist_ok=True)
        nbformat.write(without_widgets(notebook), FOLDER / path(name))


def main(program):
    """Lay the book out and build it; the exit status of Jupyter Book."""
    lay_out()
    program = Path(program).absolute()
    subprocess.run([program, "init", "--project", "--site"], cwd=FOLDER, input="y\n", text=True, check=True)
    return subprocess.run([program, "build", "--html"], cwd=FOLDER).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
