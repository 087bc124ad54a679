"""Other libraries' efficient attention: each asked for what ours computes, and checked to compute it.

A peer is called in the way that is kindest to it: in evaluation, without projections, on inputs that already lie as it
wants them, with whatever can be made beforehand made beforehand. `PEERS` names them beside the variants of
`efficient.py`; `largest_difference` tells how far one is from ours, which should be rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention

ROUNDING = 1e-4  # largest difference, relative to the largest output


@dataclass(frozen=True)
class Call:
    """A mechanism ready to be timed.

    Attributes:
        function: From `inputs` to the output `(batch, heads, tokens, d_head)`, which may be a view.
        inputs: What depends on the tokens, laid out as the mechanism wants it.
        parameters: What else is differentiated by.
    """

    function: Callable[..., Tensor]
    inputs: Sequence[Tensor]
    parameters: Sequence[Tensor] = ()


def _as_ours(ours, query, key, value) -> Tensor:
    return ours(query, key, value)[0]


@dataclass(frozen=True)
class Peer:
    """Another library's form of one of our variants.

    Attributes:
        package: Its name on PyPI.
        prepare: From our mechanism (whose random directions, blends or layout it takes over) and queries, keys and
            values to a `Call`.
        expected: From the same to the output that it must give.
        checked_with: From the number of tokens to the mechanism to be compared with, if not the one it is timed beside.
    """

    package: str
    prepare: Callable[..., Call]
    expected: Callable[..., Tensor] = _as_ours
    checked_with: Callable[[int], Callable] | None = None


def largest_difference(peer: Peer, ours: Callable, query: Tensor, key: Tensor, value: Tensor) -> float:
    """Largest difference of a peer's output from what is expected of it, relative to the largest output."""
    if peer.checked_with is not None:
        ours = peer.checked_with(query.size(-2))
    call = peer.prepare(ours, query, key, value)
    expected = peer.expected(ours, query, key, value)
    return float((call.function(*call.inputs) - expected).abs().max() / expected.abs().max())


# Linear attention -----------------------------------------------------------------------------------------------------


def _efficient_attention(ours, query, key, value) -> Call:
    """Softmax over a query's features, and over the tokens for a key's (Shen et al. 2018): as many operations."""
    from linear_attention_transformer.linear_attention_transformer import linear_attn

    return Call(linear_attn, (query, key, value))


def _efficient_attention_by_weights(ours, query, key, value) -> Tensor:
    return _by_weights(query.softmax(-1), key.softmax(-2), value) * query.size(-1) ** -0.5


def _by_weights(query_features, key_features, value, *, seen=None, add: Tensor | float = 0.0) -> Tensor:
    """Linear attention by the matrix that it is there to avoid; `add` goes into the sum of a query's weights."""
    weights = query_features @ key_features.transpose(-2, -1)
    weights = weights if seen is None else weights * seen
    total = weights.sum(-1, keepdim=True) + add
    return weights @ value / total.clamp_min(torch.finfo(total.dtype).tiny)


BLIND = 64  # tokens of a block do not see each other; seeing all would cost this library a state for each token


def _blindspot_attention(ours, query, key, value) -> Call:
    from linear_attention_transformer.linear_attention_transformer import causal_linear_attn

    return Call(lambda q, k, v: causal_linear_attn(q, k, v, bucket_size=BLIND), (query, key, value))


def _blindspot_attention_by_weights(ours, query, key, value) -> Tensor:
    block = torch.arange(query.size(-2)) // BLIND
    return _by_weights(query.softmax(-1), key.exp(), value, seen=block[:, None] > block)


def _fast_transformers(layer: nn.Module, query, key, value) -> Call:
    from fast_transformers.masking import FullMask, LengthMask, TriangularCausalMask

    n_tokens = query.size(-2)
    causal = type(layer).__name__.startswith("Causal")
    mask = TriangularCausalMask(n_tokens) if causal else FullMask(n_tokens)
    lengths = LengthMask(torch.full((len(query),), n_tokens))
    inputs = tuple(tokens.transpose(1, 2).contiguous() for tokens in (query, key, value))
    return Call(lambda q, k, v: layer(q, k, v, mask, lengths, lengths).transpose(1, 2), inputs)


