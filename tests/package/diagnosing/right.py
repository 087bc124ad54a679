"""Right implementations of attention in many styles: none of them is to be called ill."""

import functools
import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from cases import FusedHeads, Heads
from torch import Tensor, nn

import attention_course
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.linear import linear_attention
from attention_course.transformer import Block

# Functions of queries, keys and values


def matmul_attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(F.softmax(scores, dim=-1), value)


def fills_where_true(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    return weights @ v, weights


def annotated_attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


def minus_a_billion(q, k, v, mask=None):
    scores = (q @ k.mT).float() * q.size(-1) ** -0.5  # in float32, which holds a billion
    if mask is not None:
        scores = torch.where(mask.bool(), scores, -1e9)
    return scores.softmax(-1).to(v.dtype) @ v


def adds_its_mask(query, key, value, attn_mask=None):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    if attn_mask is not None:  # 0 or -inf
        scores = scores + attn_mask.clamp(min=torch.finfo(scores.dtype).min / 2).to(scores.dtype)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


def ones_and_zeros(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(key.size(-1))
    if mask is not None:  # 1 where a query may look, 0 where not; as a number, not a boolean
        scores = scores + (1.0 - mask.to(scores.dtype)) * (torch.finfo(scores.dtype).min / 2)
    return scores.softmax(-1) @ value


def strict_about_booleans(q, k, v, mask=None):
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean, got {mask.dtype}")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


def weights_first(q, k, v, mask=None):
    logits = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    if mask is not None:
        logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
    weights = torch.softmax(logits, -1)
    return weights, weights @ v


def as_dict(queries, keys, values):
    weights = F.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1)), dim=-1)
    return {"output": weights @ values, "attention_weights": weights}


class Attended(NamedTuple):
    context: Tensor
    weights: Tensor


def as_named_tuple(Q, K, V):
    weights = (Q @ K.mT).div(K.size(-1) ** 0.5).softmax(-1)
    return Attended(context=weights @ V, weights=weights)


def loops(query, key, value):
    """On (n, d): each query by itself, each key by itself."""
    rows = []
    for q in query:
        scores = [q.dot(k) / math.sqrt(len(q)) for k in key]
        largest = max(score.item() for score in scores)
        exponentials = [torch.exp(score - largest) for score in scores]
        total = sum(exponentials)
        rows.append(sum(e / total * v for e, v in zip(exponentials, value, strict=True)))
    return torch.stack(rows)


def padded_keys(q, k, v, key_padding_mask=None):
    """On (batch, heads, n, d); `key_padding_mask` is (batch, n_keys) and true at padding."""
    seen = None if key_padding_mask is None else ~key_padding_mask[:, None, None, :]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def in_log_space(query, key, value, mask=None):
    """Also returns each query's log of the sum of exponentials, as a backward pass would want it."""
    scores = (query @ key.transpose(-1, -2)).float() / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    log_sum = scores.logsumexp(-1, keepdim=True)
    weights = (scores - log_sum).exp()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights.to(value.dtype) @ value, log_sum.squeeze(-1)


def softmax_in_float32(q, k, v, scale=None):
    scale = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    scores = torch.matmul(q, k.transpose(2, 3)) * scale
    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v), weights


def heads_third(q, k, v, causal=False):
    """On (batch, n, heads, d_head)."""
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.size(-1))
    if causal:
        later = torch.ones(q.size(1), k.size(1), dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)


def sequence_first(q, k, v):
    """On (n, batch, d)."""
    scores = torch.einsum("ibd,jbd->bij", q, k) / math.sqrt(q.size(2))
    weights = scores.softmax(2)
    return torch.einsum("bij,jbd->ibd", weights, v), weights


def numpy_with_mask(query, key, value, mask=None):
    scores = np.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5
    if mask is not None:  # true = may attend
        scores = np.where(mask, scores, -1e30)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    weights = exponentials / exponentials.sum(-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, value), weights


def numpy_by_rows(queries, keys, values):
    """On (n, d)."""
    output = np.zeros((len(queries), values.shape[1]))
    for i, query in enumerate(queries):
        scores = keys @ query / np.sqrt(len(query))
        weights = np.exp(scores - scores.max())
        output[i] = weights @ values / weights.sum()
    return output


def t5_attention(query, key, value, position_bias=None):
    """T5 does not scale: its weights start small instead."""
    scores = torch.matmul(query, key.transpose(3, 2))
    if position_bias is not None:
        scores = scores + position_bias
    weights = F.softmax(scores.float(), dim=-1).type_as(scores)
    return torch.matmul(weights.to(value.dtype), value)


