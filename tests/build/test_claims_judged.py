"""Claims that do not hold when the site is made are tried with other seeds."""

import re

import pytest
from tiny_book import write_chapter

SEEDED = "setup = lambda seed=0: seed\ncourse = setup()"
CLAIM = "print('{sentence}' if {condition} else '✗ not so in this run: {sentence}')"


def claim(sentence, condition):
    """The code of a claim; the tiny package has none."""
    return CLAIM.format(sentence=sentence, condition=condition)


def test_claims_that_a_seed_breaks_are_listed(book):
    write_chapter(book.folder, "one", extra=SEEDED)
    claims = [claim("never at 2", "course != 2"), claim("always", "course < 3"), "assert course != 2"]
    write_chapter(book.folder, "two", *claims, extra=SEEDED)
    status, output = book.make("seeds")
    assert status != 0
    assert [line for line in output.splitlines() if re.match(r"chapters/\w+\.ipynb", line)] == [
        "chapters/two.ipynb  seed 2  cell 3  never at 2",
        "chapters/two.ipynb  seed 2  cell 5  AssertionError: assert course != 2",
    ]


@pytest.mark.parametrize(
    ("claims", "verdicts"),
    [
        ([claim("it holds", "True")], []),
        ([claim("only of 3 and 4, of 5", "course > 2")], ["REFUSED: held in 2 of 5 runs"]),
        ([claim("not at 0 and 1", "course > 1")], ["may stand: held in 3 of 5 runs"]),
        ([claim("so it is in 3 of 10 runs", "course > 2")], ["may stand: held in 2 of 5 runs"]),
        (["assert course != 3", claim("not at 0", "course > 0")], ["may stand: held in 4 of 5 runs", "REFUSED: chap"]),
    ],
)
def test_a_claim_that_did_not_hold_is_tried_with_other_seeds(book, claims, verdicts):
    write_chapter(book.folder, "one", extra=SEEDED)
    write_chapter(book.folder, "two", *claims, extra=SEEDED)
    assert book.build()[0] == 0
    status, output = book.make("test-claims")
    said = [line for line in output.splitlines() if line.startswith(("REFUSED", "may stand"))]
    assert len(said) == len(verdicts) and all(map(str.startswith, said, verdicts))
    assert (status != 0) == any(line.startswith("REFUSED") for line in said)
