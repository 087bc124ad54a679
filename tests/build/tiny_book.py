"""A book of two tiny chapters that share the course's build."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
SHARED = ["Makefile", "LICENSE", "tools", "_ext", "_static", "_config.yml", "pyproject.toml", "requirements.txt"]
SHARED += ["references.bib"]
TOC = """\
format: jb-book
root: intro
chapters:
- file: chapters/one
- file: chapters/two
"""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def make(folder, *arguments, **options):
    """The exit status of make and everything it printed."""
    done = subprocess.run(
        ["make", *arguments], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
    )
    return done.returncode, COLOUR.sub("", done.stdout)


# Notes down each of its executions, and shows a module of the package. (What it uses of the package is read from its
# imports, and need not be run.)
CELL = """\
import os, time
from pathlib import Path

with open("../executed.txt", "a") as log:
    log.write("{name}\\n")
Path("../{name}.started").touch()
{extra}
print(Path("../attention_course/{module}.py").read_text())

def use():
    from attention_course import {module}_answer"""

# Each of the two chapters waits for the other to have started.
WAIT = """\
while not (Path("../one.started").exists() and Path("../two.started").exists()):
    time.sleep(0.01)
assert os.environ["OMP_NUM_THREADS"] == "1\""""


def write_chapter(folder, name, *more_cells, extra="", tags=(), kernel="python3"):
    """A chapter: the first uses the module `idea` of the package, the second `other`."""
    module = {"one": "idea", "two": "other"}[name]
    cells = [CELL.format(name=name, module=module, extra=extra), *more_cells]
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": kernel, "display_name": "Python 3", "language": "python"}},
        cells=[nbformat.v4.new_markdown_cell(f"# Chapter {name}"), *map(nbformat.v4.new_code_cell, cells)],
    )
    notebook.cells[1].metadata["tags"] = list(tags)
    nbformat.write(notebook, folder / "chapters" / f"{name}.ipynb")


PACKAGE = {
    "__init__.py": """\
from attention_course.idea import idea_answer
from attention_course.other import other_answer
""",
    "idea.py": "from attention_course.deep import depth\n\nidea_answer = depth\n",
    "deep.py": "depth = 1\n",
    "other.py": "other_answer = 1\n",
}


class Book:
    def __init__(self, folder):
        self.folder = folder

    def arguments(self, target):
        """What make is called with: the environment that runs this test stands in for the book's own, as it is."""
        venv = sys.prefix
        return [target, f"VENV={venv}", "-o", f"{venv}/.pins", "-o", f"{venv}/.package"]

    def make(self, target, *options):
        """The exit status of a target and what it printed."""
        return make(self.folder, *self.arguments(target), *options)

    def begin(self, target):
        """A target at work, in a group of its own as in a terminal."""
        command = ["make", *self.arguments(target)]
        return subprocess.Popen(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, start_new_session=True)

    def build(self):
        """The exit status of `make site`, what it printed, and which chapters were executed."""
        log = self.folder / "executed.txt"
        log.write_text("")
        status, output = self.make("site")
        return status, output, sorted(log.read_text().split())

    def write(self, module, text):
        """Write a module of the package."""
        (self.folder / "attention_course" / module).write_text(text)

    def page(self, name):
        """The built page of a chapter."""
        return (self.folder / "_build" / "html" / "chapters" / f"{name}.html").read_text()


def make_book(folder):
    """A book of two chapters in a folder, built once."""
    for name in SHARED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in ("chapters", "attention_course"):
        (folder / name).mkdir()
    (folder / "_toc.yml").write_text(TOC)
    (folder / "intro.md").write_text("# A tiny book\n")
    # Environments and caches bring pages of their own, which are not the book's.
    (folder / ".cache").mkdir()
    (folder / ".cache" / "README.md").write_text("# Not a page\n")
    book = Book(folder)
    for module, text in PACKAGE.items():
        book.write(module, text)
    for name in ("one", "two"):
        write_chapter(folder, name, extra=WAIT)
    status, output, executed = book.build()
    assert status == 0, output
    assert executed == ["one", "two"]
    assert "notebook 2 of 2" in output
    assert re.search(r"slowest cells\n +\d+\.\d s  chapters/(one|two), cell 2", output)
    assert f"file://{folder}/_build/html/index.html" in output
    return book
