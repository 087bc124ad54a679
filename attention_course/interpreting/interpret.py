"""Methods that give each token a score for an answer. They ask different questions: where weight goes, what a small
change would do, what is missed when a token is taken away. (`circuits` takes heads away.)

Lesson: `chapters/interpretability.ipynb`.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from attention_course.support.autocast import wide

Answer = Callable[[Tensor], Tensor]
"""Takes embedded tokens `(batch, n, d_model)` to one number each, `(batch,)`: a logit, or a difference of two."""

CAPACITIES = 1_000_000  # SciPy's maximum flow counts in whole numbers: one millionth of a weight


# --- where weight goes -------------------------------------------------------------------------


def with_residual(weights: Tensor) -> Tensor:
    """One block's map with its residual path: half the mean of the heads, half the token itself.

    Args:
        weights: `(batch, n_heads, n, n)`.

    Returns:
        `(batch, n, n)`; rows that sum to 1 still do.
    """
    mean = weights.mean(1)
    return 0.5 * mean + 0.5 * torch.eye(mean.size(-1), dtype=mean.dtype, device=mean.device)


def rollout(maps: list[Tensor]) -> Tensor:
    """Attention rollout: follow the weights down through all blocks, by multiplying their maps.

    Abnar & Zuidema 2020, arXiv:2005.00928. Of a block it knows the mean weights of its heads and that there is a
    residual path, which gets half; values, feed-forward layers and norms it leaves out.

    Args:
        maps: Weights of each block, the first block first, `(batch, n_heads, n, n)`.

    Returns:
        `(batch, n, n)`: row i says how the output at i divides over the input tokens.

    Raises:
        ValueError: If there are no maps.
    """
    _need_maps(maps)
    product = with_residual(maps[0])
    for weights in maps[1:]:
        product = with_residual(weights) @ product
    return product


def attention_flow(maps: list[Tensor], query: int = -1) -> Tensor:
    """Attention flow: how much could flow from one output down to each input token, if weights were widths of pipes.

    The maximum flow through the graph of blocks, whose edges have the weights that `rollout` multiplies as capacities.
    Abnar & Zuidema 2020, arXiv:2005.00928. Needs SciPy, which scikit-learn brings.

    Args:
        maps: As for `rollout`.
        query: The output token to start from; from -n to n - 1, where -1 is the last.

    Returns:
        `(batch, n)`. The flows of different tokens are not shares of one whole: they need not sum to 1.

    Raises:
        ValueError: If there are no maps.
        IndexError: If there is no such query.
    """
    _need_maps(maps)
    layers = torch.stack([with_residual(weights) for weights in maps], 1)  # (batch, n_blocks, n, n)
    n = layers.size(-1)
    if not -n <= query < n:
        raise IndexError(f"query must lie in {-n}..{n - 1} for {n} tokens, got {query}")
    flows = [_flows(one.tolist(), query % n) for one in layers.detach().cpu()]
    return torch.tensor(flows, dtype=layers.dtype, device=layers.device).reshape(-1, n)


def _need_maps(maps: list[Tensor]) -> None:
    if not maps:
        raise ValueError("maps must hold the weights of at least one block, got none")


def _flows(layers: list[list[list[float]]], query: int) -> list[float]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n_blocks, n = len(layers), len(layers[0])
    edges = [
        ((depth + 1) * n + i, depth * n + j, round(CAPACITIES * weight))  # down from token i to token j
        for depth, rows in enumerate(layers)
        for i, row in enumerate(rows)
        for j, weight in enumerate(row)
    ]
    starts, ends, capacities = zip(*edges, strict=True)
    size = (n_blocks + 1) * n
    graph = csr_array((torch.tensor(capacities, dtype=torch.int32).numpy(), (starts, ends)), shape=(size, size))
    return [maximum_flow(graph, n_blocks * n + query, token).flow_value / CAPACITIES for token in range(n)]


# --- what a small change would do --------------------------------------------------------------


def _one_each(numbers: Tensor, x: Tensor) -> Tensor:
    """What an answer returned, if it is one number an example."""
    if numbers.shape != x.shape[:1]:
        raise ValueError(f"answer must return one number an example, ({len(x)},), got {tuple(numbers.shape)}")
    return numbers


def gradients(answer: Answer, x: Tensor) -> Tensor:
    """How fast the answer changes with each number of the input.

    Args:
        answer: From embedded tokens to one number each.
        x: Embedded tokens `(batch, n, d_model)`.

    Returns:
        `(batch, n, d_model)`. Its length along the last dimension is one score a token, after Simonyan et al. 2013,
        arXiv:1312.6034, who take the largest size over a pixel's colours.

    Raises:
        ValueError: If `answer` returns anything but one number an example.
    """
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        # An example's answer depends on no other example, so the sum's gradient is each one's own.
        (gradient,) = torch.autograd.grad(_one_each(answer(x), x).sum(), x)
    return gradient


def gradient_times_input(answer: Answer, x: Tensor) -> Tensor:
    """To first order, what the answer would lose if a token's embedding shrank to zero; exact if it is linear.

    Args:
        answer: As for `gradients`.
        x: As for `gradients`.

    Returns:
        `(batch, n)`, with signs.
    """
    return (gradients(answer, x) * x).sum(-1).detach()


def integrated_gradients(answer: Answer, x: Tensor, baseline: Tensor, steps: int = 1000) -> Tensor:
    r"""Gradients gathered along the straight way from a baseline to the input.

    .. math:: (x - b) \cdot \int_0^1 \nabla f\bigl(b + a\,(x - b)\bigr)\,da

    Sundararajan et al. 2017, arXiv:1703.01365. The scores add up to `answer(x) - answer(baseline)`, as nearly as the
    steps approach the integral (*completeness*). Compare the two: where the answer changes within a small piece of the
    way, as it does behind a layer norm, a few dozen steps can miss it.

    Args:
        answer: As for `gradients`.
        x: As for `gradients`.
        baseline: Embedded tokens that stand for "nothing there", broadcastable to `x`.
        steps: Number of points, in the middles of as many equal pieces.

    Returns:
        `(batch, n)`, with signs.

    Raises:
        ValueError: If there is no step.
    """
    if steps < 1:
        raise ValueError(f"steps must be 1 or more, got {steps}")
    difference = (x - baseline).detach()
    total = torch.zeros_like(wide(difference))
    for step in range(steps):
        total += gradients(answer, baseline + (step + 0.5) / steps * difference)
    return (difference * total / steps).sum(-1).to(x.dtype)


# --- what is missed ----------------------------------------------------------------------------


@torch.no_grad()
def erasure(answer: Callable[[Tensor, Tensor], Tensor], tokens: Tensor) -> Tensor:
    """What the answer loses if one token is hidden (after Li et al. 2016, arXiv:1612.08220).

    Args:
        answer: `answer(tokens, mask)` with a boolean mask `(batch, n)`, `True` = there; returns `(batch,)`.
        tokens: `(batch, n)`.

    Returns:
        `(batch, n)`: the answer with all tokens minus the answer without this one.

    Raises:
        ValueError: As `gradients`.
    """
    everything = torch.ones_like(tokens, dtype=torch.bool)
    whole = _one_each(answer(tokens, everything), tokens)
    lost = []
    for token in range(tokens.size(1)):
        mask = everything.clone()
        mask[:, token] = False
        lost.append(whole - answer(tokens, mask))
    return torch.stack(lost, 1)


@torch.no_grad()
def replacement(answer: Answer, x: Tensor, baseline: Tensor) -> Tensor:
    """What the answer loses if one token's embedding is replaced by the baseline's.

    Args:
        answer: As for `gradients`.
        x: As for `gradients`.
        baseline: Embedded tokens to put in their place, broadcastable to `x`.

    Returns:
        `(batch, n)`: the answer to `x` minus the answer with this one replaced.

    Raises:
        ValueError: As `gradients`.
    """
    whole, baseline = _one_each(answer(x), x), baseline.expand_as(x)
    lost = []
    for token in range(x.size(1)):
        changed = x.clone()
        changed[:, token] = baseline[:, token]
        lost.append(whole - answer(changed))
    return torch.stack(lost, 1)


@torch.no_grad()
def exchange(answer: Callable[[Tensor], Tensor], tokens: Tensor, kinds: Tensor) -> Tensor:
    """Which tokens can turn the answer, from above 0 to below it or back, if exchanged for another one of their kind.

    Args:
        answer: From tokens `(batch, n)` to one number each, `(batch,)`.
        tokens: `(batch, n)`, indices into the vocabulary.
        kinds: The kind of each word of the vocabulary, integers `(vocabulary,)`.

    Returns:
        Boolean `(batch, n)`.

    Raises:
        ValueError: As `gradients`.
    """
    said = _one_each(answer(tokens), tokens) > 0
    turns = torch.zeros_like(tokens, dtype=torch.bool)
    for place in range(tokens.size(1)):
        for word, kind in enumerate(kinds):
            changed = tokens.clone()
            changed[:, place] = word
            realistic = kinds[tokens[:, place]] == kind
            turns[:, place] |= realistic & ((answer(changed) > 0) != said)
    return turns
