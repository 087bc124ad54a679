"""Further bugs in attention as reported in public, kept unread until the tool is done."""

import math

import torch
import torch.nn.functional as F
from cases import Case
from torch import nn


class SoftmaxOverHeads(nn.Module):
    """forward(q, k, v) -> (output, weights): (batch, n, dim)."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_linear = nn.Linear(dim, dim)
        self.k_linear = nn.Linear(dim, dim)
        self.v_linear = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)
        self.soft = nn.Softmax(dim=1)

    def forward(self, q, k, v):
        q, k, v = self.q_linear(q), self.k_linear(k), self.v_linear(v)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        weights = self.soft(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)))
        output = torch.matmul(weights, v).transpose(1, 2).flatten(2)
        return self.out(output), weights


class MaskOfAnotherSequence(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where to attend."""

    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.in_proj = nn.Linear(dim, 3 * dim)
        self.out_proj = nn.Linear(dim, dim)

    def merge(self, t):
        return t.unflatten(-1, (self.n_head, -1)).transpose(1, 2).flatten(0, 1)

    def forward(self, x, mask=None):
        batch, n, dim = x.shape
        q, k, v = (self.merge(t) for t in self.in_proj(x).chunk(3, dim=-1))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(dim // self.n_head)
        if mask is not None:
            visible = mask.bool()[:, None, :].repeat(self.n_head, 1, 1)
            scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        out = torch.bmm(scores.softmax(dim=-1), v).view(batch, self.n_head, n, -1)
        return self.out_proj(out.transpose(1, 2).reshape(batch, n, dim))


def scores_times_mask(q, k, v, mask=None):
    """q, k, v (batch, n, d), mask (batch, n), 1 where to attend and 0 where not."""
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores * mask.unsqueeze(1).to(scores.dtype)
    return torch.bmm(F.softmax(scores, dim=-1), v)


class FlippedTriangle(nn.Module):
    """forward(src): src (n, batch, d_model), causal."""

    def __init__(self, d_model, nhead):
        super().__init__()
        self.nhead = nhead
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def square_subsequent_mask(self, size):
        mask = torch.triu(torch.ones(size, size)) == 1
        return torch.zeros(size, size).masked_fill(~mask, float("-inf"))

    def forward(self, src):
        n, batch, d_model = src.shape
        q, k, v = (t.reshape(n, batch * self.nhead, -1).transpose(0, 1) for t in self.in_proj(src).chunk(3, dim=-1))
        mask = self.square_subsequent_mask(n).to(q)
        weights = F.softmax(torch.baddbmm(mask, q, k.transpose(1, 2), alpha=q.size(-1) ** -0.5), dim=-1)
        return self.out_proj(torch.bmm(weights, v).transpose(0, 1).reshape(n, batch, d_model))


class HeadsJoinedByReshape(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where to attend."""

    def __init__(self, hidden_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv_dim = hidden_dim // num_heads
        self.qkv_proj = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.o_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x, mask=None):
        batch_size, sequence_length, hidden_dim = x.size()
        qkv = self.qkv_proj(x).reshape(batch_size, sequence_length, 3, self.num_heads, self.qkv_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.qkv_dim)
        if mask is not None:
            logits = logits.masked_fill(~mask.bool()[:, None, None, :], torch.finfo(logits.dtype).min)
        values = torch.matmul(logits.softmax(dim=-1), v)
        return self.o_proj(values.reshape(batch_size, sequence_length, hidden_dim))


class NothingBeforeTheFirst(nn.Module):
    """forward(x): x (batch, n, dim), causal."""

    def __init__(self, emb, heads):
        super().__init__()
        self.heads = heads
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)

    def forward(self, x):
        b, t, e = x.size()
        h, s = self.heads, e // self.heads
        keys, queries, values = (
            f(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
            for f in (self.tokeys, self.toqueries, self.tovalues)
        )
        dot = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(s)
        rows, columns = torch.triu_indices(t, t, offset=0, device=x.device)
        dot[:, rows, columns] = float("-inf")
        out = torch.bmm(F.softmax(dot, dim=2), values).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, e))


class RotatesFromZero(nn.Module):
    """forward(x, past_key_value) -> (output, present): x (batch, n, dim), causal, with rotary positions."""

    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.kv_proj = nn.Linear(dim, 2 * dim, bias=False)
        self.c_proj = nn.Linear(dim, dim, bias=False)

    def rotate(self, t):
        n, d = t.shape[-2:]
        frequencies = 10000 ** (-torch.arange(0, d, 2, device=t.device) / d)
        angles = torch.arange(n, device=t.device)[:, None] * frequencies
        cos, sin = angles.cos().to(t.dtype), angles.sin().to(t.dtype)
        first, second = t.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)

    def forward(self, x, past_key_value=None):
        q, k, v = (self.q_proj(x), *self.kv_proj(x).chunk(2, dim=-1))
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(1, 2) for t in (q, k, v))
        q, k = self.rotate(q), self.rotate(k)
        if past_key_value is not None:
            k = torch.cat([past_key_value[0], k], dim=-2)
            v = torch.cat([past_key_value[1], v], dim=-2)
        n, total = q.size(-2), k.size(-2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.c_proj(y.transpose(1, 2).flatten(2)), (k, v)


class MaskAlwaysInFloat32(nn.Module):
    """forward(x): x (batch, n, dim), causal."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, dim = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mask = torch.full((n, n), float("-inf"), dtype=torch.float32, device=x.device).triu(1)
        attn = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + mask, dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, dim))


