"""Every mechanism of the package with its definition and its stated errors: what test_contract.py runs over.

All are called alike, `attention(query, key, value, mask)` on `(BATCH, N_HEADS, tokens, D_HEAD)`, and return the output.
Definitions run in float64 on what the mechanism was given.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial

import torch
import torch.distributed as dist
from definitions import (
    D_HEAD,
    N_HEADS,
    alibi,
    as_it_is,
    by_definition,
    by_state,
    call_grouped,
    call_latent,
    call_lsh,
    call_multi_head,
    define_grouped,
    define_lsh,
    delta_gates,
    gated_delta_gates,
    gated_linear_gates,
    latent,
    multi_head,
    retention_gates,
    rotary,
    shaw,
    sinks,
    t5,
    top_k,
    under_a_mask,
)
from seeding import seeded
from torch import Tensor, nn

from attention_course import MultiHeadAttention, scaled_dot_product_attention
from attention_course.attention import DotProductAttention
from attention_course.distributed import RingAttention
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout, block_sparse_attention
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import FlashAttention
from attention_course.efficient.flex import FlexAttention
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.linear import LinearAttention, linear_attention
from attention_course.efficient.linformer import LinformerAttention, linformer_attention
from attention_course.efficient.longformer import LongformerAttention, window_attention
from attention_course.efficient.matrix_state import MatrixStateLayer
from attention_course.efficient.performer import PerformerAttention, performer_attention
from attention_course.efficient.reformer import LSHAttention
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.grouped import grouped_query_attention
from attention_course.mechanism import FunctionMechanism
from attention_course.positions import ALiBiAttention, RotaryAttention, ShawAttention
from attention_course.t5_bias import T5Attention

BATCH = 2
LONGEST = 4096
FLOAT64, FLOAT32, BFLOAT16, FLOAT16 = torch.float64, torch.float32, torch.bfloat16, torch.float16

# The relative error of the output, and of the gradients: norm of the difference by norm of what is right. Three times
# the largest that was seen with three instruction sets.
ROUNDING = {FLOAT64: (3e-15, 6e-15), FLOAT32: (4e-6, 3e-6), BFLOAT16: (1.6e-2, 2e-2), FLOAT16: (2e-3, 3e-3)}
BY_ANGLES = 1e-6, 2e-6  # which are float32 in float64 too
ONCE_ROUNDED = {BFLOAT16: (7e-3, 9e-3), FLOAT16: (8e-4, 1.1e-3)}  # what computes in float32 and rounds at the end
# The same under autocast, for float32 tokens: it rounds whatever is multiplied, tokens too; or the output alone.
AUTOCAST = {BFLOAT16: (2e-2, 2.5e-2), FLOAT16: (2.5e-3, 3.2e-3)}
OUTPUT_ROUNDED = {BFLOAT16: (7e-3, 3e-6), FLOAT16: (8e-4, 3e-6)}
# In training the top-k layer forms weights, and rounds them, for each query alone.
IN_ROWS = {BFLOAT16: (1.6e-2, 3.5e-2), FLOAT16: (2e-3, 4.5e-3)}
IN_ROWS_AUTOCAST = {BFLOAT16: (2e-2, 3.5e-2), FLOAT16: (2.5e-3, 4.5e-3)}
# Each of Linformer's slots adds up all keys: they, and what rounding changes in scores, grow with their number.
SLOTS = {FLOAT32: (1.5e-5, 3e-6), BFLOAT16: (2.2e-2, 2e-2), FLOAT16: (2.5e-3, 3e-3)}
SLOTS_AUTOCAST = {BFLOAT16: (3.5e-2, 6.5e-2), FLOAT16: (4.5e-3, 7.5e-3)}
# A state is faded and written over, token by token.
BY_STATE = ROUNDING | {FLOAT64: (4.5e-15, 6e-15), BFLOAT16: (1.6e-2, 2.2e-2), FLOAT16: (2e-3, 6e-3)}
BY_STATE_AUTOCAST = {BFLOAT16: (2e-2, 3.5e-2), FLOAT16: (2.7e-3, 4.5e-3)}

IN_NO_CASE = {
    FunctionMechanism: "stands for a function, of which those in the table are some",
    MatrixStateLayer: "what retention, gated linear attention and the delta rule share",
}


@dataclass(frozen=True)
class Case:
    """A mechanism as the contract is run over it.

    Attributes:
        make: Makes one that is as the last; in float32.
        call: `call(attention, query, key, value, mask)`, its output.
        define: The same by the definition, with `attention` for what it learns or draws.
        causal: Whether later tokens are hidden.
        errors: Output's and gradients' error by dtype: of those that it takes.
        autocast: The same under autocast, by the dtype that it asks for.
        large: What "however large" is, as a share of the dtype's largest number. It is less than 1 where a token is
            multiplied before anything is hidden, and such a product has to be a number.
        sums: Whether products of keys and values are summed.
        masked: Whether it takes a mask.
        even: Whether it takes even numbers of tokens only.
        shared: Whether keys are the queries.
        leaks: Whether, as its description says, outputs depend on later tokens.
        draws: Whether it keeps what it drew at random.
        weightless: Whether it forms no weights: it refuses to return them, to drop some, and a mask for each query.
        one_mask: Whether its mask is the same for all queries.
        long: Whether it is made for long sequences.
        other_keys: Whether keys may be other tokens than the queries, any number of them, while none is later.
    """

    make: Callable
    call: Callable
    define: Callable
    causal: bool = False
    errors: dict = field(default_factory=lambda: ROUNDING)
    autocast: dict = field(default_factory=lambda: AUTOCAST)
    large: float = 1.0
    sums: bool = False
    masked: bool = True
    even: bool = False
    shared: bool = False
    leaks: bool = False
    draws: bool = False
    weightless: bool = False
    one_mask: bool = False
    long: bool = False
    other_keys: bool = False

    def output(self, attention, tokens: list[Tensor], mask: Tensor | None = None) -> Tensor:
        return self.call(attention, *tokens, mask)

    def defined(self, attention, tokens: list[Tensor], mask: Tensor | None = None) -> Tensor:
        if isinstance(attention, nn.Module) and not isinstance(attention, RingAttention):
            attention = deepcopy(attention).double()
        return self.define(attention, *tokens, mask)


def alone():
    """This process as a group of its own, of one, which `contract.end_of_the_ring` ends."""
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
    weightless = {"weightless": True, "one_mask": True, "long": True}
    once = {"errors": ROUNDING | ONCE_ROUNDED}
    in_float32 = once | {"autocast": OUTPUT_ROUNDED}
    wide_only = {dtype: ROUNDING[dtype] for dtype in (FLOAT64, FLOAT32)}
    found = {
        "exact": Case(function(scaled_dot_product_attention, causal=causal), as_it_is, softmax, other_keys=True),
        "exact, with weights": Case(
            function(scaled_dot_product_attention, causal=causal),
            lambda attention, *given: attention(*given)[0], softmax, other_keys=True,
        ),
        "dot product": Case(DotProductAttention, hidden, softmax, other_keys=True),
        "multi-head": Case(
            lambda: with_seed(lambda: MultiHeadAttention(N_HEADS * D_HEAD, N_HEADS, bias=False)),
            partial(call_multi_head, causal=causal), partial(multi_head, causal=causal), large=0.01, draws=True,
            other_keys=True,
        ),
        "grouped": Case(
            lambda: grouped_query_attention,
            partial(call_grouped, causal=causal), partial(define_grouped, causal=causal), other_keys=True,
        ),
        "flash": Case(
            lambda: FlashAttention(causal=causal), as_it_is, softmax,
            autocast=OUTPUT_ROUNDED, long=True, other_keys=True,
        ),
        "chunked": Case(function(chunked_attention, chunk_size=50), hidden, softmax, long=True, other_keys=True),
        "flex": Case(lambda: FlexAttention(causal=causal), as_it_is, softmax),
        "latent": Case(
            lambda: with_seed(lambda: LatentAttention(N_HEADS * D_HEAD, N_HEADS, 12)),
            partial(call_latent, causal=causal), partial(latent, causal=causal), large=0.01, other_keys=True,
        ),
        "top-k": Case(
            lambda: with_seed(lambda: TopKAttention(N_HEADS * D_HEAD, N_HEADS, 12)),
            partial(call_multi_head, causal=causal), partial(top_k, causal=causal), large=0.01, draws=True,
            errors=ROUNDING | IN_ROWS, autocast=IN_ROWS_AUTOCAST, other_keys=True,
        ),
        "ring": Case(
            lambda: ring(causal), as_it_is, softmax,
            errors=wide_only, autocast=OUTPUT_ROUNDED, masked=False, even=causal, long=True,
        ),
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
            lambda _, *given: window_attention(*given, window=5, n_global=2, causal=causal)[0], **weightless,
        ),
        "block-sparse": Case(
            lambda: BlockSparseAttention(layout, 16, causal=causal), as_it_is,
            lambda _, q, k, v, mask: block_sparse_attention(q, k, v, layout, 16, mask, causal=causal)[0], **weightless,
        ),
        "linear": Case(
            lambda: LinearAttention(causal=causal), as_it_is,
            lambda _, *given: linear_attention(*given, causal=causal)[0],
            sums=True, other_keys=True, **in_float32, **weightless,
        ),
        "Performer": Case(
            lambda: PerformerAttention(D_HEAD, 32, causal=causal, generator=seeded()), as_it_is,
            lambda attention, q, k, v, mask: performer_attention(q, k, v, attention.directions, mask, causal=causal)[0],
            draws=True, sums=True, large=0.01 if causal else 1.0, other_keys=True, **in_float32, **weightless,
        ),
        "LSH": Case(
            lambda: LSHAttention(16, 2, causal=causal, generator=seeded()), call_lsh, define_lsh,
            shared=True, leaks=causal, **in_float32, **weightless,
        ),
    }  # fmt: skip
    if causal:
        found["sinks"] = Case(
            lambda: with_seed(lambda: SinkAttention(N_HEADS * D_HEAD, N_HEADS, 5, n_sinks=2)),
            partial(call_multi_head, causal=True), sinks, large=0.01, draws=True, one_mask=True,
        )  # fmt: skip
        for name, layer, gates in (
            ("retention", MultiScaleRetention, retention_gates),
            ("gated linear", GatedLinearAttention, gated_linear_gates),
            ("gated delta", GatedDeltaNet, gated_delta_gates),
            ("delta", partial(GatedDeltaNet, gated=False), delta_gates),
        ):
            found[name] = Case(
                partial(with_seed, partial(layer, N_HEADS * D_HEAD, N_HEADS)),
                partial(call_multi_head, causal=True), partial(by_state, gates=gates),
                errors=BY_STATE, autocast=BY_STATE_AUTOCAST, large=0.01, sums=True, draws=True, one_mask=True,
            )  # fmt: skip
    else:
        found["Linformer"] = Case(
            lambda: with_seed(lambda: LinformerAttention(LONGEST, 16)), as_it_is,
            lambda attention, q, k, v, mask: linformer_attention(
                q, k, v, attention.blend_keys, attention.blend_values, mask
            )[0],
            draws=True, errors=ROUNDING | SLOTS, autocast=SLOTS_AUTOCAST, other_keys=True, **weightless,
        )  # fmt: skip
    return found


CASES = cases(causal=False) | {
    f"{name}, causal": Case(**{**vars(case), "causal": True}) for name, case in cases(causal=True).items()
}
