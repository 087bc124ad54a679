"""What single heads do: scores of their weights, what their matrices read and write, and models without some of them.

Scores take weights `(..., n, n)`, a row for each query, under a causal mask. The leading dimensions stay, so that
weights `(batch, heads, n, n)` give a score for each head in each sequence.

Lesson: `chapters/circuits.ipynb`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from attention_course.attention import MultiHeadAttention
from attention_course.support.renamed import renamed


@renamed(n_symbols="vocab_size")
def repeated_sequences(
    n_sequences: int, vocab_size: int, period: int, length: int, generator: torch.Generator
) -> Tensor:
    """Random sequences that start again after `period` symbols: what comes next can be known by looking back only.

    No symbol comes twice within a period. Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*,
    and Olsson et al. 2022, arXiv:2209.11895, measure heads on such sequences.

    Args:
        n_sequences: How many.
        vocab_size: Size of the vocabulary.
        period: Symbols before the sequence repeats, from 1 to `vocab_size`.
        length: Of each sequence.
        generator: Source of randomness (on the CPU).

    Returns:
        Integers `(n_sequences, length)`.

    Raises:
        ValueError: If there are fewer symbols than a period needs.
    """
    if not 1 <= period <= vocab_size:
        raise ValueError(f"period must lie in 1..{vocab_size} (vocab_size), got {period}")
    order = torch.rand(n_sequences, vocab_size, generator=generator).argsort(-1)
    return order[:, torch.arange(length) % period]


def uniform_causal_weights(n: int, *, device=None) -> Tensor:
    """The weights of a head that does not look: each of `n` queries gives the same to all keys up to itself, `(n, n)`.

    A control: what a score says of it is what the score says of nothing.
    """
    weights = torch.ones(n, n, device=device).tril()
    return weights / weights.sum(-1, keepdim=True)


def induction_score(weights: Tensor, period: int) -> Tensor:
    """Mean weight on the token that followed the query's symbol the last time, in sequences with this period.

    That token stands `period - 1` places back. After the prefix-matching score of Olsson et al. 2022,
    arXiv:2209.11895, on sequences that repeat after `period` symbols; the queries of the first period, which have
    nothing to find, are left out.

    Args:
        weights: `(..., n, n)`, of repeated random sequences.
        period: From 2 to n - 1.

    Raises:
        ValueError: If the sequence holds no second period.
    """
    n = weights.size(-1)
    if not 2 <= period < n:
        raise ValueError(f"period must lie in 2..{n - 1} for {n} tokens, got {period}")
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(-1)


def previous_token_score(weights: Tensor) -> Tensor:
    """Mean weight on the token before the query (Elhage et al. 2021); the first query has none and is left out."""
    return weights.diagonal(-1, -2, -1).mean(-1)


def sink_score(weights: Tensor) -> Tensor:
    """Mean weight that the queries of the second half give to the first token.

    Attention sinks: Xiao et al. 2023, arXiv:2309.17453.
    """
    return weights[..., weights.size(-1) // 2 :, 0].mean(-1)


def broadcast_score(weights: Tensor) -> Tensor:
    """Mean weight that the queries of the second half give to one token of the first half: the one they favour.

    High where a head hands what one token holds to all later ones. The first token is left out (`sink_score`).
    """
    half = weights.size(-1) // 2
    return weights[..., half:, 1:half].mean(-2).amax(-1)


def output_value(layer: MultiHeadAttention, head: int) -> Tensor:
    """What a head adds to the stream for a token it attends to fully, as one matrix `(d_model, d_model)`: x W_V W_O.

    Biases are left out. Elhage et al. 2021.

    Raises:
        IndexError: If there is no such head.
    """
    return layer.value_proj.weight[_shared(layer, head)].T @ layer.out_proj.weight[:, _features(layer, head)].T


def query_key(layer: MultiHeadAttention, head: int) -> Tensor:
    """How a head scores two tokens, as one matrix `(d_model, d_model)`: the score is x_query W_Q W_K^T x_key / √d_head.

    Biases, and what the attention itself does to queries and keys, such as a rotation, are left out. Elhage et al.
    2021, with the scale.

    Raises:
        IndexError: If there is no such head.
    """
    query, key = layer.query_proj.weight[_features(layer, head)], layer.key_proj.weight[_shared(layer, head)]
    return query.T @ key / layer.d_head**0.5


def share_on_diagonal(circuit: Tensor) -> float:
    """Share of the rows of `(vocab_size, vocab_size)` whose largest number stands on the diagonal.

    For an output-value circuit from symbol to logit: of how many symbols the own logit rises most (copying). For a
    query-key circuit from symbol to symbol: how many look for themselves.
    """
    return (circuit.argmax(-1) == torch.arange(len(circuit), device=circuit.device)).float().mean().item()


def attention_layers(model: nn.Module) -> list[MultiHeadAttention]:
    """The model's attention layers, first to last."""
    return [layer for layer in model.modules() if isinstance(layer, MultiHeadAttention)]


