"""Every mechanism of the package with its definition and its stated error: what test_contract.py runs over.

All are called alike, `attention(query, key, value, mask)` on `(BATCH, N_HEADS, tokens, D_HEAD)`, and return the output.
Definitions are plain, quadratic, and run in float64 on what the mechanism was given.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor, nn

from attention_course import scaled_dot_product_attention
from attention_course.buckets import T5Attention, t5_bucket
from attention_course.distributed import RingAttention
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout, block_sparse_attention
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.flex import FlexAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.linear import LinearAttention, linear_attention
from attention_course.efficient.linformer import LinformerAttention, linformer_attention
from attention_course.efficient.longformer import LongformerAttention, window_attention
from attention_course.efficient.performer import PerformerAttention, performer_attention
from attention_course.efficient.reformer import LSHAttention, lsh_attention
from attention_course.grouped import grouped_query_attention
from attention_course.mechanism import as_mechanism
from attention_course.positions import ALiBiAttention, RotaryAttention, ShawAttention

BATCH, N_HEADS, D_HEAD = 2, 2, 8
LONGEST = 4096
FLOAT64, FLOAT32, BFLOAT16, FLOAT16 = torch.float64, torch.float32, torch.bfloat16, torch.float16

# The largest relative error of the output, and of the gradients: norm of the difference by norm of what is right.
ROUNDING = {FLOAT64: (3e-15, 6e-15), FLOAT32: (1e-6, 3e-6), BFLOAT16: (8e-3, 2e-2), FLOAT16: (1e-3, 3e-3)}
BY_ANGLES = 1e-6, 2e-6  # which are float32 in float64 too
ONCE_ROUNDED = {BFLOAT16: (3e-3, 7e-3), FLOAT16: (4e-4, 1e-3)}  # what computes in float32 and rounds at the end


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@dataclass(frozen=True)
class Case:
    """A mechanism as the contract is run over it.

    Attributes:
        make: Makes one that is as the last; in float32.
        call: `call(attention, query, key, value, mask)`, its output.
        define: The same by the definition, with `attention` for what it learns or draws.
        causal: Whether later tokens are hidden.
        errors: Output's and gradients' error by dtype: of those that it takes.
        large: What "however large" is, as a share of the dtype's largest number; a product of a token with D_HEAD such
            numbers is still a number.
        sums: Whether products of keys and values are summed. What is later is then no larger than that they are
            numbers too, where gradients are asked for: a gradient of zero times infinity would be none.
        masked: Whether it takes a mask.
        even: Whether it takes even numbers of tokens only.
        shared: Whether keys are the queries.
        leaks: Whether, as its description says, outputs hang on later tokens.
        draws: Whether it keeps what it drew at random.
    """

    make: Callable
    call: Callable
    define: Callable
    causal: bool = False
    errors: dict = field(default_factory=lambda: ROUNDING)
    large: float = 0.01
    sums: bool = False
    masked: bool = True
    even: bool = False
    shared: bool = False
    leaks: bool = False
    draws: bool = False

    def output(self, attention, tokens: list[Tensor], mask: Tensor | None = None) -> Tensor:
        return self.call(attention, *tokens, mask)

    def defined(self, attention, tokens: list[Tensor], mask: Tensor | None = None) -> Tensor:
        if isinstance(attention, nn.Module) and not isinstance(attention, RingAttention):
            attention = deepcopy(attention).double()
        return self.define(attention, *tokens, mask)


def by_definition(query, key, value, mask=None, *, causal=False, bias=0.0):
    """Softmax attention, in the plainest form."""
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5 + bias
    seen = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    if causal:
        seen = seen.tril()
    nothing = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen & ~nothing, -torch.inf).softmax(-1).masked_fill(nothing, 0.0)
    return weights @ value


def as_it_is(attention, query, key, value, mask):
    """The mechanism hides the future itself, or none."""
    return attention(query, key, value, mask, need_weights=False)[0]


def under_a_mask(attention, query, key, value, mask):
    """As a layer calls it to hide the future."""
    return as_mechanism(attention).attend(query, key, value, mask, causal=True)[0]


# Definitions that take what the mechanism knows -----------------------------------------------------------------------


def rotary(attention, query, key, value, mask, *, causal):
    def turned(tokens):
        even, odd = tokens[..., ::2], tokens[..., 1::2]
        frequency = attention.base ** (-2 * torch.arange(D_HEAD // 2, dtype=FLOAT64) / D_HEAD)
        angle = torch.arange(tokens.size(-2))[:, None] * frequency
        pair = even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()
        return torch.stack(pair, dim=-1).flatten(-2)

    return by_definition(turned(query), turned(key), value, mask, causal=causal)


def alibi(attention, query, key, value, mask, *, causal):
    place = torch.arange(query.size(-2))
    slopes = torch.tensor([2.0 ** (-8 * (head + 1) / N_HEADS) for head in range(N_HEADS)], dtype=FLOAT64)
    bias = -slopes[:, None, None] * (place[:, None] - place).abs()
    return by_definition(query, key, value, mask, causal=causal, bias=bias)


def shaw(attention, query, key, value, mask, *, causal):
    place = torch.arange(query.size(-2))
    offset = (place - place[:, None]).clamp(-attention.max_distance, attention.max_distance) + attention.max_distance
    vectors = attention.embedding.weight[offset]  # (n_queries, n_keys, d_head)
    bias = torch.einsum("bhqd,qkd->bhqk", query, vectors) / D_HEAD**0.5
    return by_definition(query, key, value, mask, causal=causal, bias=bias)


def t5(attention, query, key, value, mask, *, causal):
    place = torch.arange(query.size(-2))
    bucket = t5_bucket(place - place[:, None], **attention.buckets)
    bias = attention.embedding.weight.T[:, bucket]  # (heads, n_queries, n_keys)
    return by_definition(query, key, value, mask, causal=causal, bias=bias)


def latent(layer, query, key, value, mask, *, causal):
    def heads(tokens, weight):
        return (tokens.transpose(1, 2).flatten(2) @ weight.T).unflatten(-1, (N_HEADS, -1)).transpose(1, 2)

    key_weight, value_weight = (up.weight @ layer.down_proj.weight for up in (layer.key_up, layer.value_up))
    q, k, v = heads(query, layer.query_proj.weight), heads(key, key_weight), heads(key, value_weight)
    return heads(by_definition(q, k, v, mask, causal=causal), layer.out_proj.weight)


def call_latent(layer, query, key, value, mask, *, causal):
    """The layer takes tokens that are not yet split into heads, and makes the values of the keys."""
    tokens = (each.transpose(1, 2).flatten(2) for each in (query, key))
    return layer(*tokens, mask=mask, causal=causal)[0].unflatten(-1, (N_HEADS, D_HEAD)).transpose(1, 2)


def call_grouped(attention, query, key, value, mask, *, causal):
    return attention(scaled_dot_product_attention, query, key[:, :1], value[:, :1], mask, causal=causal)[0]


def define_grouped(attention, query, key, value, mask, *, causal):
    key, value = (tokens[:, :1].expand_as(query) for tokens in (key, value))
    return by_definition(query, key, value, mask, causal=causal)


def call_lsh(attention, query, key, value, mask):
    attention.generator.manual_seed(1)  # each call hashes anew
    return attention(query, query, value, mask)[0]


def define_lsh(attention, query, key, value, mask):
    attention.generator.manual_seed(1)
    shown = query if mask is None else query.where(mask.transpose(-2, -1), 0.0)
    buckets = torch.stack([attention.buckets(shown) for _ in range(attention.n_rounds)])
    return lsh_attention(query, value, buckets, attention.bucket_size, mask, causal=attention.causal)[0]


def alone():
    """This process as a group of its own, of one; test_contract.py ends it."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def ring(causal):
    alone()
    return RingAttention(causal=causal)