def divides_the_query_in_place(q, k, v):
    """q, k, v (batch, n, d)."""
    q /= math.sqrt(q.shape[-1])
    attn = torch.bmm(q, k.transpose(-2, -1)).softmax(dim=-1)
    return torch.bmm(attn, v), attn


class KeepsThePastTwice(nn.Module):
    """forward(x, use_cache): x (batch, n, dim), causal; use_cache goes on where the last call ended."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.reset_cache()

    def reset_cache(self):
        self.k_cache = None
        self.v_cache = None

    def forward(self, x, use_cache=False):
        b, n, dim = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        if use_cache and self.k_cache is None:
            self.k_cache, self.v_cache = k, v
        elif use_cache:
            k = torch.cat([self.k_cache, k], dim=2)
            v = torch.cat([self.v_cache, v], dim=2)
            self.k_cache = torch.cat([self.k_cache, k], dim=2)
            self.v_cache = torch.cat([self.v_cache, v], dim=2)
        total = k.shape[2]
        future = torch.ones(n, total, dtype=torch.bool, device=x.device).triu(total - n + 1)
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, float("-inf"))
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, dim))


CASES = [
    Case(
        "softmax over the heads",
        lambda: SoftmaxOverHeads(32, 4),
        "softmax_axis",
        "https://github.com/CAMMA-public/rendezvous-in-time/issues/3",
    ),
    Case(
        "mask repeated in the order of the heads",
        lambda: MaskOfAnotherSequence(32, 4),
        "mask_axis",
        "https://github.com/ArrowLuo/CLIP4Clip/issues/22",
    ),
    Case(
        "scores multiplied by the mask",
        lambda: scores_times_mask,
        "hidden_keys",
        "https://github.com/georg-wolflein/good-features/pull/1",
    ),
    Case(
        "causal mask flipped",
        lambda: FlippedTriangle(32, 4),
        "future",
        "https://github.com/pytorch/pytorch/issues/34908",
        told={"causal": True},
    ),
    Case(
        "heads joined by a reshape",
        lambda: HeadsJoinedByReshape(32, 4),
        "heads_cut",
        "https://github.com/jsbaan/transformer-from-scratch/pull/6",
    ),
    Case(
        "the first query may see nothing",
        lambda: NothingBeforeTheFirst(32, 4),
        "nan_output",
        "https://github.com/pbloem/former/issues/10",
    ),
    Case(
        "rotary positions start at 0 again",
        lambda: RotatesFromZero(32, 4),
        "positions_restart",
        "https://github.com/keras-team/keras-hub/pull/1544",
    ),
    Case(
        "mask always in float32",
        lambda: MaskAlwaysInFloat32(32, 4),
        "half_precision",
        "https://github.com/huggingface/transformers/issues/47743",
    ),
    Case(
        "query divided in place",
        lambda: divides_the_query_in_place,
        "writes_arguments",
        "https://github.com/pytorch/pytorch/pull/73249",
    ),
    Case(
        "cache keeps the past twice",
        lambda: KeepsThePastTwice(32, 4),
        "cache",
        "https://github.com/pkunlp-icler/FastV/issues/18",
    ),
]
