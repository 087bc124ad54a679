"""The picture of the cache shows what a layer computes with one."""

import re
from collections import Counter

import pytest
import torch
from reading import close, drawn, texts

from attention_course import MultiHeadAttention, diagrams
from attention_course.diagrams.cache import LEFT


@pytest.fixture
def run():
    torch.manual_seed(0)
    return MultiHeadAttention(4, 1), torch.randn(3, 4)


def test_each_step_holds_what_the_whole_causal_pass_computes(run):
    layer, tokens = run
    output, weights = layer(tokens[None], causal=True, need_weights=True)
    query, key, value = (part(tokens) for part in (layer.query_proj, layer.key_proj, layer.value_proj))
    cells = drawn(diagrams.growing_cache(layer, tokens, ["a", "b", "c"]))
    assert len(cells) == 3 * 5
    for step in range(1, 4):
        assert close(cells[f"query {step}"], query[step - 1 : step])
        assert close(cells[f"keys {step}"], key[:step])
        assert close(cells[f"values {step}"], value[:step])
        assert close(cells[f"weights {step}"], weights[0, 0, step - 1, :step, None])
        assert close(cells[f"answer {step}"], output[0, step - 1 : step])


def test_every_key_that_is_held_is_named(run):
    written = texts(diagrams.growing_cache(*run, ["a", "b", "c"]))
    # As the newest once, and as a key from its step on.
    assert [written.count(name) for name in "abc"] == [1 + 3, 1 + 2, 1 + 1]


def test_a_layer_of_other_heads_is_refused(run):
    with pytest.raises(ValueError, match="layer must have 1 head, got 2"):
        diagrams.growing_cache(MultiHeadAttention(4, 2), run[1], ["a", "b", "c"])


def test_arrows_lead_from_the_query_to_every_key_and_from_every_value_to_the_answer(run):
    svg = diagrams.growing_cache(*run, ["a", "b", "c"]).svg
    ends = Counter(re.findall(r"translate\(([\d.]+ [\d.]+)\)", svg))
    answers = [count for place, count in ends.items() if place.startswith(f"{LEFT['answer']} ")]
    assert answers == [1, 2, 3]
    for place in (LEFT["keys"] - 18, LEFT["values"]):
        assert sum(end.startswith(f"{place} ") for end in ends) == 1 + 2 + 3
