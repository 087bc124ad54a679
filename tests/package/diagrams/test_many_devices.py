"""The pictures of work spread over devices show what was run."""

import math

import numpy as np
import pytest
import torch
from reading import drawn, texts

from attention_course import diagrams
from attention_course.diagrams.many_devices import CUTS, seen_shares
from attention_course.efficient.tiles import attend_block, merge

P = 4


@pytest.fixture
def run():
    """Queries and keys `(devices, n, d)`; and for each step, whose keys each device holds and its log-sum-exps."""
    torch.manual_seed(0)
    queries, keys = torch.randn(2, P, 3, 5, dtype=torch.float64)
    lses = [torch.full((3, 1), -math.inf, dtype=torch.float64) for _ in range(P)]
    outputs = [torch.zeros(3, 5, dtype=torch.float64) for _ in range(P)]
    owners, log_sums = [], []
    for step in range(P):
        owners.append([(r - step) % P for r in range(P)])
        for r, owner in enumerate(owners[-1]):
            outputs[r], lses[r] = merge(outputs[r], lses[r], *attend_block(queries[r], keys[owner], keys[owner]))
        log_sums.append(list(lses))
    return queries, keys, owners, log_sums


def test_a_device_has_met_its_share_of_the_weights(run):
    queries, keys, owners, log_sums = run
    scores = queries[:, 0] @ keys.flatten(0, 1).T / math.sqrt(5)  # (devices, all keys)
    whole = scores.softmax(-1).view(P, P, 3).sum(-1)
    shares = seen_shares(owners, log_sums)
    assert torch.allclose(shares[-1], whole)
    for step in range(P):
        cells = drawn(diagrams.ring(owners, log_sums, step))
        for r in range(P):
            met = [(r - earlier) % P for earlier in range(step + 1)]
            assert np.allclose(cells[f"device {r}"][0, met], whole[r, met], atol=1e-3)
            assert cells[f"device {r}"][0].astype(bool).sum() == step + 1


def test_the_ring_says_whose_keys_are_held_and_handed_on(run):
    _, _, owners, log_sums = run
    for step in range(P):
        written = texts(diagrams.ring(owners, log_sums, step))
        assert [line for line in written if line.startswith("holds")] == [
            f"holds keys {owner}" for owner in owners[step]
        ]
        handed_on = [line for line in written if line.startswith("keys")]
        assert handed_on == ([f"keys {owner}" for owner in owners[step]] if step < P - 1 else [])


def test_a_ring_of_another_size_is_refused(run):
    _, _, owners, log_sums = run
    with pytest.raises(ValueError, match="owners must be of 4 devices, got 3"):
        diagrams.ring([each[:3] for each in owners], log_sums, 0)


def test_each_cut_deals_out_one_thing_and_copies_the_other():
    written = texts(diagrams.four_cuts())
    assert [line.removesuffix(" parallel") for line in written if line.endswith(" parallel")] == list(CUTS)
    for of_texts, of_layers, travels in CUTS.values():
        held = [{of(row, column) for row in range(2) for column in range(4)} for of in (of_texts, of_layers)]
        assert sorted(map(sorted, held)) == [["A", "B"], ["AB"]]
        assert f"travel: {travels}" in written
    assert sum(written.count(who) for who in ("A", "B")) == 4 * 8
    assert written.count("AB") == 4 * 8


def test_each_cut_keeps_whole_what_it_says():
    data, pipeline, tensor, context = CUTS.values()
    assert {data[0](0, token) for token in range(4)} == {"A"}  # a text stays in one place
    assert {pipeline[1](0, column) for column in range(4)} == {"A"}  # and so does a layer
    assert {tensor[1](layer, 0) for layer in range(2)} == {"A"}  # each layer is divided alike
    assert {context[0](text, 0) for text in range(2)} == {"A"}  # and so is each text
