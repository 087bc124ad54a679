"""The first cell of a notebook where the package is missing: it installs it, or says what else to do."""

import importlib.util
import json
import shutil
import subprocess

import pytest
from IPython.core.interactiveshell import InteractiveShell

PUBLISHED = "https://example.org/group/course"


@pytest.fixture
def book(root, tmp_path):
    """The intro alone, in a folder where `make url` works, as if nobody had named an address yet."""
    for name in ("Makefile", "_config.yml", "intro.ipynb"):
        shutil.copy(root / name, tmp_path)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "one.ipynb").write_text("{}")
    name_address(tmp_path, "https://example.org/your-organisation/attention-course")
    return tmp_path


def name_address(book, url):
    subprocess.run(["make", "url", f"URL={url}"], cwd=book, check=True, capture_output=True)


def run_setup_cell(book, monkeypatch):
    """What the cell asked pip to do, and the exception that it ended with or `None`."""
    cells = json.loads((book / "intro.ipynb").read_text(encoding="utf-8"))["cells"]
    setup = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    shell, asked = InteractiveShell(), []
    shell.register_magic_function(asked.append, "line", "pip")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return asked, shell.run_cell(setup).error_in_exec


def test_an_unpublished_copy_says_what_to_do(book, monkeypatch):
    asked, error = run_setup_cell(book, monkeypatch)
    assert asked == []
    assert isinstance(error, RuntimeError)
    assert "make url URL=" in str(error)
    assert "pip install ." in str(error)


def test_a_published_copy_installs_the_package_from_its_address(book, monkeypatch):
    name_address(book, PUBLISHED)
    asked, error = run_setup_cell(book, monkeypatch)
    assert asked == [f'install --quiet "git+{PUBLISHED}"']
    assert error is None
