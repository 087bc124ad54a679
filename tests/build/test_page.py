"""`make page`: one page to look at."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import page
import pytest
from tiny_book import ROOT


@pytest.mark.parametrize("name", ["two", "chapters/two"])
def test_a_page_is_found_with_its_folder_or_without(course, name):
    assert page.find(name) == "chapters/two"


@pytest.mark.parametrize("name", ["", "three", "chapters/"])
def test_a_page_that_is_not_there_is_told_so(course, name):
    with pytest.raises(SystemExit, match="There is no page .* make page NAME=masking"):
        page.find(name)


@pytest.mark.parametrize("raised", [False, True])
@pytest.mark.parametrize(("name", "ran"), [("two", [["chapters/two"]]), ("intro", [])])
def test_its_notebook_alone_runs_and_its_book_is_of_it_alone(course, monkeypatch, capsys, name, ran, raised):
    def build(command):
        assert Path(command[2], "_build", "odds.json").exists()
        return SimpleNamespace(returncode=0)

    chosen, found = [], page.find(name)
    for one in page.OF_EVERY_BOOK:
        (course / one).touch()
    monkeypatch.setattr(page, "run_stale", chosen.append)
    monkeypatch.setattr(page, "last_runs", lambda which: which)
    monkeypatch.setattr(page, "report", lambda which: raised)
    monkeypatch.setattr(subprocess, "run", build)
    for _ in range(2):  # the second time over the first one's links
        assert page.main(name) == (raised and bool(ran))
    assert chosen == ran * 2
    assert (page.PREVIEW / "_toc.yml").read_text() == f"format: jb-book\nroot: {found}\n"
    assert f"file://{course}/_build/page/_build/html/{found}.html" in capsys.readouterr().out
    of_the_course = [file for file in page.PREVIEW.rglob("*") if file.is_symlink()]
    assert {str(file.relative_to(page.PREVIEW)) for file in of_the_course} == {
        *page.OF_EVERY_BOOK,
        "_build/.jupyter_cache",
        f"{found}.ipynb" if ran else f"{found}.md",
    }
    assert all(file.samefile(course / file.relative_to(page.PREVIEW)) for file in of_the_course)


def test_what_every_book_needs_is_there():
    assert all((ROOT / name).exists() for name in page.OF_EVERY_BOOK)
