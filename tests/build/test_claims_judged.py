"""Claims that do not hold when the site is made are tried with other seeds; for the record, all are tried ten times."""

import json
import sys
from types import SimpleNamespace

import judge
import odds
import pytest
from notebooks import read
from tiny_book import SEEDED, claim, pretend, write_chapter

SHOWS = "print(open('attention_course/other.py').read().split('#')[0].strip())"
DIGITS = "print(environment.get('MKL_CBWR') or open('processor').read())"
TIMES = ["import time\ndef took():\n    return time.perf_counter()", "print(took())"]


@pytest.fixture
def ask(course, monkeypatch, capsys):
    """Run `make odds` for a chapter: how many runs it began at each step, its record, and what it printed."""

    def ask():
        odds.main()
        output = capsys.readouterr().out
        begun = [int(line.split()[1]) for line in output.splitlines() if line.startswith("== ")]
        return begun, json.loads(odds.RECORD.read_text())["pages"].get("chapters/two"), output

    monkeypatch.setattr(odds, "run", pretend)
    monkeypatch.setattr(odds, "need_x86", lambda: None)
    monkeypatch.setattr(sys, "argv", ["odds.py", "chapters/two"])
    measure = SimpleNamespace(describe_machine=lambda: "a machine")  # without PyTorch, which takes its time
    monkeypatch.setitem(sys.modules, "attention_course.course.measure", measure)
    return ask


def test_the_odds_of_claims_are_recorded_and_told(course, ask):
    two_threads = "environment.get('OMP_NUM_THREADS') == '2'"
    claims = [claim("never at 2", "course != 2"), claim("always, to 0.1", "True"), f"assert not ({two_threads})"]
    write_chapter(course, "two", SEEDED, *claims, claim("on one thread", "True"))
    begun, page, output = ask()
    held = {row["sentence"]: (row["held"], row["kind"]) for row in page["claims"]}
    assert held == {"never at 2": (8, "exact"), "always, to 0.1": (10, "exact"), "on one thread": (9, "exact")}
    assert page["exceptions"] == [f"seed 2, two threads: cell 5: AssertionError: {claims[2]}"]
    assert (begun, page["runs"], page["machine"]) == ([1, 9], 10, "a machine")
    assert "chapters/two.ipynb: held in 8 of 10 runs: never at 2" in output
    assert ask()[:2] == ([0, 0], page)


def test_odds_stand_while_the_package_changes_nothing_that_a_page_shows_on_whatever_processor(course, ask):
    module, processor = course / "attention_course" / "other.py", course / "processor"
    processor.write_text("rounds up")
    write_chapter(course, "two", SEEDED, SHOWS, DIGITS, *TIMES, claim("it holds", "True"))
    begun, before, _ = ask()
    assert begun == [1, 9]
    processor.write_text("rounds down")
    module.write_text(module.read_text().strip() + "  # in other words\nunused = 0\n")
    begun, after, _ = ask()
    assert begun == [1, 0] and after["fingerprint"] != before["fingerprint"]
    assert after == before | {"fingerprint": after["fingerprint"]}
    module.write_text("other_answer = 2\n")
    assert ask()[0] == [1, 9]
    write_chapter(course, "two", SEEDED, SHOWS, DIGITS, claim("it holds", "not False"))
    assert ask()[0] == [1, 9]


def test_what_an_interruption_left_of_the_ten_runs_is_gone_on_with(course, ask):
    write_chapter(course, "two", SEEDED, claim("it holds", "True"))
    ask()
    odds.RECORD.unlink()
    for number, which in enumerate(odds.TEN[3:]):
        file = odds.kept("chapters/two", *which)
        file.unlink() if number else file.write_text('{"fingerprint": "of a page as it was"}')
    begun, page, _ = ask()
    assert begun == [0, 7] and page["claims"][0]["held"] == 10


def test_another_build_of_a_version_leaves_the_odds_as_they_are(monkeypatch):
    monkeypatch.setattr(odds, "version", lambda package: "2.9.1+cpu")
    assert odds.versions() == {"torch": "2.9.1", "numpy": "2.9.1"}


@pytest.mark.parametrize(
    ("cut_short", "edited", "kept"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_a_run_that_was_cut_short_or_of_a_page_that_changed_is_not_kept(
    course, ask, monkeypatch, cut_short, edited, kept
):
    def run(name, notebook, **options):
        done = pretend(name, notebook, **options)
        done.cut_short = cut_short
        if edited:
            write_chapter(course, "two", SEEDED, claim("in other words", "True"))
        return done

    write_chapter(course, "two", SEEDED, claim("it holds", "True"))
    monkeypatch.setattr(odds, "run", run)
    odds.one_run("chapters/two", 0, "native")
    assert odds.kept("chapters/two", 0, "native").exists() == kept


@pytest.fixture
def verdicts(course, monkeypatch, capsys):
    """Judge both chapters: whether it failed, and the verdicts it printed."""

    def verdicts():
        with pytest.raises(SystemExit) as ended:
            judge.main()
        lines = capsys.readouterr().out.splitlines()
        return bool(ended.value.code), [line for line in lines if line.startswith(("REFUSED", "may stand"))]

    both = ["chapters/one", "chapters/two"]
    monkeypatch.setattr(judge, "last_runs", lambda: {name: pretend(name, read(name)).notebook for name in both})
    return verdicts


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([claim("it holds", "True")], []),
        (
            [
                claim("only of 3 and 4, of 5", "course > 2"),
                claim("not at 0 and 1", "course > 1"),
                claim("so it is in 3 of 10 runs", "course > 2"),
            ],
            ["REFUSED: held in 2 of 5 runs", "may stand: held in 3 of 5 runs", "may stand: held in 2 of 5 runs"],
        ),
        (["assert course != 3", claim("not at 0", "course > 0")], ["may stand: held in 4 of 5 runs", "REFUSED: chap"]),
        (["assert False"], ["REFUSED: chapters/two, cell 3 failed: AssertionError: assert False"]),
    ],
)
def test_a_claim_that_did_not_hold_is_tried_with_other_seeds(course, verdicts, claims, expected):
    write_chapter(course, "two", SEEDED, *claims)
    failed, said = verdicts()
    assert len(said) == len(expected) and all(map(str.startswith, said, expected))
    assert failed == any(line.startswith("REFUSED") for line in said)


def test_the_runs_of_one_page_say_nothing_of_anothers_claims(course, verdicts):
    for name, least in (("one", 3), ("two", 0)):
        write_chapter(course, name, SEEDED, claim(f"above {name}", f"course > {least}"))
    failed, said = verdicts()
    assert failed and [line.partition(" runs")[0] for line in said] == [
        "REFUSED: held in 1 of 5",
        "may stand: held in 4 of 5",
    ]


@pytest.mark.parametrize(
    ("sentence", "enough"),
    [("so it is", 3), ("so it is in 9 of 10 runs", 3), ("in 3 of 10 runs it is", 0), ("it is in 10 of 10 runs", 5)],
)
def test_how_often_a_claim_must_hold(sentence, enough):
    assert [judge.holds_often_enough(sentence, n) for n in range(6)] == [n >= enough for n in range(6)]
