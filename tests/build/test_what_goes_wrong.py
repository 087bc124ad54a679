"""The site is built whatever goes wrong in a notebook, and says at its end what did."""

import errno
import os
import shutil
import signal
import time
from types import SimpleNamespace

import make_site
import pytest
from filelock import FileLock
from tiny_book import write_chapter


def test_a_failing_cell_is_shown_and_fails_every_build_until_it_is_mended(book):
    write_chapter(book.folder, "two", "raise ValueError('on purpose')", "print('never' + ' reached')")
    write_chapter(book.folder, "one", "print('as' + ' ever')")
    for expected in (["one", "two"], ["two"]):
        status, output, executed = book.build()
        assert status != 0
        assert executed == expected
        assert "  chapters/two.ipynb, cell 3: ValueError: on purpose\n    raise ValueError" in output
        assert "Traceback" in book.page("two") and "never reached" not in book.page("two")
        assert "as ever" in book.page("one")
    for name in ("one", "two"):
        write_chapter(book.folder, name)
    assert book.build()[0] == 0
    assert "Traceback" not in book.page("two")


def test_a_claim_that_does_not_hold_is_shown_and_named_in_every_build(book):
    write_chapter(book.folder, "two", "print('✗ not so in this run: one is two')\nprint('✓ one is one')")
    for expected in (["two"], []):
        status, output, executed = book.build()
        assert status == 0
        assert executed == expected
        assert "(1 in all):\n  chapters/two.ipynb, cell 3: one is two\n" in output
    assert "✗ </span>not so in this run: one is two" in book.page("two")
    write_chapter(book.folder, "two")
    status, output, _ = book.build()
    assert status == 0
    assert "one is two" not in output


def test_a_kernel_that_dies_costs_its_own_notebook_only(book):
    write_chapter(book.folder, "two", "import os", "os._exit(0)")
    write_chapter(book.folder, "one", "print('as' + ' ever')")
    status, output, _ = book.build()
    assert status != 0
    assert "  chapters/two.ipynb, cell 4: DeadKernelError" in output
    assert "DeadKernelError" in book.page("two")
    assert "as ever" in book.page("one")


def test_a_kernel_that_does_not_start_costs_its_own_notebook_only(book):
    write_chapter(book.folder, "two", kernel="no-such-kernel")
    status, output, executed = book.build()
    assert status != 0
    assert executed == []
    assert "  chapters/two.ipynb, cell 2: NoSuchKernel" in output
    assert "NoSuchKernel" in book.page("two")
    for name in ("one", "two"):
        write_chapter(book.folder, name)
    assert book.build()[0] == 0


def test_what_was_interrupted_runs_again(book):
    (book.folder / "two.started").unlink()
    write_chapter(book.folder, "one", "1 + 1")
    write_chapter(book.folder, "two", "time.sleep(600)")
    with book.begin("site") as building:
        while "chapters/one" not in (line := building.stdout.readline()) or not line.startswith("notebook 1"):
            assert line
        while not (book.folder / "two.started").exists():
            time.sleep(0.01)
        os.killpg(building.pid, signal.SIGINT)
        building.communicate()
    write_chapter(book.folder, "two", "'as quick as ever'")
    assert book.build()[::2] == (0, ["two"])


def test_two_builds_at_once_are_refused(book):
    with FileLock(book.folder / "_build" / ".lock"):
        status, output, executed = book.build()
    assert status != 0
    assert executed == []
    assert "Another `make site` is at work in this folder" in output


def test_a_chapter_that_is_edited_while_it_runs_is_named(book):
    write_chapter(
        book.folder,
        "two",
        "text = Path('two.ipynb').read_text()",
        "Path('two.ipynb').write_text(text.replace('text', 'words'))",
    )
    status, output, _ = book.build()
    assert status != 0
    assert "Edited while the notebooks ran, or not run yet: chapters/two.ipynb. Run `make site` again." in output
    write_chapter(book.folder, "two")
    assert book.build()[0] == 0


def test_what_a_full_disk_has_cut_off_runs_again(book):
    cached = list((book.folder / "_build" / ".jupyter_cache").glob("executed/*/base.ipynb"))
    (of_two,) = [file for file in cached if "two.started" in file.read_text()]
    of_two.write_text(of_two.read_text()[:1000])
    assert book.build()[::2] == (0, ["two"])
    of_two.unlink()
    assert book.build()[::2] == (0, ["two"])


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("database or disk is full")]
)
def test_a_full_disk_gets_a_clear_word(tmp_path, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(make_site, "make_site", fail)
    with pytest.raises(SystemExit, match="no room left on the disk"):
        make_site.main()


def test_too_little_room_is_said_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=make_site.ROOM - 1))
    monkeypatch.setattr(make_site, "make_site", lambda: pytest.fail("it began"))
    with pytest.raises(SystemExit, match="no room left on the disk"):
        make_site.main()
