import pytest
import torch
import torch.nn.functional as F
from seeding import seeded

from attention_course import tasks


# Symbols in a row, how far back the answer stands, and whether a row begins with a symbol of its own.
@pytest.mark.parametrize(("n", "distance", "start"), [(9, 3, True), (4, 0, True), (5, 2, False), (5, 4, False)])
def test_each_target_is_the_symbol_that_stood_so_many_places_before(n, distance, start):
    lookbacks = tasks.looking_back(20, n, 5, distance, seeded(0), start_symbol=start)
    assert len(lookbacks) == 20 and set(lookbacks.symbols[:, int(start) :].flatten().tolist()) == set(range(5))
    for symbols, target in zip(lookbacks.symbols.tolist(), lookbacks.target.tolist(), strict=True):
        assert symbols[:start] == [5] * start
        assert target == [tasks.NOTHING] * (start + distance) + symbols[start : n - distance]
    assert lookbacks.gold.nonzero().tolist() == [[place, place - distance] for place in range(start + distance, n)]


def test_places_without_an_answer_have_no_loss():
    lookbacks = tasks.looking_back(4, 6, 3, 2, seeded(0))
    logits = F.one_hot(lookbacks.target.clamp(min=0), 3) * 100.0
    logits[:, :3] = torch.randn(4, 3, 3)
    assert F.cross_entropy(logits.flatten(0, 1), lookbacks.target.flatten()) < 1e-6


@pytest.mark.parametrize("distance", [-1, 4])
def test_a_distance_that_leaves_no_answer_is_named(distance):
    with pytest.raises(ValueError, match=rf"distance must lie in 0\.\.3 .*got {distance}"):
        tasks.looking_back(1, 5, 3, distance, seeded(0))
