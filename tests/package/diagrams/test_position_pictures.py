"""The pictures of positions say where each method enters, and show what it looks up."""

import torch
from reading import drawn, texts

from attention_course import diagrams
from attention_course.t5_bias import t5_bucket


def test_each_method_stands_beside_its_place():
    written = texts(diagrams.where_positions_enter())
    for place, methods in (
        ("1  add a code", "sinusoidal, learned"),
        ("2  turn", "RoPE"),
        ("3  add to scores", "a further page"),
    ):
        assert written[written.index(place) + 1] == methods
    assert written.count("turn") == 2  # queries and keys, and not the values


def test_the_grids_are_what_is_looked_up():
    offset = torch.arange(5) - torch.arange(5)[:, None]
    shaw, t5 = offset.clamp(-2, 2), t5_bucket(offset, n_buckets=8, max_distance=8)
    picture = diagrams.looked_up(shaw=shaw, t5=t5, alibi=-offset.abs())
    cells = drawn(picture)
    assert cells["Shaw"].tolist() == shaw.tolist()
    assert cells["T5"].tolist() == t5.tolist()
    assert cells["ALiBi"].tolist() == (-offset.abs()).tolist()
    assert len(texts(picture)) == 6 + 3 * 25  # two lines above each grid, and its numbers
