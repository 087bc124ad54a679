r"""The forward pass of `flash` as one GPU kernel, in Triton: the scores of a tile never leave the chip.

Tillet et al. 2019, doi:10.1145/3315508.3329973 (Triton); Dao 2023, arXiv:2307.08691, for the order of the loops. Each
program of the grid keeps the running maximum, sum and output of one tile of queries in registers while it goes through
the tiles of keys. Powers of 2 stand in for powers of e, because that is what the chip computes.

Without a GPU it runs in Triton's interpreter, if the variable `TRITON_INTERPRET` is 1 from before this import on.

Lesson: `chapters/kernels.ipynb`.
"""

import math

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError as error:
    message = "flash_triton needs Triton, which exists for Linux (PyTorch's CUDA builds bring it): pip install triton"
    raise ImportError(message) from error

from attention_course.efficient.inputs import validate_self_attention
from attention_course.support.validation import validate_inputs

ROWS, COLUMNS = 64, 32  # queries and keys of a tile
DOT_TYPES = {torch.float32: tl.float32, torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}


@triton.jit
def _forward(
    query, key, value, output, n_queries, n_keys, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, CAUSAL: tl.constexpr, DOT: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0).to(tl.int64)  # of all heads of the batch; their offsets may exceed 32 bits
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, COLUMNS)
    # Widths are rounded up to powers of 2: what is loaded beyond the true width is 0 and adds nothing.
    k_feature, v_feature = tl.arange(0, D_K)[None, :], tl.arange(0, D_V)[None, :]
    q_at = query + (head * n_queries + rows) * d_k + k_feature
    q = tl.load(q_at, mask=(rows < n_queries) & (k_feature < d_k), other=0.0).to(DOT)  # (ROWS, D_K)
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    out = tl.zeros([ROWS, D_V], tl.float32)

    end = n_keys
    if CAUSAL:  # later tiles lie in the future of all these queries
        end = tl.minimum(n_keys, (tl.program_id(1) + 1) * ROWS)
    for start in range(0, end, COLUMNS):
        at = start + columns[:, None]
        k_at = key + (head * n_keys + at) * d_k + k_feature
        v_at = value + (head * n_keys + at) * d_v + v_feature
        k = tl.load(k_at, mask=(at < n_keys) & (k_feature < d_k), other=0.0).to(DOT)  # (COLUMNS, D_K)
        v = tl.load(v_at, mask=(at < n_keys) & (v_feature < d_v), other=0.0).to(DOT)  # (COLUMNS, D_V)

        # "ieee": float32 is multiplied as float32, not rounded to TF32 first.
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale  # (ROWS, COLUMNS)
        seen = (start + columns)[None, :] < n_keys
        if CAUSAL:
            seen = seen & ((start + columns)[None, :] <= rows)
        scores = tl.where(seen, scores, float("-inf"))

        # The first tile holds key 0, which all queries see: from then on `largest` is finite.
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - new_largest[:, None])
        shrink = tl.exp2(largest - new_largest)
        total = total * shrink + tl.sum(weights, 1)
        out = out * shrink[:, None] + tl.dot(weights.to(DOT), v, input_precision="ieee")
        largest = new_largest

    out_at = output + (head * n_queries + rows) * d_v + v_feature
    tl.store(out_at, out / total[:, None], mask=(rows < n_queries) & (v_feature < d_v))


def flash_attention_triton(
    query: Tensor, key: Tensor, value: Tensor, mask: None = None, *, causal=False, dropout=0.0, need_weights=False
) -> tuple[Tensor, None]:
    """As `flash_attention`, forward only and without a mask.

    Args:
        query: `(batch, heads, n_queries, d_k)` in float32, float16 or bfloat16; sums are kept in float32.
        key: `(batch, heads, n_keys, d_k)`, at least one key.
        value: `(batch, heads, n_keys, d_v)`.
        mask: Must be `None`, as dropout must be 0 and need_weights `False`.
        causal: Whether a query sees its own key and earlier ones only; the keys are then the queries' tokens.

    Raises:
        TypeError: As `scaled_dot_product_attention`; if the dtype is another.
        ValueError: As `scaled_dot_product_attention`; if a mask, weights, dropout or a gradient are asked for, there
            is no key, or the tensors are not on a GPU and the interpreter is off.
    """
    validate_inputs(query, key, value)
    if query.dtype not in DOT_TYPES:
        raise TypeError(f"query must be float32, float16 or bfloat16, got {query.dtype}")
    if mask is not None or need_weights or dropout:
        raise ValueError("mask must be None, need_weights False and dropout 0: the kernel has none of them")
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value)):
        raise ValueError("query, key and value must need no gradient (torch.no_grad): the kernel has no backward pass")
    if key.size(-2) == 0:
        raise ValueError(f"key must hold at least 1 token, got shape {tuple(key.shape)}")
    if causal:
        validate_self_attention(query, key)
    interpreted = not isinstance(_forward, triton.JITFunction)
    if not (interpreted or query.is_cuda):
        raise ValueError(f"query must be on a GPU, got {query.device}; else set TRITON_INTERPRET=1 before the import")

    (n_queries, d_k), (n_keys, d_v) = query.shape[-2:], value.shape[-2:]
    output = value.new_empty(*query.shape[:-1], d_v)
    widths = [max(16, triton.next_power_of_2(width)) for width in (d_k, d_v)]  # 16 is the least a dot takes
    # The interpreter's dot would take the bits of bfloat16 for integers.
    dot_type = tl.float32 if interpreted else DOT_TYPES[query.dtype]
    # Tiles loaded ahead take room on the chip, which wide heads in float32 do not leave.
    stages = 3 if max(widths) * query.element_size() <= 256 else 1
    if output.numel():
        grid = (query.shape[:-2].numel(), triton.cdiv(n_queries, ROWS))  # the second may be 65,535 at most
        tensors = (query.contiguous(), key.contiguous(), value.contiguous(), output)
        sizes = (n_queries, n_keys, d_k**-0.5 * math.log2(math.e), d_k, d_v, *widths, ROWS, COLUMNS)
        _forward[grid](*tensors, *sizes, causal, dot_type, num_stages=stages)
    return output, None
