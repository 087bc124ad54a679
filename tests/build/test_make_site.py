"""What `make site` does once the notebooks have run, and when it does not begin."""

import errno
import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import make_site
import pytest
from dependencies import Package
from filelock import FileLock
from notebooks import read
from odds import RECORD, fingerprint, write_for_the_site
from tiny_book import pretend, write_chapter


def test_every_false_claim_and_every_exception_is_told(course, capsys):
    write_chapter(course, "one", "print('✗ not so in this run: one is two')\nprint('✓ one is one')")
    assert not make_site.report({"chapters/one": pretend("chapters/one", read("chapters/one")).notebook})
    assert capsys.readouterr().out == (
        "Not so in this run, and marked with a cross where it stands (1 in all):\n"
        "  chapters/one.ipynb, cell 2: one is two\n"
    )
    write_chapter(course, "two", "x = 1\nassert x > 1")
    assert make_site.report({"chapters/two": pretend("chapters/two", read("chapters/two")).notebook})
    assert capsys.readouterr().out == (
        "Stopped by an exception, which the page shows (1 in all):\n"
        "  chapters/two.ipynb, cell 2: AssertionError: assert x > 1\n    x = 1\n    assert x > 1\n"
    )


def test_after_a_warning_all_pages_are_read_again_until_it_is_mended(course, monkeypatch):
    statuses, read_before = iter([0, 0, 1, 1, 0, 0]), []

    def build(command):
        assert command[1:] == ["build", ".", "-n", "-W", "--keep-going"]
        read_before.append(Path("_build/.doctrees").exists())
        Path("_build/.doctrees").mkdir(exist_ok=True)
        return SimpleNamespace(returncode=next(statuses))

    monkeypatch.setattr(subprocess, "run", build)
    assert [make_site.build_book() for _ in range(6)] == [0, 0, 1, 1, 0, 0]
    assert read_before == [False, True, True, False, False, True]


@pytest.mark.parametrize(("warned", "raised"), [(0, False), (1, False), (0, True)])
def test_a_warning_or_an_exception_fails_it_after_all_is_done(course, monkeypatch, capsys, warned, raised):
    did = []
    monkeypatch.setattr(make_site, "run_stale", lambda: "the slowest")
    monkeypatch.setattr(make_site, "build_book", lambda: warned)
    monkeypatch.setattr(make_site, "serve_wheel", lambda: did.append("wheel"))
    monkeypatch.setattr(make_site, "last_runs", lambda: {})
    monkeypatch.setattr(make_site, "report", lambda runs: raised)
    with pytest.raises(SystemExit) as ended:
        make_site.main()
    assert bool(ended.value.code) == bool(warned or raised)
    assert did == ["wheel"] and "the slowest" in capsys.readouterr().out


def test_two_builds_at_once_are_refused(course, monkeypatch):
    monkeypatch.setattr(make_site, "make_site", lambda: pytest.fail("it began"))
    with FileLock("_build/.lock"), pytest.raises(SystemExit, match="Another `make site` is at work in this folder"):
        make_site.main()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("database or disk is full")]
)
def test_a_full_disk_gets_a_clear_word(course, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr(make_site, "make_site", fail)
    with pytest.raises(SystemExit, match="no room left on the disk"):
        make_site.main()


def test_too_little_room_is_said_at_once(course, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=make_site.ROOM - 1))
    monkeypatch.setattr(make_site, "make_site", lambda: pytest.fail("it began"))
    with pytest.raises(SystemExit, match="no room left on the disk"):
        make_site.main()


def test_the_site_gets_the_odds_of_pages_as_they_stand(course):
    pages = {name: {"fingerprint": fingerprint(read(name), Package("."))} for name in ("chapters/one", "chapters/two")}
    RECORD.parent.mkdir(parents=True)
    RECORD.write_text(json.dumps({"pages": pages | {"chapters/gone": {"fingerprint": ""}}}))
    write_chapter(course, "two", "1", "2")
    write_for_the_site(course / "_build")
    assert json.loads((course / "_build" / "odds.json").read_text()) == {"chapters/one": pages["chapters/one"]}
