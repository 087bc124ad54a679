"""The weights of explorers beside PyTorch's."""

import numpy as np
import pytest
import torch
from explorer_pages import Mounted
from explorer_samples import pytorch_weights

from attention_course.explore import explore_attention


@pytest.mark.parametrize(
    ("shape", "length", "dtype", "spread"),
    [
        ((1, 1, 7), 7, torch.float32, 3.0),
        ((2, 7, 4), 0, torch.float64, 10.0),  # more queries than keys: causal leaves rows empty, padding all of them
        ((8, 16, 16), 9, torch.float16, 5.0),
    ],
)
def test_weights_equal_pytorch(show, shape, length, dtype, spread):
    """At the ends of the temperature, in between, under every mask, for all heads and for the last one."""
    scores = (torch.randn(shape, generator=torch.Generator().manual_seed(1)) * spread).to(dtype)
    page = show(explore_attention(scores, keys=range(shape[2]), tokens=range(shape[1]), length=length, alt="Random."))
    explorer = Mounted(page)
    seen = set()
    for mask in ("none", "causal", "padding", "sliding window"):
        explorer.control("mask").select_option(label=mask)
        for keys in (["Home"], ["PageUp", "PageUp"], ["End"], ["ArrowLeft"]):
            explorer.press("temperature", *keys)
            state = explorer.state
            seen.add(state["temperature"])
            assert state["mask"] == mask
            expected = pytorch_weights(scores, state["temperature"], mask, length)
            np.testing.assert_allclose(explorer.weights, expected, rtol=0, atol=1e-6)
    assert len(seen) == 4 and {0.05, 10} < seen
    if shape[0] > 1:
        for head in (1, shape[0]):  # one instead of all, and then one instead of one
            explorer.control("head").select_option(label=f"head {head}")
        np.testing.assert_allclose(explorer.weights, expected[-1:], rtol=0, atol=1e-6)
        assert explorer.view.locator("figcaption").all_inner_texts() == [f"head {shape[0]}"]
    assert page.errors == []


def test_a_query_that_may_attend_to_nothing_says_so(show):
    """Its weights are 0, not NaN, and the sentence tells why."""
    explorer = Mounted(show(explore_attention(torch.zeros(3, 2), keys="ab", mask="causal", tokens="xyz", alt="Zeros.")))
    assert explorer.weights.tolist() == [[[0, 0], [1, 0], [0.5, 0.5]]]
    assert explorer.row() == [0, 0]
    explorer.page.get_by_text("“x” may attend to nothing: every weight is 0.").wait_for()


def test_a_query_that_attends_to_keys_that_were_cut_says_so(show):
    """It may attend to something, but not to what is drawn."""
    weights = torch.zeros(2, 200)
    weights[:, 150] = 1
    explorer = Mounted(show(explore_attention(weights=weights, tokens="xy", keys=range(200), alt="Far.")))
    explorer.page.get_by_text("“x” attends to no key that is shown.").wait_for()


def test_a_mask_stays_where_it_was_when_keys_are_cut(show):
    """The last of four queries sees the last of 200 keys, of which 128 are drawn."""
    scores = torch.randn(4, 200, generator=torch.Generator().manual_seed(1))
    explorer = Mounted(show(explore_attention(scores, "wxyz", keys=range(200), alt="Random.")))
    plain = scores[:, :128].double().softmax(-1)
    for mask, expected in (("causal", plain), ("sliding window", torch.zeros(4, 128))):
        explorer.control("mask").select_option(label=mask)
        np.testing.assert_allclose(explorer.weights, expected[None], rtol=0, atol=1e-6)
    assert "weights are those among these keys alone" in explorer.view.locator(".course-explorer-legend").inner_text()


def test_a_token_that_occurs_twice_is_told_with_its_place(show):
    """As a query and as a key; what occurs once needs none."""
    scores = torch.tensor([[0.0, 0.0, 9.0]]).expand(3, 3).log()
    explorer = Mounted(show(explore_attention(weights=scores.exp() / 9, tokens="aba", alt="Twice.")))
    explorer.page.get_by_text("“a” (1) attends to “a” (3) 1.000").wait_for()
    explorer.view.locator(".course-explorer-queries button").nth(1).focus()
    explorer.page.get_by_text("“b” attends to “a” (3) 1.000").wait_for()