def cosine_attention(q, k, v, temperature=0.1):
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    weights = (q @ k.transpose(-2, -1) / temperature).softmax(-1)
    return weights.to(v.dtype) @ v, weights


def causal_attention(q, k, v):
    n = q.size(-2)
    seen = torch.tril(torch.ones(n, n, device=q.device)).bool()
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~seen, float("-inf"))
    return scores.softmax(-1) @ v


def with_flags(query, key, value, *, mask=None, is_causal=False, return_weights=False):
    scores = torch.einsum("...qd,...kd->...qk", query, key).mul(query.size(-1) ** -0.5)
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if mask is not None:
        hidden = hidden | ~mask
    if is_causal:
        hidden = hidden | torch.ones_like(hidden).triu(1)
    weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(hidden, 0)
    output = torch.einsum("...qk,...kd->...qd", weights.to(value.dtype), value)
    return (output, weights) if return_weights else output


@torch.vmap
@torch.vmap
def vmapped(query, key, value):
    """Written for one head, mapped over batch and heads."""
    return torch.softmax(query @ key.T / query.shape[-1] ** 0.5, -1) @ value


def by_lengths(queries, keys, values, valid_lens=None):
    """On (batch, n, d); `valid_lens` (batch,) says how many keys are words."""
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    if valid_lens is not None:
        places = torch.arange(keys.size(1), device=keys.device)
        scores = scores.masked_fill(places >= valid_lens[:, None, None], torch.finfo(scores.dtype).min)
    return torch.bmm(scores.softmax(-1), values)


class JustCallable:
    """No module; it keeps the weights of its last call."""

    def __init__(self):
        self.weights = None

    def __call__(self, q, k, v):
        self.weights = (q * q.size(-1) ** -0.5 @ k.transpose(-2, -1)).softmax(-1)
        return self.weights @ v


# Modules: self-attention


class CausalHead(nn.Module):
    """One head of a small GPT: narrower than the tokens, with a triangle for at most 64 of them."""

    def __init__(self, n_embd=32, head_size=8, block_size=64, dropout=0.2):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return wei @ self.value(x)