@contextmanager
def without_heads(layers: Sequence[MultiHeadAttention], heads: Iterable[tuple[int, int]]) -> Iterator[None]:
    """Take heads away for a while (zero ablation): inside the `with`, they add nothing to the stream.

    What they say is zero before W_O reads it, so that nothing else changes. Biases stay.

    Args:
        layers: For example `attention_layers(model)`.
        heads: Pairs `(layer, head)`, counted from 0.

    Raises:
        IndexError: If there is no such head. The layers are then as they were.
    """
    with ExitStack() as stack:
        for number, head in heads:
            stack.enter_context(_saying(torch.zeros_like, layers[number], head))
        yield


@contextmanager
def averaged_head(layer: MultiHeadAttention, head: int) -> Iterator[None]:
    """Inside the `with`, a head says at every token what it says on average over tokens and batch (mean ablation).

    Args:
        layer: The head's layer.
        head: Counted from 0.

    Raises:
        IndexError: If there is no such head.
    """
    with _saying(lambda said: said.mean((0, 1)), layer, head):
        yield


@contextmanager
def _saying(instead: Callable[[Tensor], Tensor], layer: MultiHeadAttention, head: int) -> Iterator[None]:
    """Inside the `with`, the head says this instead of what it says, `(batch, n, d_head)`."""
    part = _features(layer, head)

    def change(module, inputs):
        joined = inputs[0].clone()  # (batch, n, d_model)
        joined[..., part] = instead(joined[..., part])
        return (joined,)

    hook = layer.out_proj.register_forward_pre_hook(change)
    try:
        yield
    finally:
        hook.remove()


@torch.no_grad()
def head_ablation(answer: Callable[[], Tensor], layers: Sequence[MultiHeadAttention]) -> Tensor:
    """What the answer loses if one head only says its average (`averaged_head`).

    Args:
        answer: Runs the model; returns `(batch,)`.
        layers: Its attention layers, each with as many heads, for example `attention_layers(model)`.

    Returns:
        `(batch, n_layers, n_heads)`: the answer with all heads minus the answer without this one.
    """
    whole = answer()
    lost = []
    for layer in layers:
        for head in range(layer.n_heads):
            with averaged_head(layer, head):
                lost.append(whole - answer())
    return torch.stack(lost, 1).unflatten(1, (len(layers), -1))


def _features(layer: MultiHeadAttention, head: int) -> slice:
    """Where a head stands among the joined heads."""
    if not 0 <= head < layer.n_heads:
        raise IndexError(f"head must lie in 0..{layer.n_heads - 1}, got {head}")
    return slice(head * layer.d_head, (head + 1) * layer.d_head)


def _shared(layer: MultiHeadAttention, head: int) -> slice:
    """Where the keys and values stand that a head reads, perhaps together with the other heads of its group."""
    number = head * layer.n_kv_heads // layer.n_heads
    return slice(number * layer.d_head, (number + 1) * layer.d_head)
