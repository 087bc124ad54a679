"""The methods give what can be worked out by hand, and what Captum gives."""

import pytest
import torch

from attention_course.interpreting import interpret

SEED = torch.Generator().manual_seed(0)
X = torch.randn(2, 5, 3, generator=SEED, dtype=torch.float64)
BASELINE = torch.randn(5, 3, generator=SEED, dtype=torch.float64)
SLOPES = torch.randn(5, 3, generator=SEED, dtype=torch.float64)


def linear(x):
    return (x * SLOPES).sum((1, 2)) + 7


def curved(x):
    return (x @ SLOPES[0]).square().sum(1) * x[:, 0, 0].tanh() + x.prod(-1).sum(1)


def averaging(maps, x):
    """Blocks that do what rollout takes them to do: half of a token's average over the others, half of itself."""
    for weights in maps:
        x = 0.5 * weights.mean(1) @ x + 0.5 * x
    return x


def random_maps(n_blocks, batch=2, n_heads=3, n=4):
    return [torch.randn(batch, n_heads, n, n, generator=SEED, dtype=torch.float64).softmax(-1) for _ in range(n_blocks)]


# --- where weight goes -------------------------------------------------------------------------


def test_rollout_is_what_averaging_blocks_do_to_one_hot_tokens():
    maps = random_maps(3)
    torch.testing.assert_close(interpret.rollout(maps), averaging(maps, torch.eye(4, dtype=torch.float64)))


def test_rollout_and_flow_of_the_example_of_the_lesson():
    """b reads a, then ? reads b."""
    first = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 0, 1]])[None, None]
    second = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 1, 0]])[None, None]
    assert interpret.rollout([first, second])[0, -1].tolist() == [0.25, 0.25, 0.5]
    assert interpret.attention_flow([first, second]).tolist() == [[0.5, 0.5, 0.5]]


def test_flow_through_three_blocks_is_that_of_another_library():
    networkx = pytest.importorskip("networkx")
    maps = random_maps(3, batch=1, n=3)
    graph = networkx.DiGraph()
    for depth, weights in enumerate(maps):
        for i, row in enumerate(interpret.with_residual(weights)[0].tolist()):
            for j, weight in enumerate(row):
                graph.add_edge((depth + 1, i), (depth, j), capacity=weight)
    expected = [networkx.maximum_flow_value(graph, (3, 2), (0, token)) for token in range(3)]
    assert interpret.attention_flow(maps)[0].tolist() == pytest.approx(expected, abs=1e-5)


def test_an_empty_batch_has_flows_of_its_own_shape():
    assert interpret.attention_flow([torch.rand(0, 2, 3, 3)]).shape == (0, 3)


def test_a_query_that_is_not_there_and_a_model_without_maps_are_refused():
    maps = random_maps(1)
    same = interpret.attention_flow(maps, query=3), interpret.attention_flow(maps, query=-1)
    assert torch.equal(*same)
    assert torch.equal(interpret.attention_flow(maps, query=-4), interpret.attention_flow(maps, query=0))
    for query in (4, -5):
        with pytest.raises(IndexError, match=f"query must lie in -4..3 for 4 tokens, got {query}"):
            interpret.attention_flow(maps, query=query)
    for method in (interpret.rollout, interpret.attention_flow):
        with pytest.raises(ValueError, match="maps must hold the weights of at least one block, got none"):
            method([])


# --- what a small change would do --------------------------------------------------------------


def test_gradients_are_the_slopes_of_a_linear_answer_and_leave_the_input_alone():
    x = X.clone()
    torch.testing.assert_close(interpret.gradients(linear, x), SLOPES.expand(2, -1, -1))
    assert not x.requires_grad and torch.equal(x, X)
    with torch.no_grad():
        torch.testing.assert_close(interpret.gradients(linear, x), SLOPES.expand(2, -1, -1))


def test_gradient_times_input_is_exact_for_a_linear_answer():
    scores = interpret.gradient_times_input(linear, X)
    torch.testing.assert_close(scores, (X * SLOPES).sum(-1))
    torch.testing.assert_close(scores.sum(1), linear(X) - linear(0 * X))


def test_scores_of_an_input_that_learns_are_numbers_apart_from_its_graph():
    x = X.clone().requires_grad_()
    assert not interpret.gradient_times_input(linear, x).requires_grad


