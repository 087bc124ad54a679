import pytest
from seeding import seeded

from attention_course import tasks

GENERATORS = [tasks.copying, tasks.reversing, tasks.sorting]


@pytest.mark.parametrize("make", GENERATORS)
def test_gold_marks_exactly_the_sources_that_explain_a_target(make):
    pairs = make(50, 7, 5, seeded(0))  # 7 symbols of 5: some occur twice
    assert len(pairs) == 50 and pairs.gold.shape == (50, 7, 7) and pairs.gold.any(-1).all()
    for source, target, gold in zip(pairs.source, pairs.target, pairs.gold, strict=True):
        for row, symbol in zip(gold, target, strict=True):
            assert source[row].eq(symbol).all()


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (tasks.copying, lambda numbers: numbers),
        (tasks.reversing, lambda numbers: numbers[::-1]),
        (tasks.sorting, sorted),
    ],
)
def test_target_follows_the_rule(make, rule):
    pairs = make(20, 6, 10, seeded(0))
    assert pairs.target.tolist() == [rule(source) for source in pairs.source.tolist()]
    assert set(make(200, 6, 10, seeded(0)).source.flatten().tolist()) == set(range(10))


def test_position_tasks_align_by_position_and_sorting_by_symbol():
    assert tasks.copying(1, 3, 9, seeded(0)).gold[0].nonzero().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert tasks.reversing(1, 3, 9, seeded(0)).gold[0].nonzero().tolist() == [[0, 2], [1, 1], [2, 0]]
    pairs = tasks.sorting(40, 6, 4, seeded(0))
    for source, target, gold in zip(pairs.source, pairs.target, pairs.gold, strict=True):
        assert [row.sum() for row in gold] == [source.eq(symbol).sum() for symbol in target]