class ListOfHeads(nn.Module):
    def __init__(self, n_embd=32, n_heads=4):
        super().__init__()
        self.heads = nn.ModuleList(CausalHead(n_embd, n_embd // n_heads, 128, 0.0) for _ in range(n_heads))
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class FusedCausal(nn.Module):
    """As in nanoGPT: one projection for queries, keys and values, and a triangle in a buffer."""

    def __init__(self, n_embd=32, n_head=4, block_size=128, dropout=0.1):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(dropout), nn.Dropout(dropout)
        self.n_head, self.n_embd = n_head, n_embd
        triangle = torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size)
        self.register_buffer("bias", triangle, persistent=False)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = self.attn_dropout(F.softmax(att, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class RawParameters(nn.Module):
    """One tensor (heads, d_model, d_head) for each projection, and no biases."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__()
        d_head = d_model // n_heads
        self.W_Q, self.W_K, self.W_V = (
            nn.Parameter(torch.randn(n_heads, d_model, d_head) / math.sqrt(d_model)) for _ in range(3)
        )
        self.W_O = nn.Parameter(torch.randn(n_heads, d_head, d_model) / math.sqrt(d_model))

    def forward(self, x):
        q = torch.einsum("bnm,hmd->bhnd", x, self.W_Q)
        k = torch.einsum("bnm,hmd->bhnd", x, self.W_K)
        v = torch.einsum("bnm,hmd->bhnd", x, self.W_V)
        pattern = (torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))).softmax(-1)
        heads = torch.einsum("bhij,bhjd->bhid", pattern, v)
        return torch.einsum("bhnd,hdm->bnm", heads, self.W_O), pattern


class PaddingOnly(Heads):
    """`mask` (batch, n): 1 at words, 0 at padding, as tokenizers give it."""

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = self.split(hidden_states)
        scores = q @ k.mT / q.size(-1) ** 0.5
        if attention_mask is not None:
            padding = attention_mask[:, None, None, :] == 0
            scores = scores.masked_fill(padding, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        return self.join(weights.to(v.dtype) @ v), weights


class TwoMasks(FusedHeads):
    """PyTorch's two masks, both true where a key is hidden; weights averaged over the heads."""

    def forward(self, x, attn_mask=None, key_padding_mask=None):
        batch, n, _ = x.shape
        q, k, v = self.split(x)
        hidden = torch.zeros(batch, 1, n, n, dtype=torch.bool, device=x.device)
        if attn_mask is not None:
            hidden = hidden | attn_mask
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, None]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1)
        weights = weights.masked_fill(hidden, 0.0)
        return self.join(weights.to(v.dtype) @ v), weights.mean(1)


class MultiQuery(nn.Module):
    """One head of keys and values, read by all queries as they lie: (batch, n, heads, d_head)."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__()
        self.n_heads, d_head = n_heads, d_model // n_heads
        self.to_q, self.to_kv = nn.Linear(d_model, d_model), nn.Linear(d_model, 2 * d_head)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x):
        q = self.to_q(x).unflatten(-1, (self.n_heads, -1))
        k, v = self.to_kv(x).chunk(2, dim=-1)
        weights = (torch.einsum("bihd,bjd->bhij", q, k) / q.size(-1) ** 0.5).softmax(-1)
        return self.to_out(torch.einsum("bhij,bjd->bihd", weights.to(v.dtype), v).flatten(2))


def angles(n, d_head, device):
    frequencies = 10000.0 ** (-torch.arange(0, d_head, 2, device=device).float() / d_head)
    return torch.outer(torch.arange(n, device=device).float(), frequencies)  # (n, d_head / 2)


class Alibi(Heads):
    def forward(self, x):
        q, k, v = self.split(x)
        place = torch.arange(x.size(1), device=x.device)
        distance = place[:, None] - place  # above 0 for earlier keys
        slopes = 2.0 ** -torch.arange(1, self.n_heads + 1, device=x.device)
        bias = (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head) + bias
        return self.join(scores.softmax(-1).to(v.dtype) @ v)


class RelativeBias(Heads):
    """A learned number for each head and distance; farther than 16 counts as 16."""

    def __init__(self, d_model=32, n_heads=4, farthest=16):
        super().__init__(d_model, n_heads)
        self.farthest = farthest
        self.relative = nn.Embedding(2 * farthest + 1, n_heads)

    def forward(self, x):
        q, k, v = self.split(x)
        place = torch.arange(x.size(1), device=x.device)
        distance = (place - place[:, None]).clamp(-self.farthest, self.farthest) + self.farthest
        bias = self.relative(distance).permute(2, 0, 1)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(self.d_head) + bias).softmax(-1)
        return self.join(weights.to(v.dtype) @ v), weights


class LearnedPositions(Heads):
    def __init__(self, d_model=32, n_heads=4, max_len=128):
        super().__init__(d_model, n_heads)
        self.positions = nn.Parameter(0.5 * torch.randn(1, max_len, d_model))

    def forward(self, x):
        q, k, v = self.split(x + self.positions[:, : x.size(1)])
        return self.join(F.scaled_dot_product_attention(q, k, v))


class SlidingWindow(Heads):
    """A token sees itself and the three before it."""

    def forward(self, x):
        q, k, v = self.split(x)
        place = torch.arange(x.size(1), device=x.device)
        back = place[:, None] - place
        seen = (back >= 0) & (back < 4)
        scores = (q @ k.transpose(-2, -1) / self.d_head**0.5).masked_fill(~seen, float("-inf"))
        weights = scores.softmax(-1)
        return self.join(weights.to(v.dtype) @ v), weights


class NormedQueries(Heads):
    """Queries and keys of length 1, and a learned temperature for each head instead of a scale."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__(d_model, n_heads)
        self.log_scale = nn.Parameter(torch.full((n_heads, 1, 1), math.log(10.0)))

    def forward(self, x):
        q, k, v = self.split(x)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        weights = (scores * self.log_scale.exp()).softmax(-1)
        return self.join(weights.to(v.dtype) @ v)


class RootMeanSquareNormed(Heads):
    """QK-norm as in recent language models, then the usual scale."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__(d_model, n_heads)
        self.q_norm, self.k_norm = nn.RMSNorm(self.d_head), nn.RMSNorm(self.d_head)

    def forward(self, x):
        q, k, v = self.split(x)
        q, k = self.q_norm(q).to(v.dtype), self.k_norm(k).to(v.dtype)
        return self.join(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class Temperature(nn.Module):
    """One head without projections, whose temperature is learned."""

    def __init__(self, d_model=32):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(float(d_model) ** 0.5))

    def forward(self, query, key, value):
        weights = (torch.bmm(query, key.transpose(1, 2)) / self.temperature).softmax(2)
        return torch.bmm(weights, value), weights


class SequenceFirst(Heads):
    """On (n, batch, d_model), with heads beside the batch, as fairseq did."""

    def forward(self, x):
        n, batch, d_model = x.shape
        q, k, v = (
            p(x).contiguous().view(n, batch * self.n_heads, self.d_head).transpose(0, 1)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        weights = torch.bmm(q * self.d_head**-0.5, k.transpose(1, 2)).softmax(-1)
        output = torch.bmm(weights.to(v.dtype), v).transpose(0, 1).reshape(n, batch, d_model)
        return self.o_proj(output), weights.view(batch, self.n_heads, n, n)


class WithDropout(Heads):
    def forward(self, x):
        q, k, v = self.split(x)
        return self.join(F.scaled_dot_product_attention(q, k, v, dropout_p=0.3 if self.training else 0.0))


class Gated(Heads):
    """Each head's output times a gate that the token opens."""

    def __init__(self, d_model=24, n_heads=2):
        super().__init__(d_model, n_heads)
        self.gate = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = self.split(x)
        heads = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.o_proj(heads * self.gate(x).sigmoid())


# Modules: caches


class PastAndPresent(Heads):
    """`past` is None or the earlier tokens' keys and values; `present` is what to hand in next time."""

    def forward(self, x, past=None):
        q, k, v = self.split(x)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        n_queries, n_keys = q.size(2), k.size(2)
        seen = torch.ones(n_queries, n_keys, dtype=torch.bool, device=x.device).tril(n_keys - n_queries)
        scores = (q @ k.transpose(-2, -1) / math.sqrt(self.d_head)).masked_fill(~seen, float("-inf"))
        return self.join(scores.softmax(-1).to(v.dtype) @ v), (k, v)


class Remembers(Heads):
    """Appends what it is given to what it was given since the last `reset()`."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__(d_model, n_heads)
        self.reset()

    def reset(self):
        self.keys = self.values = None

    def forward(self, x):
        q, k, v = self.split(x)
        if self.keys is not None:
            k, v = torch.cat((self.keys, k), dim=2), torch.cat((self.values, v), dim=2)
        self.keys, self.values = k.detach(), v.detach()
        seen = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(k.size(2) - q.size(2))
        return self.join(F.scaled_dot_product_attention(q, k, v, attn_mask=seen))


class RemembersIfAsked(Remembers):
    def forward(self, x, use_cache=False):
        if use_cache:
            return super().forward(x)
        q, k, v = self.split(x)
        return self.join(F.scaled_dot_product_attention(q, k, v, is_causal=True))


# Modules: queries here, keys and values there


class Annotated(nn.Module):
    """As in The Annotated Transformer; `mask` (batch, 1 or n, n), 0 where hidden."""

    def __init__(self, d_model=32, h=4, dropout=0.1):
        super().__init__()
        self.d_k, self.h, self.attn = d_model // h, h, None
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = (
            linear(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for linear, x in zip(self.linears[:3], (query, key, value), strict=True)
        )
        x, self.attn = annotated_attention(query, key, value, mask=mask, dropout=self.dropout)
        return self.linears[-1](x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k))


class Cross(nn.Module):
    """Keys and values in one projection of the context; `context_mask` (batch, n), true at words."""

    def __init__(self, dim=32, heads=4, dim_head=16):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(dim)
        self.to_q = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_kv = nn.Linear(dim, 2 * heads * dim_head, bias=False)
        self.to_out = nn.Linear(heads * dim_head, dim)

    def forward(self, x, context, context_mask=None):
        q, (k, v) = self.to_q(self.norm(x)), self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        if context_mask is not None:
            sim = sim.masked_fill(~context_mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(dim=-1).to(v.dtype), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class BahdanauStep(nn.Module):
    """One state of the decoder (batch, d) against all of the encoder's (batch, n, d)."""

    def __init__(self, hidden_size=32):
        super().__init__()
        self.Wa, self.Ua = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, hidden, encoder_outputs):
        energy = self.Va(torch.tanh(self.Wa(hidden).unsqueeze(1) + self.Ua(encoder_outputs)))
        weights = F.softmax(energy.squeeze(2), dim=1)
        context = torch.bmm(weights.unsqueeze(1).to(encoder_outputs.dtype), encoder_outputs)
        return context.squeeze(1), weights


