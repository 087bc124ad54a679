import math

import pytest
import torch
from refusing import refuses

from attention_course import AdditiveAttention, LuongAttention


def attend(score, query, key, value):
    """One batch element, pair by pair, in Python floats (float64)."""
    output = []
    for q in query.double():
        powers = [math.exp(score(q, k)) for k in key.double()]
        output.append(sum(p * v for p, v in zip(powers, value.double(), strict=True)) / sum(powers))
    return torch.stack(output).float()


def inputs(d_query, d_key):
    torch.manual_seed(0)
    return torch.randn(2, 3, d_query), torch.randn(2, 4, d_key), torch.randn(2, 4, 6)


def additive_score(layer):
    W_q, W_k, v = (
        p.detach().double() for p in (layer.query_proj.weight, layer.key_proj.weight, layer.energy.weight[0])
    )
    return lambda q, k: (v @ torch.tanh(W_q @ q + W_k @ k)).item()


@torch.no_grad()
@pytest.mark.parametrize("projected", [False, True])
def test_additive_equals_the_formula_pair_by_pair(projected):
    query, key, value = inputs(5, 7)
    layer = AdditiveAttention(5, 7, 8)
    output, weights = layer(query, key, value, projected_key=layer.key_proj(key) if projected else None)
    for index in range(2):
        expected = attend(additive_score(layer), query[index], key[index], value[index])
        torch.testing.assert_close(output[index], expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights @ value, output)


@torch.no_grad()
@pytest.mark.parametrize(("name", "d_query", "d_key"), [("dot", 5, 5), ("general", 5, 7), ("concat", 5, 7)])
def test_luong_equals_the_formula_pair_by_pair(name, d_query, d_key):
    query, key, value = inputs(d_query, d_key)
    layer = LuongAttention(d_query, d_key, name)
    if name == "dot":
        score = lambda q, k: (q @ k).item()  # noqa: E731
    elif name == "general":
        score = lambda q, k: (q @ layer.weight.weight.double() @ k).item()  # noqa: E731
    else:
        score = additive_score(layer.additive)
    output, weights = layer(query, key, value)
    for index in range(2):
        expected = attend(score, query[index], key[index], value[index])
        torch.testing.assert_close(output[index], expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))


@pytest.mark.parametrize(
    "layer", [AdditiveAttention(5, 5, 8), LuongAttention(5, 5, "dot"), LuongAttention(5, 5, "concat")]
)
def test_masks_hide_keys(layer):
    query, key, value = inputs(5, 5)
    mask = torch.tensor([True, True, False, False])
    output, weights = layer(query, key, value, mask)
    visible, _ = layer(query, key[:, :2], value[:, :2])
    torch.testing.assert_close(output, visible)
    assert weights[..., 2:].eq(0).all()


T = torch.ones(2, 4)


test_bad_input_is_named = refuses(
    ("score must be", lambda: LuongAttention(4, 4, "cosine")),
    ("d_query = d_key", lambda: LuongAttention(4, 5, "dot")),
    ("query must have shape", lambda: LuongAttention(4, 4, "dot")(T[..., :3], T, T)),
    ("key must have shape", lambda: AdditiveAttention(4, 4, 8)(T, T[..., :3], T)),
    ("query must have shape", lambda: AdditiveAttention(4, 4, 8)(T[0], T, T)),
    ("same n_keys", lambda: AdditiveAttention(4, 4, 8)(T, T, torch.ones(3, 4))),
    ("leading", lambda: LuongAttention(4, 4)(torch.ones(2, 2, 4), torch.ones(1, 2, 4), torch.ones(1, 2, 4))),
)


def test_additive_scores_have_no_bias():
    """A softmax would not see one."""
    assert sum(parameter.numel() for parameter in AdditiveAttention(5, 7, 8).parameters()) == 8 * 5 + 8 * 7 + 8
