"""The picture of two memories shows what tiles compute, and the bytes that they move."""

import pytest
import torch
from reading import close, drawn, texts

from attention_course import diagrams


@pytest.fixture(scope="module")
def run():
    return torch.randn(3, 8, 3, generator=torch.Generator().manual_seed(0)).unbind()


def test_the_large_memory_holds_the_inputs_and_the_rows_that_are_done(run):
    query, key, value = run
    tables = drawn(diagrams.two_memories(*run, tile=4))
    for name, tensor in zip("QKV", run, strict=True):
        assert close(tables[name], tensor)
    output = (query @ key.T / 3**0.5).softmax(-1) @ value
    assert close(tables["output"][:4], output[:4])
    assert not tables["output"][4:].any()


@pytest.mark.parametrize("tile", [2, 4])
def test_the_small_memory_holds_one_tile_and_what_is_left_of_all(run, tile):
    query, key, value = run
    tables = drawn(diagrams.two_memories(*run, tile=tile))
    scores = query[:tile] @ key.T / 3**0.5
    largest = scores.amax(-1, keepdim=True)
    exponentials = (scores - largest).exp()
    assert close(tables["q"], query[:tile])
    assert close(tables["k"], key[-tile:])
    assert close(tables["v"], value[-tile:])
    assert close(tables["exponentials"], exponentials[:, -tile:])
    assert close(tables["m"], largest)
    assert close(tables["l"], exponentials.sum(-1, keepdim=True))
    assert close(tables["o"], exponentials @ value)


def test_the_bytes_are_counted(run):
    written = texts(diagrams.two_memories(*run, tile=4))
    n, d = 8, 3
    in_tiles = 4 * (2 * n * d + 2 * n * d * n // 4)  # queries and output once, keys and values for each tile of queries
    stored = 4 * (4 * n * n + 4 * n * d)
    assert written.count(f"{4 * 4 * d} B") == 4
    assert f"moved in all: {in_tiles:,} bytes" in written
    assert f"with {n} × {n} scores and weights stored: {stored:,} bytes" in written


@pytest.mark.parametrize("tile", [3, 8])
def test_tiles_that_do_not_fit_are_refused(run, tile):
    with pytest.raises(ValueError, match=f"tile must divide n = 8 into two parts or more, got {tile}"):
        diagrams.two_memories(*run, tile=tile)