class LuongDot(nn.Module):
    """The dot product without a scale, as Luong defined it; the context and the state make the output."""

    def __init__(self, hidden_size=32):
        super().__init__()
        self.combine = nn.Linear(2 * hidden_size, hidden_size)

    def forward(self, decoder_states, encoder_outputs):
        weights = F.softmax(decoder_states @ encoder_outputs.transpose(1, 2), dim=-1)
        context = weights.to(encoder_outputs.dtype) @ encoder_outputs
        return torch.tanh(self.combine(torch.cat((context, decoder_states), dim=-1))), weights


# What a diagnosis once took for wrong


class Masked(Heads):
    """`mask` true = may attend, and what comes later may be hidden for good; `context` is the longest text it takes."""

    def __init__(self, *, causal=False, context=128):
        super().__init__()
        triangle = torch.ones(context, context, dtype=torch.bool)
        self.register_buffer("seen", triangle.tril() if causal else triangle)

    def attend(self, x, mask=None):
        q, k, v = self.split(x)
        seen = self.seen[: x.size(1), : x.size(1)]
        seen = seen if mask is None else seen & mask
        scores = (q @ k.mT / math.sqrt(self.d_head)).masked_fill(~seen, torch.finfo(q.dtype).min)
        self.weights = scores.softmax(-1)
        return self.join(self.weights @ v)

    def forward(self, x):
        return self.attend(x)