def test_an_answer_of_several_numbers_and_a_way_without_steps_are_refused():
    with pytest.raises(ValueError, match=r"answer must return one number an example, \(2,\), got \(2, 5\)"):
        interpret.gradients(lambda x: x.sum(-1), X)
    tokens, kinds = torch.zeros(2, 5, dtype=torch.long), torch.zeros(3)
    for method in (
        lambda: interpret.erasure(lambda tokens, mask: mask.sum(-1, keepdim=True), tokens),
        lambda: interpret.replacement(lambda x: x.sum((1, 2))[:, None], X, BASELINE),
        lambda: interpret.exchange(lambda tokens: tokens.sum(-1, keepdim=True), tokens, kinds),
    ):
        with pytest.raises(ValueError, match=r"answer must return one number an example, \(2,\), got \(2, 1\)"):
            method()
    with pytest.raises(ValueError, match="steps must be 1 or more, got 0"):
        interpret.integrated_gradients(linear, X, BASELINE, steps=0)


def test_integrated_gradients_of_a_product():
    """Along the way from 0, the product of two numbers grows as a², and each of them is owed half."""
    scores = interpret.integrated_gradients(lambda x: x[:, 0, 0] * x[:, 1, 0], X, torch.zeros_like(X), steps=1)
    half = X[:, 0, 0] * X[:, 1, 0] / 2
    torch.testing.assert_close(scores, torch.stack([half, half, *[0 * half] * 3], 1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_many_small_gradients_keep_their_digits_in_half_precision(dtype):
    """A sum in half precision would stand still at 256, or overflow."""
    x = torch.ones(1, 3, 4, dtype=dtype)
    scores = interpret.integrated_gradients(lambda x: 100 * x.sum((1, 2)), x, torch.zeros_like(x))
    torch.testing.assert_close(scores, torch.full((1, 3), 400.0, dtype=dtype))


# --- what is missed ----------------------------------------------------------------------------


def test_erasure_takes_apart_an_answer_that_is_a_sum():
    numbers = torch.randn(2, 4, generator=SEED, dtype=torch.float64)
    lost = interpret.erasure(lambda tokens, mask: (tokens * mask).sum(1) + 3, numbers)
    torch.testing.assert_close(lost, numbers)


def test_an_exchange_tries_only_words_of_the_same_kind_and_needs_the_answer_to_turn():
    """Words 0 and 1 are of one kind, 2 to 4 of another; 5 is alone. The answer is above 0 where 0s and 3s are as many.

    The row 0, 2, 5: a 1 for the 0 turns it (0 and 0), a 3 for the 2 does (1 and 1), and nothing replaces 5. In the row
    3, 3, 2 no exchange of one word makes the numbers equal, though a 0 in a place of another kind would.
    """

    def answer(tokens):
        return ((tokens == 0).sum(1) == (tokens == 3).sum(1)).float()

    kinds = torch.tensor([0, 0, 1, 1, 1, 2])
    turns = interpret.exchange(answer, torch.tensor([[0, 2, 5], [3, 3, 2]]), kinds)
    assert turns.tolist() == [[True, True, False], [False, False, False]]
    turns = interpret.exchange(answer, torch.tensor([[1, 3, 2]]), kinds)
    assert turns.tolist() == [[True, True, False]]
    was_equal = interpret.exchange(answer, torch.tensor([[0, 3, 5]]), kinds)
    assert was_equal.tolist() == [[True, True, False]]


def test_captum_gives_the_same():
    attr = pytest.importorskip("captum.attr")
    baseline = BASELINE.expand_as(X)
    gathered = attr.IntegratedGradients(curved).attribute(X, baseline, n_steps=20, method="riemann_middle").sum(-1)
    # Captum keeps the length of a step in single precision.
    ours = interpret.integrated_gradients(curved, X, baseline, steps=20)
    torch.testing.assert_close(gathered, ours, atol=1e-6, rtol=1e-6)
    slopes = attr.Saliency(curved).attribute(X.clone().requires_grad_())
    torch.testing.assert_close(slopes, interpret.gradients(curved, X).abs())
    places = torch.arange(5)[None, :, None].expand(1, 5, 3)
    replaced = attr.FeatureAblation(curved).attribute(X, baseline, feature_mask=places)
    torch.testing.assert_close(replaced[..., 0], interpret.replacement(curved, X, baseline))
