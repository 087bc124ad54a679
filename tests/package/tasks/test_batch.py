"""What the tasks have in common: batches are cut and moved as a whole, and a seed decides what is drawn."""

from functools import partial

import pytest
import torch
from seeding import seeded

from attention_course import tasks

DRAWN = {
    "translations": tasks.translation_pairs,
    "dates": tasks.written_dates,
    "reviews": tasks.reviews,
    "senses": tasks.sense_sentences,
    "coins": tasks.two_coins,
    "series": tasks.anomalous_series,
    "changing letters": lambda n, generator: tasks.changing_letters(n, 4, 5, 3, generator),
    "related letters": lambda n, generator: tasks.related_letters(n, 5, 7, 3, 2, generator),
    "looking back": lambda n, generator: tasks.looking_back(n, 5, 4, 2, generator),
    "copying": lambda n, generator: tasks.copying(n, 5, 50, generator),
    "reversing": lambda n, generator: tasks.reversing(n, 5, 50, generator),
    "sorting": lambda n, generator: tasks.sorting(n, 5, 50, generator),
}
BATCHES = {name: partial(draw, 6) for name, draw in DRAWN.items()}
BATCHES |= {
    "digits": lambda generator: tasks.handwritten_digits()[1][:6],
    "spelled digits": lambda generator: tasks.spelled_digits()[1][:6],
}
FOR_ALL = {("looking back", "gold")}  # one for all examples
ROWS = {"a slice": slice(1, 3), "indices": torch.tensor([4, 0]), "a mask": torch.tensor([0, 1, 0, 1, 1, 0]).bool()}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", BATCHES)
def test_some_examples_are_those_rows_of_every_tensor(name, rows):
    batch = BATCHES[name](seeded())
    some = batch[rows]
    assert type(some) is type(batch) and len(batch) == 6
    for field, tensor in vars(batch).items():
        assert torch.equal(getattr(some, field), tensor if (name, field) in FOR_ALL else tensor[rows])
    assert len(some) == len(torch.arange(6)[rows])


@pytest.mark.parametrize("name", BATCHES)
def test_every_tensor_moves(name):
    moved = BATCHES[name](seeded()).to("meta")
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}


@pytest.mark.parametrize("name", DRAWN)
def test_the_seed_decides(name):
    first, again, other = (vars(BATCHES[name](seeded(seed))) for seed in (3, 3, 4))
    assert all(torch.equal(first[field], again[field]) for field in first)
    assert not all(torch.equal(first[field], other[field]) for field in first)


@pytest.mark.parametrize("name", ["translations", "dates"])  # the tensors of which are made of lists
def test_an_empty_batch_is_like_another(name):
    for field, tensor in vars(DRAWN[name](0, seeded())).items():
        some = getattr(DRAWN[name](2, seeded()), field)
        assert tensor.shape == (0, *some.shape[1:]) and tensor.dtype == some.dtype