class StartsAtZero(Masked):
    """Its output starts at zero, as is usual where it is added to a stream that is trained already."""

    def __init__(self):
        super().__init__()
        nn.init.zeros_(self.o_proj.weight)
        nn.init.zeros_(self.o_proj.bias)

    def forward(self, x, mask=None):
        return self.attend(x, mask)


class LayerScale(Masked):
    """As in CaiT: each feature's update starts at a millionth."""

    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((32,), 1e-6))

    def forward(self, x, mask=None):
        return x + self.gamma * self.attend(x, mask)


class ThreeTimesAsManyPlaces(Masked):
    """A table of 96 positions, of 32 numbers each."""

    def __init__(self):
        super().__init__()
        self.positions = nn.Embedding(96, 32)

    def forward(self, x):
        return self.attend(x + self.positions(torch.arange(x.size(1), device=x.device)))


class Polar(Masked):
    """The angles as complex numbers in a buffer, as Llama's first code had them in the model."""

    def __init__(self):
        super().__init__()
        self.register_buffer("turns", torch.polar(torch.ones(64, 4), angles(64, 8, "cpu")))

    def rotate(self, x):
        assert self.turns.is_complex()
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.turns[: x.size(-2)]).flatten(-2).type_as(x)

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join(F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v))


class Stack(nn.Module):
    """Two layers of one head that see all that is not masked, and a list of their keys and values."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 96) for _ in range(2))

    def forward(self, x, mask=None, past=None):
        present = []
        for index, layer in enumerate(self.layers):
            q, k, v = layer(x).chunk(3, -1)
            if past is not None:
                k, v = torch.cat([past[index][0], k], 1), torch.cat([past[index][1], v], 1)
            present.append((k, v))
            scores = q @ k.mT / 32**0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            x = x + scores.softmax(-1) @ v
        return x, present


class FromTheEnd(Masked):
    """Each token sees itself and what comes later: it was never to hide that."""

    def forward(self, x):
        return self.attend(x, torch.ones(2 * x.shape[1:2], dtype=torch.bool, device=x.device).triu())


class NotItself(Masked):
    """A flag hides a token from itself, and nothing that comes later."""

    def forward(self, x, mask_diagonal=False):
        everything = torch.ones(2 * x.shape[1:2], dtype=torch.bool, device=x.device)
        return self.attend(x, everything.fill_diagonal_(not mask_diagonal))


class TwoStates(nn.Module):
    """Both sequences must be given, and are named as Hugging Face's layers name them."""

    def __init__(self):
        super().__init__()
        self.attention = Cross()

    def forward(self, hidden_states, encoder_hidden_states):
        return self.attention(hidden_states, encoder_hidden_states)


def called_once(layer):
    """The layer, which keeps what it computed."""
    layer(torch.randn(2, 5, 32))
    return layer


def around(layer):
    """A function of what the layer takes."""
    return lambda x: layer(x)


def around_three(layer):
    return lambda query, key, value: layer(query, key, value)[0]


# Padding that the pads' own rows feel, too


