"""Every notebook as a reader runs it: in an empty folder, and where one fails the others still run."""

import as_readers
import nbformat
import pytest


@pytest.fixture
def course(tmp_path):
    """A course of two notebooks, the first of which fails unless it finds its folder full."""
    (tmp_path / "chapters").mkdir()
    sources = {"intro": "import os\nassert os.listdir(), 'an empty folder'", "chapters/one": "1 + 1"}
    for name, source in sources.items():
        cells = [nbformat.v4.new_code_cell(source)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
    return tmp_path


def test_a_notebook_that_fails_is_named_and_the_others_run(course, capsys):
    assert as_readers.main(course)
    printed = capsys.readouterr().out
    assert "AssertionError" in printed and "an empty folder" in printed
    assert [line.split(",")[0] for line in printed.splitlines() if ", " in line and ".ipynb" in line] == [
        "FAILED  intro.ipynb",
        "passed  one.ipynb",
    ]
    assert printed.splitlines()[-1] == "failed: intro.ipynb"


def test_where_none_fails_it_says_so(course, capsys):
    (course / "intro.ipynb").unlink()
    (course / "chapters" / "one.ipynb").rename(course / "intro.ipynb")
    assert not as_readers.main(course)
    assert capsys.readouterr().out.splitlines()[-1] == "all passed"
