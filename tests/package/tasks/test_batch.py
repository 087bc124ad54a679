import pytest
import torch
from seeding import seeded

from attention_course import tasks

BATCHES = {
    "translations": lambda: tasks.translation_pairs(6, seeded()),
    "reviews": lambda: tasks.reviews(6, seeded()),
    "series": lambda: tasks.anomalous_series(6, seeded()),
    "changing letters": lambda: tasks.changing_letters(6, 4, 5, 3, seeded()),
    "looking back": lambda: tasks.looking_back(6, 5, 4, 2, seeded()),
    "digits": lambda: tasks.handwritten_digits()[1][:6],
}
FOR_ALL = {("looking back", "gold")}  # one for all examples
ROWS = {"a slice": slice(1, 3), "indices": torch.tensor([4, 0]), "a mask": torch.tensor([0, 1, 0, 1, 1, 0]).bool()}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", BATCHES)
def test_some_examples_are_those_rows_of_every_tensor(name, rows):
    batch = BATCHES[name]()
    some = batch[rows]
    assert type(some) is type(batch) and len(batch) == 6
    for field, tensor in vars(batch).items():
        assert torch.equal(getattr(some, field), tensor if (name, field) in FOR_ALL else tensor[rows])
    assert len(some) == len(torch.arange(6)[rows])


@pytest.mark.parametrize("name", BATCHES)
def test_every_tensor_moves(name):
    moved = BATCHES[name]().to("meta")
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}
