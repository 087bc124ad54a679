import pytest
import torch
import torch.nn.functional as F
from seeding import seeded

from attention_course import tasks


def test_each_target_is_the_symbol_that_stood_so_many_places_before():
    lookbacks = tasks.looking_back(20, 9, 5, 3, seeded(0))
    assert len(lookbacks) == 20
    for symbols, target in zip(lookbacks.symbols.tolist(), lookbacks.target.tolist(), strict=True):
        assert symbols[0] == 5 and set(symbols[1:]) <= set(range(5))
        assert target == [tasks.NOTHING] * 4 + symbols[1:-3]


def test_gold_marks_the_place_that_answers_and_nothing_else():
    lookbacks = tasks.looking_back(2, 6, 7, 2, seeded(0))
    assert lookbacks.gold.nonzero().tolist() == [[3, 1], [4, 2], [5, 3]]


def test_places_without_an_answer_have_no_loss():
    lookbacks = tasks.looking_back(4, 6, 3, 2, seeded(0))
    logits = F.one_hot(lookbacks.target.clamp(min=0), 3) * 100.0
    logits[:, :3] = torch.randn(4, 3, 3)
    assert F.cross_entropy(logits.flatten(0, 1), lookbacks.target.flatten()) < 1e-6


def test_at_distance_zero_each_symbol_answers_for_itself():
    lookbacks = tasks.looking_back(3, 4, 9, 0, seeded(0))
    assert torch.equal(lookbacks.target[:, 1:], lookbacks.symbols[:, 1:])
    assert lookbacks.gold.nonzero().tolist() == [[1, 1], [2, 2], [3, 3]]


def test_without_a_start_symbol_every_place_holds_a_random_one():
    lookbacks = tasks.looking_back(20, 5, 4, 2, seeded(0), start_symbol=False)
    assert lookbacks.symbols.max() == 3
    assert lookbacks.gold.nonzero().tolist() == [[2, 0], [3, 1], [4, 2]]
    for symbols, target in zip(lookbacks.symbols.tolist(), lookbacks.target.tolist(), strict=True):
        assert target == [tasks.NOTHING] * 2 + symbols[:-2]
    assert tasks.looking_back(1, 5, 4, 4, seeded(0), start_symbol=False).gold.nonzero().tolist() == [[4, 0]]


def test_the_seed_decides():
    first, again, other = (tasks.looking_back(4, 5, 50, 1, seeded(seed)).symbols for seed in (3, 3, 4))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize("distance", [-1, 4])
def test_a_distance_that_leaves_no_answer_is_named(distance):
    with pytest.raises(ValueError, match=rf"distance must lie in 0\.\.3 .*got {distance}"):
        tasks.looking_back(1, 5, 3, distance, seeded(0))


def test_a_batch_moves_as_a_whole():
    moved = tasks.looking_back(1, 5, 3, 1, seeded(0)).to("meta")
    assert {moved.symbols.device.type, moved.target.device.type, moved.gold.device.type} == {"meta"}
