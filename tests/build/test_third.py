"""Which third of the things that are alike `make test` tries."""

import os

import pytest
from environments import run
from third import checksum, third_of
from tiny_book import ROOT


def test_three_thirds_are_the_whole_and_share_nothing(monkeypatch):
    thirds = []
    for number in "012":
        monkeypatch.setenv("THIRD", number)
        thirds += third_of(list(range(100)))
    assert sorted(thirds) == list(range(100))


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_number_all_is_tried(monkeypatch, nothing):
    monkeypatch.delenv("THIRD", raising=False) if nothing is None else monkeypatch.setenv("THIRD", nothing)
    assert third_of([1, 2, 3, 4]) == [1, 2, 3, 4]


def test_the_checksum_is_that_of_the_files_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("built\n")
    (tmp_path / "page").write_text("one")
    before = checksum()
    (tmp_path / "built").write_text("ignored")
    assert checksum() == before and not (tmp_path / ".git").exists()
    (tmp_path / "page").write_text("two")
    assert checksum() != before
    run("git", "init", "--quiet", ".")
    run("git", "add", "--all")
    assert run("git", "write-tree").strip() == checksum()


def test_make_test_has_a_third_unless_all_is_asked_for():
    """Whatever the make that runs this was asked for."""
    outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "ALL")}
    for asked, expected in (([], "THIRD=$(python3 tools/third.py)"), (["ALL=1"], "THIRD=;")):
        printed = run("make", "--dry-run", "test", "PYTHON=python3", *asked, cwd=ROOT, env=outside)
        assert f"export {expected}" in printed
