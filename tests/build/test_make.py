"""What the Makefile promises, kept by a book of two tiny chapters that share the course's build."""

import re
import shutil
import sys

import pytest
from tiny_book import PACKAGE, ROOT, make, write_chapter


def test_nothing_changed_executes_nothing(book):
    cached = book.folder / "attention_course" / "__pycache__"
    cached.mkdir()
    (cached / "idea.pyc").write_text("not a change")
    book.write("unused.py", "nobody imports this")
    assert book.build()[::2] == (0, [])


@pytest.mark.parametrize(("module", "chapters"), [("idea.py", ["one"]), ("deep.py", ["one"]), ("other.py", ["two"])])
def test_a_change_in_the_package_executes_the_chapters_that_use_it(book, module, chapters):
    book.write(module, PACKAGE[module] + "edited = True\n")
    before = {name: book.page(name) for name in ("one", "two")}
    status, output, executed = book.build()
    assert (status, executed) == (0, chapters)
    assert "0 added, 1 changed, 0 removed" in output
    if module != "deep.py":  # which no chapter prints
        assert [name for name in before if book.page(name) != before[name]] == chapters


def test_a_change_of_the_pins_executes_every_chapter(book):
    with (book.folder / "requirements.txt").open("a") as pins:
        pins.write("# another comment\n")
    assert book.build()[::2] == (0, ["one", "two"])


def test_a_change_in_a_chapter_executes_that_one(book):
    write_chapter(book.folder, "two", "1 + 1")
    assert book.build()[::2] == (0, ["two"])


def test_folding_a_cell_executes_nothing(book):
    write_chapter(book.folder, "two", "1 + 1", tags=["hide-input"])
    assert "tag_hide-input" not in book.page("two")
    assert book.build()[::2] == (0, [])
    assert "tag_hide-input" in book.page("two")


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
    for target in ("site", "serve", "install", "test", "sweeps", "odds", "url", "clean"):
        assert re.search(rf"^make {target} +\S", output, re.MULTILINE)