class ZeroesItsPads(PaddingOnly):
    """What stands at a pad is zeroed, as well as hidden from the others."""

    def forward(self, hidden_states, attention_mask=None):
        output, _ = super().forward(hidden_states, attention_mask)
        return output if attention_mask is None else output * attention_mask[..., None].to(output.dtype)


class HidesRowsAndColumns(Masked):
    """`mask` (batch, n): pads are hidden, and nothing is shown to them."""

    def forward(self, x, mask=None):
        return self.attend(x, None if mask is None else mask[:, None, :, None] & mask[:, None, None, :])


def values_first(value, key, query, mask=None):
    return fills_where_true(query, key, value, mask)


class ValuesFirst(Heads):
    """In the order of a tutorial that is often copied; the mask must be given."""

    def forward(self, values, keys, query, mask):
        queries, keys, values = self.split(query, keys, values)
        energy = torch.einsum("nhqd,nhkd->nhqk", queries, keys) / self.d_head**0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        return self.join(torch.einsum("nhqk,nhkd->nhqd", energy.softmax(-1), values))


def smallest_in_float32(q, k, v, mask=None):
    """The smallest number of the scores' own precision is no infinity in float32, nor in half precision."""
    scores = q @ k.mT / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1, dtype=torch.float32).to(q.dtype) @ v


# Names that hold "mask" or "valid", of arguments that hide no keys


class NoMasks(Masked):
    """What is written into hidden scores, and a kind of mask."""

    def forward(self, x, mask=None, mask_value=-1e4, mask_type="none"):
        q, k, v = self.split(x)
        scores = q @ k.mT / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, mask_value)
        if mask_type == "causal":
            scores = scores.masked_fill(~self.seen[: x.size(1), : x.size(1)].tril(), mask_value)
        return self.join(scores.softmax(-1) @ v)


def one_length(queries, keys, values, valid_len=None):
    """A single number: how many keys are words, in every sequence."""
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if valid_len is not None:
        scores = scores.masked_fill(torch.arange(keys.size(-2)) >= valid_len, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) @ values


class ByLengths(Heads):
    """As in d2l.ai: `valid_lens` (batch,) or (batch, n_queries), and must be given."""

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (part.flatten(0, 1) for part in self.split(queries, keys, values))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.n_heads, 0)
            lens = valid_lens.repeat_interleave(q.size(1)) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
            hidden = torch.arange(k.size(1)) >= lens[:, None]
            scores = scores.masked_fill(hidden.view(scores.shape), torch.finfo(scores.dtype).min)
        return self.join(torch.bmm(scores.softmax(-1), v).unflatten(0, (-1, self.n_heads)))


class MasksQueries(Cross):
    """`x_mask` (batch, n_queries) zeroes outputs, beside a mask of keys."""

    def forward(self, x, context, x_mask=None, context_mask=None):
        output = super().forward(x, context, context_mask)
        return output if x_mask is None else output * x_mask[..., None].to(output.dtype)


class QueryMask(Masked):
    """`query_mask` (batch, n) zeroes outputs, and `mask` hides keys."""

    def forward(self, x, mask=None, query_mask=None):
        output = self.attend(x, mask)
        return output if query_mask is None else output * query_mask[..., None].to(output.dtype)


class HeadMask(Masked):
    """`head_mask`, as in BERT: by what each head's weights are multiplied."""

    def forward(self, hidden_states, attention_mask=None, head_mask=None):
        q, k, v = self.split(hidden_states)
        scores = q @ k.mT / math.sqrt(self.d_head)
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = scores.softmax(-1)
        return self.join((weights if head_mask is None else weights * head_mask) @ v)


def before_itself(query, key, value):
    """Each token sees those before it; the first sees nothing, and gets zeros."""
    may_attend = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril(-1)
    return attention_course.scaled_dot_product_attention(query, key, value, may_attend)


# Parameters that a call does not use


class OwnContext(Masked):
    """Keys of a context have a matrix of their own, which is not used without one."""

    def __init__(self):
        super().__init__()
        self.k_ctx, self.v_ctx = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x, context=None):
        if context is None:
            return self.attend(x)
        q, _, _ = self.split(x)
        k, v = (part(context).unflatten(-1, (4, -1)).transpose(1, 2) for part in (self.k_ctx, self.v_ctx))
        return self.join(F.scaled_dot_product_attention(q, k, v))


class Pools(Masked):
    """One vector for all, if asked for, by a parameter that is not used else."""

    def __init__(self):
        super().__init__()
        self.pooled = nn.Parameter(torch.randn(32, 1))

    def forward(self, x, pool=False):
        output = self.attend(x)
        return (output * (output @ self.pooled).softmax(1)).sum(1) if pool else output


