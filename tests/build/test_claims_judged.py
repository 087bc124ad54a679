"""Claims that do not hold when the site is made are tried with other seeds."""

import json

import pytest
from tiny_book import write_chapter

# As the course's own, without its package.
SEEDED = """\
def setup(seed=0):
    return seed

def claim(sentence, condition):
    print(f"✓ {sentence}" if condition else f"✗ not so in this run: {sentence}")

course = setup()"""


def claim(sentence, condition):
    """The code of a claim."""
    return f"claim({sentence!r}, {condition})"


def test_the_odds_of_claims_are_recorded_and_shown(book):
    two_threads = "__import__('os').environ['OMP_NUM_THREADS'] == '2'"
    claims = [claim("never at 2", "course != 2"), claim("always, to 0.1", "True"), f"assert not ({two_threads})"]
    write_chapter(book.folder, "two", *claims, claim("on one thread", "True"), extra=SEEDED)
    status, output = book.make("odds", "PAGES=chapters/two")
    assert status == 0
    record = json.loads((book.folder / "benchmarks" / "results" / "odds.json").read_text())
    page = record["pages"]["chapters/two"]
    held = {row["sentence"]: (row["held"], row["kind"]) for row in page["claims"]}
    assert held == {"never at 2": (8, "exact"), "always, to 0.1": (10, "exact"), "on one thread": (9, "exact")}
    assert page["exceptions"] == [f"seed 2, two threads: cell 5: AssertionError: {claims[2]}"]
    assert "chapters/two.ipynb: held in 8 of 10 runs: never at 2" in output
    assert "0 runs of 0 notebooks" in book.make("odds", "PAGES=chapters/two")[1]

    assert book.build()[0] == 0
    assert "never at 2 (held in 8 of 10 runs)" in book.page("two")
    assert "always, to 0.1</" in book.page("two")
    write_chapter(book.folder, "two", *claims[:2], extra=SEEDED)
    assert book.build()[0] == 0
    assert "never at 2</" in book.page("two")


def test_odds_stand_while_the_package_changes_nothing_that_a_page_shows(book):
    shows = """\
print(Path("../attention_course/other.py").read_text().split("#")[0].strip())

def used():
    from attention_course.other import other_answer"""
    module, record = book.folder / "attention_course" / "other.py", book.folder / "benchmarks" / "results" / "odds.json"

    def odds():
        status, output = book.make("odds", "PAGES=chapters/two")
        assert status == 0, output
        return [int(line.split()[1]) for line in output.splitlines() if line.startswith("== ")]

    write_chapter(book.folder, "two", shows, claim("it holds", "True"), extra=SEEDED)
    assert odds() == [1, 9]
    before = json.loads(record.read_text())["pages"]["chapters/two"]
    module.write_text(module.read_text().strip() + "  # in other words\n")
    assert odds() == [1, 0]
    after = json.loads(record.read_text())["pages"]["chapters/two"]
    assert after == before | {"fingerprint": after["fingerprint"]} and after["fingerprint"] != before["fingerprint"]
    module.write_text("other_answer = 2\n")
    assert odds() == [1, 9]
    write_chapter(book.folder, "two", shows, claim("it holds", "not False"), extra=SEEDED)
    assert odds() == [1, 9]


@pytest.mark.parametrize(
    ("claims", "verdicts"),
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
    ],
)
def test_a_claim_that_did_not_hold_is_tried_with_other_seeds(book, claims, verdicts):
    write_chapter(book.folder, "one", extra=SEEDED)
    write_chapter(book.folder, "two", *claims, extra=SEEDED)
    status, output, _ = book.build()
    assert status == 0, output
    status, output = book.make("test-claims")
    said = [line for line in output.splitlines() if line.startswith(("REFUSED", "may stand"))]
    assert len(said) == len(verdicts) and all(map(str.startswith, said, verdicts))
    assert (status != 0) == any(line.startswith("REFUSED") for line in said)
