"""Four builds of a tiny book tell what only a whole build does; the parts of one are tried each for itself."""

import json
import os
import re
import signal
import time

import pytest
from dependencies import Package
from notebooks import read
from odds import fingerprint
from tiny_book import PACKAGE, claim, is_alive, make_book

# Each of two chapters waits for the other to have started.
WAIT = """\
while not all(os.path.exists(f"{folder}/{{name}}.started") for name in ("one", "two")):
    time.sleep(0.01)
assert os.environ["OMP_NUM_THREADS"] == "1" and len(os.listdir()) == 1  # the notebook itself"""
PRINTS = "print('as' + ' ever')"
SAYS_ODDS = "def claim(sentence, condition):\n    print('✗ not so in this run: ' + sentence)\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    book = make_book(folder, "one", "two", "raises", "dies", "lost")
    wait = WAIT.format(folder=folder)
    book.write("one", PRINTS, wait)
    book.write("two", SAYS_ODDS + claim("one is two", False), wait)
    book.write("raises", "raise ValueError('on purpose')", "print('never' + ' reached')")
    book.write("dies", "print('so' + ' far', flush=True)\ntime.sleep(0.5)\nos._exit(0)")
    book.write("lost", kernel="no-such-kernel")
    (folder / "intro.md").write_text("# A tiny book\n\n[nowhere](no-such-page.md)\n")
    return book


@pytest.fixture(scope="module")
def with_faults(book):
    return book.build()


@pytest.fixture(scope="module")
def mended(with_faults, book):
    for name in ("raises", "dies", "lost"):
        book.write(name, PRINTS)
    (book.folder / "intro.md").write_text("# A tiny book\n")
    (book.folder / "attention_course" / "deep.py").write_text(PACKAGE["deep.py"] + "edited = True\n")
    book.write("two", SAYS_ODDS + claim("one is two", False), WAIT.format(folder=book.folder), tags=["hide-input"])
    with pytest.MonkeyPatch.context() as at:
        at.chdir(book.folder)
        checksum = fingerprint(read("chapters/two"), Package("."))
    claims = [{"cell": "cell-2", "sentence": "one is two", "kind": "exact", "held": 8}]
    page = {"fingerprint": checksum, "runs": 10, "claims": claims, "exceptions": [], "machine": "", "date": ""}
    record = book.folder / "experiments" / "results" / "odds.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"versions": {}, "pages": {"chapters/two": page}}))
    return book.build()


@pytest.fixture(scope="module")
def interrupted(mended, book):
    """Ctrl-C, while one chapter is done and another runs: the exit status, and the process of the chapter."""
    started = book.folder / "dies.started"
    started.unlink()
    book.write("raises", "print('in other' + ' words')")
    book.write("dies", "time.sleep(600)" + "  # so long" * 20)
    with book.begin() as building:
        while not (line := building.stdout.readline()).startswith("notebook 1 of 2: chapters/raises"):
            assert line
        while not (started.exists() and started.read_text()):
            time.sleep(0.01)
        os.killpg(building.pid, signal.SIGINT)
        building.communicate()
    return building.returncode, int(started.read_text())


@pytest.fixture(scope="module")
def gone_on(interrupted, book):
    book.write("dies", "print('in other' + ' words')")
    return book.build()


def test_whatever_goes_wrong_in_a_notebook_is_told_and_the_others_run(with_faults):
    status, output, executed, _ = with_faults
    assert status != 0 and executed == ["dies", "one", "raises", "two"]
    assert "notebook 5 of 5" in output
    assert "(1 in all):\n  chapters/two.ipynb, cell 3: one is two\n" in output
    assert "(3 in all):\n  chapters/raises.ipynb, cell 3: ValueError: on purpose\n    raise ValueError" in output
    assert "  chapters/dies.ipynb, cell 3: DeadKernelError" in output
    assert "  chapters/lost.ipynb, cell 2: NoSuchKernel" in output
    assert "no-such-page" in output  # a warning
    assert re.search(r"slowest cells\n +\d+\.\d s  chapters/(one|two|dies), cell \d", output)
    assert re.search(r"open file:///\S+/_build/html/index.html", output)


def test_a_page_shows_what_went_wrong_in_it_and_the_others_stand(with_faults):
    *_, pages = with_faults
    assert "as ever" in pages["one"]
    assert "✗ </span>not so in this run: one is two" in pages["two"]
    assert "Traceback" in pages["raises"] and "never reached" not in pages["raises"]
    assert "so far" in pages["dies"] and "DeadKernelError" in pages["dies"]
    assert "NoSuchKernel" in pages["lost"]


def test_what_is_mended_or_uses_what_changed_runs_and_nothing_else(mended):
    status, output, executed, pages = mended
    assert (status, executed) == (0, ["dies", "lost", "one", "raises"]), output
    assert "(1 in all):\n  chapters/two.ipynb, cell 3: one is two\n" in output and "exception" not in output
    assert "tag_hide-input" in pages["two"]
    assert "Traceback" not in pages["raises"] and "as ever" in pages["lost"]


def test_a_page_says_how_often_a_claim_holds(with_faults, mended):
    assert "one is two (held in 8 of 10 runs)" in mended[-1]["two"]
    assert "held in" not in with_faults[-1]["two"]


def test_an_interruption_ends_all_that_the_build_began(interrupted):
    status, kernel = interrupted
    assert status != 0
    for _ in range(600):
        if is_alive(kernel):
            time.sleep(0.1)
    assert not is_alive(kernel)


def test_after_an_interruption_it_goes_on_where_it_was(gone_on):
    status, output, executed, pages = gone_on
    assert (status, executed) == (0, ["dies"]), output
    assert "0 added, 2 changed, 0 removed" in output
    assert "in other words" in pages["raises"] and "in other words" in pages["dies"]
