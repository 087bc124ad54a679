"""What the Makefile promises, kept by a book of two tiny chapters that share the course's build."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
SHARED = ["Makefile", "_config.yml", "_ext", "_static", "references.bib", "requirements.txt", "pyproject.toml"]
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


def write_chapter(folder, name, *extra_cells):
    """A chapter that notes down each of its executions."""
    cells = [f"with open('../executed.txt', 'a') as log:\n    log.write('{name}\\n')", *extra_cells]
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[nbformat.v4.new_markdown_cell(f"# Chapter {name}"), *map(nbformat.v4.new_code_cell, cells)],
    )
    nbformat.write(notebook, folder / "chapters" / f"{name}.ipynb")


class Book:
    def __init__(self, folder):
        self.folder = folder

    def build(self):
        """The exit status, what was printed, and which chapters were executed."""
        log = self.folder / "executed.txt"
        log.write_text("")
        # The environment that runs this test stands in for the book's own, as it is.
        venv = sys.prefix
        status, output = make(self.folder, "site", f"VENV={venv}", "-o", f"{venv}/.pins", "-o", f"{venv}/.package")
        return status, output, log.read_text().split()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
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
    (folder / "attention_course" / "idea.py").write_text("ANSWER = 1\n")
    for name in ("one", "two"):
        write_chapter(folder, name)
    book = Book(folder)
    status, output, executed = book.build()
    assert status == 0, output
    assert executed == ["one", "two"]
    assert output.index("notebook 1 of 2: chapters/one") < output.index("chapters/one.ipynb: Executing")
    assert f"file://{folder}/_build/html/index.html" in output
    return book


def test_nothing_changed_executes_nothing(book):
    cached = book.folder / "attention_course" / "__pycache__"
    cached.mkdir()
    (cached / "idea.pyc").write_text("not a change")
    assert book.build()[::2] == (0, [])


def test_a_change_in_the_package_executes_every_chapter(book):
    package = book.folder / "attention_course"
    changes = {
        "edited": lambda: (package / "idea.py").write_text("ANSWER = 2\n"),
        "added": lambda: (package / "other.py").write_text(""),
        "deleted": lambda: (package / "other.py").unlink(),
    }
    for change in changes.values():
        change()
        assert book.build()[::2] == (0, ["one", "two"])


def test_a_change_of_the_pins_executes_every_chapter(book):
    with (book.folder / "requirements.txt").open("a") as pins:
        pins.write("# another comment\n")
    assert book.build()[::2] == (0, ["one", "two"])


def test_a_change_in_a_chapter_executes_that_one(book):
    write_chapter(book.folder, "two", "1 + 1")
    assert book.build()[::2] == (0, ["two"])


def test_a_failing_cell_fails_every_build_until_it_is_mended(book):
    write_chapter(book.folder, "two", "raise ValueError('on purpose')")
    for _ in range(2):
        status, output, executed = book.build()
        assert status != 0
        assert executed == ["two"]
        assert re.search(r"chapters/two\.ipynb: WARNING: cell 3 failed: ValueError: on purpose", output), output
    write_chapter(book.folder, "two")
    assert book.build()[0] == 0


def test_a_warning_fails_every_build_until_it_is_mended(book):
    write_chapter(book.folder, "one", "'a page that names no other page'")
    intro = book.folder / "intro.md"
    intro.write_text("# A tiny book\n\n[nowhere](no-such-page.md)\n")
    for _ in range(2):
        status, output, _ = book.build()
        assert status != 0
        assert "no-such-page" in output
    intro.write_text("# A tiny book\n")
    assert book.build()[0] == 0


def test_a_change_of_the_pins_installs_again(tmp_path):
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    venv = tmp_path / ".venv"
    venv.mkdir()
    for stamp in (".pins", ".package"):
        (venv / stamp).touch()
    plan = ["--dry-run", ".venv/.package"]
    assert "pip install" not in make(tmp_path, *plan)[1]
    (tmp_path / "requirements.txt").write_text("torch==3.0.0\n")
    assert "pip install" in make(tmp_path, *plan)[1]


def test_an_interrupted_installation_is_begun_again(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").write_text("./no-such-package\n")
    (tmp_path / "pyproject.toml").touch()
    for _ in range(2):
        status, output = make(tmp_path, "site")
        assert status != 0
        assert "no-such-package" in output


def test_an_old_python_is_told_so(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    pretend = f"""exec {sys.executable} -c "import sys; sys.version_info = (3, 9, 1); $2" """
    program(tmp_path / "python", f'[ "$1" = --version ] && echo Python 3.9.1 && exit\n{pretend}')
    status, output = make(tmp_path, "site", "PYTHON=./python")
    assert status != 0
    assert "needs Python 3.11 or newer, and ./python is Python 3.9.1" in output


def program(path, script):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def browser(tmp_path):
    """`make browser` on a machine that has only the programs of this folder."""
    return make(
        ROOT, "browser", "CHROMIUM=no-such-browser", executable=shutil.which("make"), env={"PATH": str(tmp_path)}
    )


def test_a_missing_browser_is_never_passed_over(tmp_path):
    status, output = browser(tmp_path)
    assert status != 0
    assert "make test CHROMIUM=/path/to/chromium" in output


def test_a_missing_browser_is_installed_where_it_may(tmp_path):
    program(tmp_path / "id", "echo 0")
    program(tmp_path / "env", f'{shutil.which("env")} "$@"')
    program(tmp_path / "apt-get", f'echo "$1" >> {tmp_path}/calls')
    status, output = browser(tmp_path)
    assert status == 0, output
    assert (tmp_path / "calls").read_text().split() == ["update", "install"]


def test_the_repository_is_renamed_everywhere(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    old = re.search(r"url: (\S+)", (tmp_path / "_config.yml").read_text())[1]
    new = "https://example.org/group/course"
    for name in ("intro.ipynb", "chapters/one.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'"git+{old}"')
    status, output = make(tmp_path, "url", f"URL={new}")
    assert status == 0, output
    assert f"  url: {new}\n" in (tmp_path / "_config.yml").read_text()
    for name in ("intro.ipynb", "chapters/one.ipynb"):
        assert (tmp_path / name).read_text() == f'"git+{new}"'


@pytest.mark.parametrize("address", ["", "example.org/group/course", "https://example.org/group/course.git"])
def test_an_address_that_would_not_do_is_refused(tmp_path, address):
    shutil.copy(ROOT / "Makefile", tmp_path)
    status, output = make(tmp_path, "url", f"URL={address}")
    assert status != 0
    assert "make url URL=https://" in output


def test_make_alone_lists_what_it_can_do(tmp_path):
    _, output = make(ROOT)
    for target in ("site", "serve", "test", "sweeps", "url", "clean"):
        assert re.search(rf"^make {target} +\S", output, re.MULTILINE)
