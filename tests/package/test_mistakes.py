"""What `make mutants` plants: too little of it, and every test would look good."""

from mistakes import mutants
from mutants import wrongly_named

SOURCE = '''\
def scale(x: int = 3, *, width=None):
    """Add 1 and not 2."""
    if width is None and not x:
        raise ValueError(f"x must not be {x + 1}")
    total = x.detach().sum(dim=-1)  # ℓ × 2
    total = max(total, 2.0)
    total[1:] += 1
    return -total if total >= x * 2 else min(x, total)
'''

EXPECTED = {
    1: ["x: int = 4", "x: int = 2"],
    3: ["if False:", "width is not None and", "None or not x", "None and x:"],
    5: ["total = x.sum(dim=-1)", "sum(dim=-2)", "sum()"],
    6: ["pass", "min(total, 2.0)", "max(2.0, total)", "max(total, 4.0)"],
    7: ["pass", "total[1:] -= 1", "total[:] +=", "total[2:]", "total[0:]", "+= 2", "+= 0"],
    8: ["return total if", "> x", "< x", "x / 2", "x * 3", "x * 1", "max(x, total)", "min(total, x)"],
}


def test_every_kind_of_mistake_is_planted_once_and_texts_and_annotations_are_left_alone():
    planted = mutants(SOURCE)
    assert {mutant["line"] for mutant in planted} == set(EXPECTED)
    for line, expected in EXPECTED.items():
        found = [mutant["becomes"] for mutant in planted if mutant["line"] == line]
        assert len(found) == len(expected), found
        for part in expected:
            assert sum(part in becomes for becomes in found) == 1, (part, found)


def test_every_file_in_which_mistakes_are_planted_is_named_with_tests_that_there_are():
    assert wrongly_named() == []
