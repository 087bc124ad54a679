"""Further bugs in attention as reported in public, kept unread until the tool was done.

They and those of `unseen.py` were to measure how often it names a bug that it was not made for: `diagnose.ipynb` says
how many of the 25 it named at first sight. It was mended then, so that they now hold it to what it names since.
"""

import math

import torch
import torch.nn.functional as F
from cases import Cases, FusedHeads, Heads
from torch import nn

CASES = Cases()


@CASES.bug("softmax over the heads", "softmax_axis", "CAMMA-public/rendezvous-in-time/issues/3")
class SoftmaxOverHeads(Heads):
    """forward(q, k, v) -> (output, weights): (batch, n, dim)."""

    def forward(self, q, k, v):
        q, k, v = self.split(q, k, v)
        weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)), dim=1)
        return self.join(torch.matmul(weights, v)), weights


@CASES.bug("mask repeated in the order of the heads", "mask_axis", "ArrowLuo/CLIP4Clip/issues/22")
class MaskOfAnotherSequence(FusedHeads):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where to attend."""

    def forward(self, x, mask=None):
        q, k, v = (t.flatten(0, 1) for t in self.split(x))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_head)
        if mask is not None:
            visible = mask.bool()[:, None, :].repeat(self.n_heads, 1, 1)
            scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        return self.join(torch.bmm(scores.softmax(dim=-1), v).unflatten(0, (-1, self.n_heads)))


@CASES.bug("scores multiplied by the mask", "hidden_keys", "georg-wolflein/good-features/pull/1")
def scores_times_mask(q, k, v, mask=None):
    """q, k, v (batch, n, d), mask (batch, n), 1 where to attend and 0 where not."""
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores * mask.unsqueeze(1).to(scores.dtype)
    return torch.bmm(F.softmax(scores, dim=-1), v)


@CASES.bug("causal mask flipped", "future", "pytorch/pytorch/issues/34908", causal=True)
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


@CASES.bug("heads joined by a reshape", "heads_cut", "jsbaan/transformer-from-scratch/pull/6")
class HeadsJoinedByReshape(FusedHeads):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where to attend."""

    def forward(self, x, mask=None):
        q, k, v = self.split(x)
        logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)
        if mask is not None:
            logits = logits.masked_fill(~mask.bool()[:, None, None, :], torch.finfo(logits.dtype).min)
        return self.o_proj(torch.matmul(logits.softmax(dim=-1), v).reshape(x.shape))


@CASES.bug("the first query may see nothing", "nan_output", "pbloem/former/issues/10")
class NothingBeforeTheFirst(Heads):
    """forward(x): x (batch, n, dim), causal."""

    def forward(self, x):
        queries, keys, values = (t.flatten(0, 1) for t in self.split(x))
        dot = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(self.d_head)
        rows, columns = torch.triu_indices(x.size(1), x.size(1), offset=0, device=x.device)
        dot[:, rows, columns] = float("-inf")
        return self.join(torch.bmm(F.softmax(dot, dim=2), values).unflatten(0, (-1, self.n_heads)))


@CASES.bug("rotary positions start at 0 again", "positions_restart", "keras-team/keras-hub/pull/1544")
class RotatesFromZero(Heads):
    """forward(x, past_key_value) -> (output, present): x (batch, n, dim), causal, with rotary positions."""

    def rotate(self, t):
        n, d = t.shape[-2:]
        frequencies = 10000 ** (-torch.arange(0, d, 2, device=t.device) / d)
        angles = torch.arange(n, device=t.device)[:, None] * frequencies
        cos, sin = angles.cos().to(t.dtype), angles.sin().to(t.dtype)
        first, second = t.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)

    def forward(self, x, past_key_value=None):
        q, k, v = self.split(x)
        q, k = self.rotate(q), self.rotate(k)
        if past_key_value is not None:
            k = torch.cat([past_key_value[0], k], dim=-2)
            v = torch.cat([past_key_value[1], v], dim=-2)
        n, total = q.size(-2), k.size(-2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        return self.join(F.scaled_dot_product_attention(q, k, v, attn_mask=visible)), (k, v)


@CASES.bug("mask always in float32", "half_precision", "huggingface/transformers/issues/47743")
class MaskAlwaysInFloat32(FusedHeads):
    """forward(x): x (batch, n, dim), causal."""

    def forward(self, x):
        n = x.size(1)
        q, k, v = self.split(x)
        mask = torch.full((n, n), float("-inf"), dtype=torch.float32, device=x.device).triu(1)
        attn = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + mask, dim=-1)
        return self.join(attn @ v)


@CASES.bug("query divided in place", "writes_arguments", "pytorch/pytorch/pull/73249")
def divides_the_query_in_place(q, k, v):
    """q, k, v (batch, n, d)."""
    q /= math.sqrt(q.shape[-1])
    attn = torch.bmm(q, k.transpose(-2, -1)).softmax(dim=-1)
    return torch.bmm(attn, v), attn


@CASES.bug("cache keeps the past twice", "cache", "pkunlp-icler/FastV/issues/18")
class KeepsThePastTwice(Heads):
    """forward(x, use_cache): x (batch, n, dim), causal; use_cache goes on where the last call ended."""

    def __init__(self, dim, heads):
        super().__init__(dim, heads)
        self.reset_cache()

    def reset_cache(self):
        self.k_cache = None
        self.v_cache = None

    def forward(self, x, use_cache=False):
        q, k, v = self.split(x)
        if use_cache and self.k_cache is None:
            self.k_cache, self.v_cache = k, v
        elif use_cache:
            k = torch.cat([self.k_cache, k], dim=2)
            v = torch.cat([self.v_cache, v], dim=2)
            self.k_cache = torch.cat([self.k_cache, k], dim=2)
            self.v_cache = torch.cat([self.v_cache, v], dim=2)
        n, total = q.size(2), k.size(2)
        future = torch.ones(n, total, dtype=torch.bool, device=x.device).triu(total - n + 1)
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, float("-inf"))
        return self.join(scores.softmax(-1) @ v)
