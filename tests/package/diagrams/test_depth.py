"""What stands beside the stream are the sizes and factors of the blocks' run; the table has the means of its runs."""

import numpy as np
import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams
from attention_course.diagrams.depth import follow
from attention_course.transformer import Block


def test_the_numbers_beside_the_stream_are_those_of_the_blocks():
    torch.manual_seed(0)
    blocks = [Block(8, 2, norm_first=norm_first) for norm_first in (True, False)]
    tokens = 3 * torch.randn(2, 5, 8)
    written = texts(diagrams.norm_places(*blocks, tokens))
    sizes = [line for line in written if line.startswith("size")]
    assert len(sizes) == 6  # three in a column
    for block, lines in zip(blocks, (sizes[:3], sizes[3:]), strict=True):
        end = block(tokens)[0].square().mean().sqrt()
        assert lines[0] == f"size {tokens.square().mean().sqrt():.2f}, own × 1.00"
        assert lines[2].startswith(f"size {end:.2f},")
    assert all(line.endswith("own × 1.00") for line in sizes[:3])


def test_post_norm_multiplies_the_incoming_token_by_what_its_norms_do():
    """Without updates the norms alone act: the token is divided by its own deviation, and by 1 from then on."""
    block = Block(8, 2, norm_first=False)
    for layer in (block.attention.out_proj, block.feed_forward[2]):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    token = torch.arange(8.0)[None, None]
    numbers = follow(block, token)
    deviation = np.arange(8.0).std()
    assert [own for _, own in numbers] == pytest.approx([1, 1 / deviation, 1 / deviation], rel=1e-4)
    assert [size for size, _ in numbers] == pytest.approx([17.5**0.5, 1, 1], rel=1e-4)


def test_the_order_of_norm_and_boxes_differs():
    torch.manual_seed(0)
    picture = diagrams.norm_places(Block(8, 2), Block(8, 2, norm_first=False), torch.randn(1, 3, 8))
    parts = [line for line in texts(picture) if line in ("norm", "attention", "feed-forward")]
    assert parts == ["norm", "attention", "norm", "feed-forward", "attention", "norm", "feed-forward", "norm"]


def test_the_table_has_the_mean_of_the_seeds_at_its_place():
    runs = [
        {"norm_first": norm_first, "warm_up": warm_up, "rate": rate, "seed": seed}
        | {"accuracy": norm_first / 2 + warm_up / 1000 + rate * 10 + seed / 50}
        for rate in (0.01, 0.001)
        for norm_first in (False, True)
        for warm_up in (0, 50)
        for seed in (0, 1)
    ]
    tables = drawn(diagrams.warm_up_table(runs))
    assert tables["constant rate"] == pytest.approx(np.array([[0.52, 0.61], [0.02, 0.11]]), abs=1e-6)
    assert tables["with a warm-up"] == pytest.approx(np.array([[0.57, 0.66], [0.07, 0.16]]), abs=1e-6)
