"""A book of tiny chapters that share the course's build; and its notebooks run in this process, without kernels."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
from notebooks import Run, code_cells

ROOT = Path(__file__).parents[2]
SHARED = ["Makefile", "LICENSE", "tools", "_ext", "_static", "_config.yml", "pyproject.toml", "requirements.txt"]
SHARED += ["references.bib"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PACKAGE = {
    "__init__.py": """\
from attention_course.idea import idea_answer
from attention_course.other import other_answer
""",
    "idea.py": "from attention_course.deep import depth\n\nidea_answer = depth\n",
    "deep.py": "depth = 1\n",
    "other.py": "other_answer = 1\n",
}
# What a chapter uses of the package is read from its imports, which need not be run.
USES = "def use():\n    from attention_course import {}_answer"
MODULES = {"one": "idea", "two": "other"}
# As the course's own, without its package.
SEEDED = """\
def setup(seed=0):
    return seed

def claim(sentence, condition):
    print(f"✓ {sentence}" if condition else f"✗ not so in this run: {sentence}")

course = setup()"""


def claim(sentence, condition):
    """The code of a claim."""
    return f"claim({sentence!r}, {condition})"


def make(folder, *arguments, **options):
    """The exit status of make and everything it printed."""
    done = subprocess.run(
        ["make", *arguments], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
    )
    return done.returncode, COLOUR.sub("", done.stdout)


def write_chapter(folder, name, *sources, tags=(), kernel="python3"):
    """A chapter: one uses the module `idea` of the package, two `other`. Its last cell has the tags."""
    sources = [*sources, USES.format(MODULES[name])] if name in MODULES else sources
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": kernel, "display_name": "Python 3", "language": "python"}},
        cells=[nbformat.v4.new_markdown_cell(f"# Chapter {name}"), *map(nbformat.v4.new_code_cell, sources)],
    )
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # the same whenever it is written
    notebook.cells[-1].metadata["tags"] = list(tags)
    nbformat.write(notebook, folder / "chapters" / f"{name}.ipynb")


def lay_out(folder, *chapters):
    """The contents of a book, and its package."""
    for name in ("chapters", "attention_course"):
        (folder / name).mkdir()
    for module, text in PACKAGE.items():
        (folder / "attention_course" / module).write_text(text)
    files = "".join(f"- file: chapters/{name}\n" for name in chapters)
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: intro\nchapters:\n{files}")
    (folder / "intro.md").write_text("# A tiny book\n")


def pretend(name, notebook, *, environment=None):
    """What became of a notebook that ran, up to its first exception; its cells see the environment by this name."""
    known = {"environment": environment or {}}
    for number, (_, cell) in enumerate(code_cells(notebook), 1):
        lines, cell.execution_count = [], number
        known["print"] = lambda *words, lines=lines: lines.append(" ".join(map(str, words)) + "\n")
        try:
            exec(cell.source, known)
        except Exception as error:
            said = {"ename": type(error).__name__, "evalue": str(error)}
            where = [f"----> 1 {cell.source.splitlines()[-1]}"]
            cell.outputs = [nbformat.v4.new_output("error", **said, traceback=where)]
            break
        finally:
            if lines:
                cell.outputs.insert(0, nbformat.v4.new_output("stream", name="stdout", text="".join(lines)))
    return Run(name, notebook, {str(number): 1.5 for number, _ in code_cells(notebook)}, cut_short=False)


class Book:
    """A book that is built, by another `make`, in the environment that runs this test."""

    def __init__(self, folder):
        self.folder = folder
        venv = sys.prefix
        self.command = ["site", f"VENV={venv}", "-o", f"{venv}/.pins", "-o", f"{venv}/.package"]

    def write(self, name, *sources, **options):
        """Write a chapter that notes down each of its executions, and its process."""
        note = f"import os, time\nopen('{self.folder}/executed.txt', 'a').write('{name} ')"
        started = f"open('{self.folder}/{name}.started', 'w').write(str(os.getpid()))"
        write_chapter(self.folder, name, f"{note}\n{started}", *sources, **options)

    def begin(self):
        """A build at work, in a group of its own as in a terminal."""
        options = {"text": True, "stdout": subprocess.PIPE, "start_new_session": True, "preexec_fn": heed_interruptions}
        return subprocess.Popen(["make", *self.command], cwd=self.folder, **options)

    def build(self):
        """The exit status of a build, what it printed, which chapters were executed, and their pages."""
        log = self.folder / "executed.txt"
        log.write_text("")
        status, output = make(self.folder, *self.command)
        pages = {page.stem: page.read_text() for page in self.folder.glob("_build/html/chapters/*.html")}
        return status, output, sorted(log.read_text().split()), pages


def heed_interruptions():
    """In a process that begins: it ends at Ctrl-C, also where the tests run in the background, which does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def make_book(folder, *chapters):
    """A book of chapters, which are to be written."""
    for name in SHARED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    lay_out(folder, *chapters)
    # Environments and caches bring pages of their own, which are not the book's.
    (folder / ".cache").mkdir()
    (folder / ".cache" / "README.md").write_text("# Not a page\n")
    return Book(folder)


def is_alive(process):
    """Whether a process is there, by its number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