def _fast_linear(ours, query, key, value) -> Call:
    from fast_transformers.attention import CausalLinearAttention, LinearAttention

    kind = CausalLinearAttention if ours.causal else LinearAttention
    return _fast_transformers(kind(query.size(-1)), query, key, value)


# Performer ------------------------------------------------------------------------------------------------------------


def _fast_performer(ours, query, key, value) -> Call:
    from fast_transformers.attention import CausalLinearAttention, LinearAttention
    from fast_transformers.feature_maps import Favor

    kind = CausalLinearAttention if ours.causal else LinearAttention
    layer = kind(query.size(-1), Favor.factory(n_dims=len(ours.directions), deterministic_eval=True)).eval()
    # It takes each direction and its opposite: half as many products with the tokens as ours.
    layer.feature_map.register_buffer("omega", ours.directions[: len(ours.directions) // 2].T.contiguous())
    return _fast_transformers(layer, query, key, value)


def _with_opposite_directions(ours, query, key, value) -> Tensor:
    half = ours.directions[: len(ours.directions) // 2]
    paired = PerformerAttention(query.size(-1), len(ours.directions), causal=ours.causal)
    paired.directions.copy_(torch.cat([half, -half]))
    return paired(query, key, value)[0]


def _performer_pytorch(ours, query, key, value) -> Call:
    from performer_pytorch import performer_pytorch

    layer = performer_pytorch.FastAttention(query.size(-1), len(ours.directions))
    layer.projection_matrix.copy_(ours.directions)
    if ours.causal:
        # Without a GPU it takes its slow form even where fast-transformers' C++ product is there: give it that.
        layer.causal = True
        try:
            import fast_transformers.causal_product  # noqa: F401

            layer.causal_linear_fn = performer_pytorch.causal_linear_attention
        except ImportError:
            layer.causal_linear_fn = performer_pytorch.causal_linear_attention_noncuda
    return Call(layer, (query, key, value))


def _with_floor(ours, query, key, value) -> Tensor:
    """It adds 1e-4 to each feature, more than there is where queries and keys are long, and 1e-6 to causal sums."""

    def features(tokens, over):
        log_features = ours.log_features(tokens)
        products = log_features + tokens.square().sum(-1, keepdim=True) * tokens.size(-1) ** -0.5 / 2
        return (log_features - products.amax(over, keepdim=True)).exp() + 1e-4

    q, k = features(query, -1), features(key, (-2, -1))
    if not ours.causal:
        return _by_weights(q, k, value)
    seen = torch.ones(query.size(-2), query.size(-2)).tril()
    # Its features are divided by the root of their number, so that it adds more than it seems.
    return _by_weights(q, k, value, seen=seen, add=1e-6 * len(ours.directions) ** 0.5 * q.sum(-1, keepdim=True))


# The others -----------------------------------------------------------------------------------------------------------


def _linformer(ours, query, key, value) -> Call:
    """Its layer projects one sequence three times; without that, queries, keys and values are the same."""
    from linformer import LinformerSelfAttention

    batch, n_heads, n_tokens, d_head = query.shape
    rank = len(ours.blend_keys)
    layer = LinformerSelfAttention(n_heads * d_head, n_tokens, k=rank, heads=n_heads)
    layer.to_q = layer.to_k = layer.to_v = layer.to_out = nn.Identity()
    with torch.no_grad():
        layer.proj_k.copy_(ours.blend_keys.T)
        layer.proj_v.copy_(ours.blend_values.T)
    tokens = query.transpose(1, 2).flatten(2).contiguous()
    return Call(
        lambda x: layer(x).unflatten(-1, (n_heads, d_head)).transpose(1, 2), (tokens,), (layer.proj_k, layer.proj_v)
    )


def _local_attention(ours, query, key, value) -> Call:
    from local_attention import LocalAttention

    # Without `exact_windowsize` it would see whole neighbouring blocks: another function in the same time.
    layer = LocalAttention(ours.window, causal=ours.causal, exact_windowsize=True, use_rotary_pos_emb=False)
    return Call(layer, (query, key, value))


def _reformer_pytorch(ours, query, key, value) -> Call:
    from reformer_pytorch import LSHAttention as TheirLSHAttention

    layer = TheirLSHAttention(bucket_size=ours.bucket_size, n_hashes=ours.n_rounds).eval()
    # One set of random directions for all heads, and a chunk of one round may look back into another round's.
    return Call(lambda q, v: layer(q, v)[0].view(query.shape), (query.flatten(0, 1), value.flatten(0, 1)))


def _whatever_the_buckets(n_tokens: int) -> LSHAttention:
    """Two chunks: each sees itself and the one before, which is all there is."""
    return LSHAttention(n_tokens // 2, 1)


def _bigbird(ours, query, key, value) -> Call:
    """The core of the layer, between its projections. It also fills the matrix of weights, which cannot be declined."""
    from transformers import BigBirdConfig
    from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel

    batch, n_heads, n_tokens, d_head = query.shape
    size = ours.block_size
    block = torch.arange(n_tokens // size)
    # Its own plan, made anew by loops in Python at each call, is replaced by our layout: the blocks that are neither
    # neighbours nor the first or the last.
    is_global = (block == 0) | (block == block[-1])
    others = ours.layout & ((block[:, None] - block).abs() > 1) & ~is_global
    plan = torch.stack([row.nonzero().flatten() for row in others[1:-1]]).numpy()
    config = BigBirdConfig(
        hidden_size=n_heads * d_head,
        num_attention_heads=n_heads,
        block_size=size,
        num_random_blocks=plan.shape[1],
        max_position_embeddings=n_tokens,
    )
    layer = BigBirdBlockSparseAttention(config).eval()
    layer._bigbird_block_rand_mask = lambda *_, **__: plan
    layer._bigbird_block_rand_mask_with_head = lambda *_, **__: [plan] * n_heads
    blocked, band, rows, columns = BigBirdModel.create_masks_for_block_sparse_attn(torch.ones(batch, n_tokens), size)

    def attend(query, key, value):
        masks = (band, rows, columns, blocked, blocked)
        sizes = (n_heads, plan.shape[1], d_head, size, size, batch, n_tokens, n_tokens)
        output, _ = layer.bigbird_block_sparse_attention(query, key, value, *masks, *sizes, None, None, None)
        return output.transpose(1, 2)

    return Call(attend, (query, key, value))


PEERS = {
    "linear": [
        Peer("linear-attention-transformer", _efficient_attention, _efficient_attention_by_weights),
        Peer("pytorch-fast-transformers", _fast_linear),
    ],
    "linear, causal": [
        Peer("linear-attention-transformer", _blindspot_attention, _blindspot_attention_by_weights),
        Peer("pytorch-fast-transformers", _fast_linear),
    ],
    "Performer": [
        Peer("pytorch-fast-transformers", _fast_performer, _with_opposite_directions),
        Peer("performer-pytorch", _performer_pytorch, _with_floor),
    ],
    "Performer, causal": [
        Peer("pytorch-fast-transformers", _fast_performer, _with_opposite_directions),
        Peer("performer-pytorch", _performer_pytorch, _with_floor),
    ],
    "Linformer": [Peer("linformer", _linformer, expected=lambda ours, query, key, value: ours(query, query, query)[0])],
    "window": [Peer("local-attention", _local_attention)],
    "window, causal": [Peer("local-attention", _local_attention)],
    "LSH": [
        Peer(
            "reformer-pytorch",
            _reformer_pytorch,
            expected=lambda ours, query, key, value: ours(query, query, value)[0],
            checked_with=_whatever_the_buckets,
        )
    ],
    "block-sparse": [Peer("transformers", _bigbird)],
}