class LooksAhead(Masked):
    """Each token sees two before it, itself, and one ahead."""

    def forward(self, x):
        return self.attend(x, torch.ones(2 * x.shape[1:2], dtype=torch.bool, device=x.device).triu(-2).tril(1))


class Differential(Masked):
    """As in the Differential Transformer: the difference of two softmaxes, in which each row sums to a half."""

    def forward(self, x):
        q, k, v = self.split(x)
        weights = [(a @ b.mT / 2).softmax(-1) for a, b in zip(q.chunk(2, -1), k.chunk(2, -1), strict=True)]
        return self.join((weights[0] - 0.5 * weights[1]) @ v)


def pytorch_stack():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


ONCE_WRONG = [  # as RIGHT and FURTHER, which a page counts
    ("a context of six tokens", lambda: Masked(context=6, causal=True), {}),
    ("an output that starts at zero", StartsAtZero, {}),
    ("an update that starts at a millionth", LayerScale, {}),
    ("three times as many places as features", ThreeTimesAsManyPlaces, {}),
    ("weights kept from a training pass", lambda: called_once(Masked()), {}),
    ("a complex buffer", Polar, {}),
    ("two layers with a cache", Stack, {"layout": "(batch, n, d)"}),
    ("each from itself on", FromTheEnd, {"causal": False}),
    ("a flag that hides the diagonal", NotItself, {}),
    ("hidden_states and encoder_hidden_states", TwoStates, {}),
    ("a function around a layer", lambda: around(Masked()), {}),
    ("a function around PyTorch's layer", lambda: around_three(nn.MultiheadAttention(32, 4, batch_first=True)), {}),
    ("pads that are zeroed", ZeroesItsPads, {}),
    ("pads that see nothing", HidesRowsAndColumns, {}),
    ("values first", lambda: values_first, {}),
    ("values first, a module", ValuesFirst, {}),
    ("a softmax in float32 of the smallest number", lambda: smallest_in_float32, {}),
    ("a mask's value and type", NoMasks, {}),
    ("one length", lambda: one_length, {}),
    ("d2l.ai's valid_lens", ByLengths, {}),
    ("a mask of x beside one of its context", MasksQueries, {}),
    ("a mask of queries", QueryMask, {}),
    ("a mask of heads", HeadMask, {}),
    ("the first sees nothing", lambda: before_itself, {}),
    ("matrices of a context that is not given", OwnContext, {}),
    ("a parameter of an option", Pools, {}),
    ("PyTorch's encoder of two layers", pytorch_stack, {}),
    ("each from itself on, of which nothing is said", FromTheEnd, {}),
    ("one ahead", LooksAhead, {}),
    ("differential attention", Differential, {}),
]


# Other people's modules


class First(nn.Module):
    """A module that answers to tokens alone, with the output alone."""

    def __init__(self, layer, repeat=1, **options):
        super().__init__()
        self.layer, self.repeat, self.options = layer, repeat, options

    def forward(self, x):
        return self.layer(*[x] * self.repeat, **self.options)[0]


class Rotary(nn.Module):
    """Llama's layer takes cosines and sines that the model computes once for all layers."""

    def __init__(self, layer, rotary):
        super().__init__()
        self.layer, self.rotary = layer, rotary

    def forward(self, x):
        places = torch.arange(x.size(1), device=x.device)[None]
        return self.layer(x, position_embeddings=self.rotary(x, places), attention_mask=None)[0]


def gpt2():
    from transformers import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

    return GPT2Attention(GPT2Config(n_embd=32, n_head=4, attn_implementation="sdpa"), layer_idx=0)


def bert():
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertSelfAttention

    config = BertConfig(hidden_size=32, num_attention_heads=4, attn_implementation="eager")
    return BertSelfAttention(config, layer_idx=0)


def llama():
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = LlamaConfig(**sizes, attn_implementation="sdpa")
    return Rotary(LlamaAttention(config, layer_idx=0), LlamaRotaryEmbedding(config))