def with_seed(make):
    torch.manual_seed(0)
    return make()


# The table ------------------------------------------------------------------------------------------------------------


def cases(causal: bool) -> dict[str, Case]:
    hidden = under_a_mask if causal else as_it_is

    def softmax(attention, *tokens_and_mask):
        return by_definition(*tokens_and_mask, causal=causal)

    def function(attention, **options):
        return lambda: partial(attention, **options)

    layout = bigbird_layout(LONGEST // 16, n_random=2, generator=seeded())
    once = {"errors": ROUNDING | ONCE_ROUNDED}
    wide_only = {dtype: ROUNDING[dtype] for dtype in (FLOAT64, FLOAT32)}
    found = {
        "exact": Case(function(scaled_dot_product_attention, causal=causal), as_it_is, softmax),
        "exact, with weights": Case(
            function(scaled_dot_product_attention, causal=causal),
            lambda attention, *given: attention(*given)[0], softmax,
        ),
        "grouped": Case(
            lambda: grouped_query_attention,
            partial(call_grouped, causal=causal), partial(define_grouped, causal=causal),
        ),
        "flash": Case(function(flash_attention, causal=causal), as_it_is, softmax),
        "chunked": Case(function(chunked_attention, chunk_size=50), hidden, softmax),
        "flex": Case(lambda: FlexAttention(causal=causal), as_it_is, softmax),
        "latent": Case(
            lambda: with_seed(lambda: LatentAttention(N_HEADS * D_HEAD, N_HEADS, 12)),
            partial(call_latent, causal=causal), partial(latent, causal=causal), large=1e-4,
        ),
        "ring": Case(lambda: ring(causal), as_it_is, softmax, errors=wide_only, masked=False, even=causal),
        "RoPE": Case(RotaryAttention, hidden, partial(rotary, causal=causal), errors=ROUNDING | {FLOAT64: BY_ANGLES}),
        "ALiBi": Case(ALiBiAttention, hidden, partial(alibi, causal=causal)),
        "Shaw": Case(
            lambda: with_seed(lambda: ShawAttention(D_HEAD, 5)), hidden, partial(shaw, causal=causal),
            draws=True, **once,
        ),
        "T5": Case(
            lambda: with_seed(lambda: T5Attention(N_HEADS)), hidden, partial(t5, causal=causal), draws=True, **once,
        ),
        "window": Case(
            lambda: LongformerAttention(5, n_global=2, causal=causal), as_it_is,
            lambda _, *given: window_attention(*given, window=5, n_global=2, causal=causal)[0],
        ),
        "block-sparse": Case(
            lambda: BlockSparseAttention(layout, 16, causal=causal), as_it_is,
            lambda _, q, k, v, mask: block_sparse_attention(q, k, v, layout, 16, mask, causal=causal)[0],
        ),
        "linear": Case(
            lambda: LinearAttention(causal=causal), as_it_is,
            lambda _, *given: linear_attention(*given, causal=causal)[0], sums=True, **once,
        ),
        "Performer": Case(
            lambda: PerformerAttention(D_HEAD, 32, causal=causal, generator=seeded()), as_it_is,
            lambda attention, q, k, v, mask: performer_attention(q, k, v, attention.directions, mask, causal=causal)[0],
            draws=True, sums=True, **once,
        ),
        "LSH": Case(
            lambda: LSHAttention(16, 2, causal=causal, generator=seeded()), call_lsh, define_lsh,
            shared=True, leaks=causal, **once,
        ),
    }  # fmt: skip
    if not causal:
        found["Linformer"] = Case(
            lambda: with_seed(lambda: LinformerAttention(LONGEST, 16)), as_it_is,
            lambda attention, q, k, v, mask: linformer_attention(
                q, k, v, attention.blend_keys, attention.blend_values, mask
            )[0],
            draws=True,
        )  # fmt: skip
    return found


CASES = cases(causal=False) | {
    f"{name}, causal": Case(**{**vars(case), "causal": True}) for name, case in cases(causal=True).items()
}