# Name, a function that makes it, what the author says of it: of each kind one, or a few.
RIGHT = [
    ("matmul", lambda: matmul_attention, {"scale": "1/sqrt(d)"}),
    ("masked_fill where the mask is true, said so", lambda: fills_where_true, {"mask_means": "hide"}),
    ("adds its mask", lambda: adds_its_mask, {}),
    ("weights first, then the output", lambda: weights_first, {}),
    ("a dict", lambda: as_dict, {}),
    ("loops over queries and keys", lambda: loops, {}),
    ("a mask of padded keys", lambda: padded_keys, {}),
    ("(batch, n, heads, d_head)", lambda: heads_third, {}),
    ("NumPy with a mask", lambda: numpy_with_mask, {}),
    ("T5 does not scale", lambda: t5_attention, {}),
    ("cosine attention", lambda: cosine_attention, {}),
    ("a causal function", lambda: causal_attention, {"causal": True}),
    ("keyword-only options", lambda: with_flags, {}),
    ("lengths instead of a mask", lambda: by_lengths, {}),
    ("a partial", lambda: functools.partial(F.scaled_dot_product_attention, is_causal=True), {}),
    ("a head of a small GPT", CausalHead, {}),
    ("a tokenizer's mask", PaddingOnly, {}),
    ("attn_mask and key_padding_mask", TwoMasks, {}),
    ("multi-query heads", MultiQuery, {}),
    ("ALiBi", Alibi, {"causal": True}),
    ("learned positions inside", LearnedPositions, {}),
    ("a sliding window", SlidingWindow, {}),
    ("(n, batch, d_model), a module", SequenceFirst, {}),
    ("dropout in training", WithDropout, {}),
    ("past and present", PastAndPresent, {}),
    ("a cache with reset()", Remembers, {}),
    ("a cache if asked for", RemembersIfAsked, {}),
    ("cross-attention", Cross, {}),
    ("additive attention, one step", BahdanauStep, {}),
    ("Luong's dot", LuongDot, {}),
    ("PyTorch's function", lambda: F.scaled_dot_product_attention, {}),
    ("PyTorch's module, tokens first", lambda: nn.MultiheadAttention(32, 4), {}),
    ("the course's layer", lambda: attention_course.MultiHeadAttention(32, 4), {}),
    ("the course's block", lambda: Block(32, 4), {}),
    ("Llama's layer", llama, {}),
]

FURTHER = [  # of the same kinds
    ("masked_fill where the mask is true", lambda: fills_where_true, {}),
    ("The Annotated Transformer's function", lambda: annotated_attention, {}),
    ("minus a billion, in float32", lambda: minus_a_billion, {"mask_means": "attend"}),
    ("a mask of ones and zeros", lambda: ones_and_zeros, {}),
    ("strict about booleans", lambda: strict_about_booleans, {}),
    ("a named tuple", lambda: as_named_tuple, {}),
    ("log space", lambda: in_log_space, {}),
    ("softmax in float32", lambda: softmax_in_float32, {}),
    ("(n, batch, d), a function", lambda: sequence_first, {}),
    ("NumPy, row by row", lambda: numpy_by_rows, {}),
    ("vmap over one head", lambda: vmapped, {}),
    ("a callable that is no module", lambda: JustCallable(), {}),
    ("a list of heads", ListOfHeads, {"causal": True}),
    ("nanoGPT's layer", FusedCausal, {}),
    ("raw parameters", RawParameters, {}),
    ("a relative bias", RelativeBias, {}),
    ("queries and keys of length 1", NormedQueries, {}),
    ("QK-norm", RootMeanSquareNormed, {}),
    ("a learned temperature", Temperature, {}),
    ("a gate on the output", Gated, {}),
    ("The Annotated Transformer's module", Annotated, {}),
    ("PyTorch's module", lambda: nn.MultiheadAttention(32, 4, batch_first=True), {}),
    (
        "PyTorch's module without weights",
        lambda: First(nn.MultiheadAttention(32, 4, batch_first=True), 3, need_weights=False),
        {},
    ),
    (
        "PyTorch's encoder layer",
        lambda: nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True),
        {},
    ),
    (
        "PyTorch's decoder layer",
        lambda: nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True),
        {},
    ),
    ("the course's function", lambda: attention_course.scaled_dot_product_attention, {}),
    ("the course's layer, shared keys", lambda: attention_course.MultiHeadAttention(32, 4, 2), {}),
    ("the course's additive attention", lambda: attention_course.AdditiveAttention(32, 32, 16), {}),
    ("the course's Luong attention", lambda: attention_course.LuongAttention(32, 32), {}),
    ("the course's flash attention", lambda: flash_attention, {}),
    ("the course's linear attention", lambda: linear_attention, {}),
    ("GPT-2's layer", gpt2, {}),
    ("BERT's layer", bert, {}),
]
