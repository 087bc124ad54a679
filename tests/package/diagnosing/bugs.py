"""Bugs in attention as reported in public, each written anew in a few lines."""

import math

import torch
import torch.nn.functional as F
from cases import Cases, FusedHeads, Heads
from torch import nn

CASES = Cases()


@CASES.bug("mask multiplied after the softmax", "rows_do_not_sum_to_1", "huggingface/pytorch-image-models/pull/2236")
class MaskAfterSoftmax(FusedHeads):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where a key may be seen."""

    def forward(self, x, mask=None):
        q, k, v = self.split(x)
        attn = (q * self.d_head**-0.5 @ k.transpose(-2, -1)).softmax(dim=-1)
        if mask is not None:
            attn = attn * mask[:, None, None, :].to(attn.dtype)
        return self.join(attn @ v), attn


@CASES.bug("softmax over the queries", "softmax_axis", "nerminnuraydogan/vision-transformer/issues/1")
class SoftmaxOverQueries(FusedHeads):
    """forward(x): x (batch, n, dim)."""

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join(torch.softmax(q @ k.mT / math.sqrt(self.d_head), dim=-2) @ v)


@CASES.bug("masked_fill without the underscore", "mask_no_effect", "lucidrains/flamingo-pytorch/issues/10")
def mask_filled_into_nothing(q, k, v, mask=None):
    """q, k, v (batch, heads, n, d), mask broadcast to (batch, heads, n, n), True where a key may be seen."""
    sim = torch.einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        sim.masked_fill(~mask.bool(), -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    return torch.einsum("b h i j, b h j d -> b h i d", attn, v)


@CASES.bug("causal triangle in the upper left corner", "mask_corner", "pytorch/pytorch/issues/103082")
def causal_in_the_upper_left(query, key, value):
    """query, key, value (batch, heads, n, d); there may be fewer queries than keys."""
    n_queries, n_keys = query.size(-2), key.size(-2)
    allowed = torch.ones(n_queries, n_keys, dtype=torch.bool, device=query.device).tril(diagonal=0)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@CASES.bug("padding mask broadcast over the keys", "mask_axis", "hyunwoongko/transformer/pull/40")
class PaddingOnTheQueries(Heads):
    """forward(q, k, v, mask): (batch, n, d_model), mask (batch, n), 1 for a word and 0 for padding."""

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(q, k, v)
        score = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        if mask is not None:
            score = score.masked_fill(mask.unsqueeze(1).unsqueeze(3) == 0, -10000)
        return self.join(torch.softmax(score, dim=-1) @ v)


@CASES.bug("hidden scores filled with -1e-9", "hidden_keys", "Shujun-He/RibonanzaNet/issues/5")
def filled_with_next_to_nothing(query, key, value, mask=None):
    """query, key, value (..., n, d), mask (..., n, n), 0 where a key is to be hidden."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e-9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn


@CASES.bug("causal mask off by one", "future", "octo-models/octo/issues/75", causal=True)
class CausalOneTooFar(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, heads, max_len=128):
        super().__init__()
        d = dim // heads
        self.w_q, self.w_k, self.w_v = (nn.Parameter(torch.randn(heads, dim, d) * dim**-0.5) for _ in range(3))
        self.w_o = nn.Parameter(torch.randn(heads, d, dim) * dim**-0.5)
        self.register_buffer("causal_mask", torch.ones(max_len, max_len).tril(1).bool())

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (torch.einsum("bnc,hcd->bhnd", x, w) for w in (self.w_q, self.w_k, self.w_v))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.causal_mask[:n, :n], float("-inf"))
        return torch.einsum("bhij,bhjd,hdc->bic", scores.softmax(-1), v, self.w_o)


@CASES.bug("a sequence that is all padding", "nan_output", "pytorch/pytorch/issues/27968")
class NothingToSee(Heads):
    """forward(query, key, value, key_padding_mask): (batch, n, dim), the mask (batch, n), True hides."""

    def forward(self, query, key, value, key_padding_mask=None):
        q, k, v = self.split(query, key, value)
        scores = torch.bmm(q.flatten(0, 1) * self.d_head**-0.5, k.flatten(0, 1).transpose(1, 2))
        scores = scores.view(*q.shape[:3], k.size(2))
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :].bool(), float("-inf"))
        weights = F.softmax(scores, dim=-1)
        attended = torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).view_as(q)
        return self.join(attended), weights.mean(1)


@CASES.bug("NaN replaced after the softmax", "nan_gradient", "pytorch/pytorch/issues/41508")
class NaNPaintedOver(FusedHeads):
    """forward(x, mask): x (batch, n, dim), mask broadcast to (batch, heads, n, n), True where to attend."""

    def forward(self, x, mask=None):
        q, k, v = self.split(x)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head)
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask.bool(), float("-inf"))
            scores = scores + bias
        return self.join(torch.nan_to_num(scores.softmax(-1)) @ v)


@CASES.bug("heads cut by a view", "heads_cut", "reczoo/FuxiCTR/issues/30")
class HeadsByViewAlone(Heads):
    """forward(query, key, value): (batch, n, dim)."""

    def forward(self, query, key, value):
        batch_size = query.size(0)
        query = self.q_proj(query).view(batch_size * self.n_heads, -1, self.d_head)
        key = self.k_proj(key).view(batch_size * self.n_heads, -1, self.d_head)
        value = self.v_proj(value).view(batch_size * self.n_heads, -1, self.d_head)
        scores = torch.bmm(query, key.transpose(1, 2)) / self.d_head**0.5
        output = torch.bmm(scores.softmax(dim=-1), value)
        return self.o_proj(output.view(batch_size, -1, self.n_heads * self.d_head))


@CASES.bug("cached step without its own token", "cache", "harvard-edge/cs249r_book/pull/1953")
class ForgetsTheNewToken(FusedHeads):
    """forward(x, past) -> (output, present): x (batch, n, dim), causal."""

    def forward(self, x, past=None):
        q, k, v = self.split(x)
        scale = self.d_head**-0.5
        if past is None:
            future = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
            scores = (q @ k.mT * scale).masked_fill(future, float("-inf"))
            return self.join(scores.softmax(-1) @ v), (k, v)
        past_k, past_v = past
        out = (q @ past_k.mT * scale).softmax(-1) @ past_v
        return self.join(out), (torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2))


@CASES.bug("learned positions start at 0 again", "positions_restart", "ml-explore/mlx-lm/pull/93")
class PositionsFromZero(FusedHeads):
    """forward(x, layer_past) -> (output, present): x (batch, n, dim), causal, with learned positions."""

    def __init__(self, n_embd, n_head, n_positions=128):
        super().__init__(n_embd, n_head)
        self.wpe = nn.Embedding(n_positions, n_embd)

    def forward(self, x, layer_past=None):
        n = x.size(1)
        q, k, v = self.split(x + self.wpe(torch.arange(n, device=x.device)))
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        total = k.size(-2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        return self.join(F.scaled_dot_product_attention(q, k, v, attn_mask=visible)), (k, v)


@CASES.bug("dropout_p whatever the mode", "dropout_in_eval", "huggingface/pytorch-image-models/pull/1978")
class DropsOutForever(FusedHeads):
    """forward(x): x (batch, n, dim)."""

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join(F.scaled_dot_product_attention(q, k, v, dropout_p=0.1))


@CASES.bug("weights computed under no_grad", "no_gradient", "LunaBlack/KGAT-pytorch/issues/15")
def weights_without_gradient(query, key, value):
    """query, key, value (batch, n, heads, d)."""
    with torch.no_grad():
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, value)


@CASES.bug("-1e9 in float16", "half_precision", "NVIDIA/apex/issues/1052")
def minus_a_billion(query, key, value, mask=None):
    """query, key, value (n, d), mask (n, n), True where a key may be seen."""
    scores = query @ key.T / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), -1e9)
    return scores.softmax(dim=-1) @ value


@CASES.bug("lowest float32 in bfloat16 scores", "autocast", "InternLM/lmdeploy/issues/3152")
class LowestOfTheWrongType(Heads):
    """forward(hidden_states, attention_mask): (batch, n, dim), the mask (batch, n), 1 where to attend."""

    def forward(self, hidden_states, attention_mask=None):
        query_layer, key_layer, value_layer = self.split(hidden_states)
        attention_scores = query_layer @ key_layer.transpose(-1, -2) / math.sqrt(self.d_head)
        if attention_mask is not None:
            hidden = ~attention_mask[:, None, None, :].bool()
            attention_scores = attention_scores.masked_fill(hidden, torch.finfo(hidden_states.dtype).min)
        return self.join(attention_scores.softmax(dim=-1) @ value_layer)


@CASES.bug("mask turned into a bias in place", "writes_arguments", "Shujun-He/RibonanzaNet/issues/7")
class TurnsTheMaskInPlace(Heads):
    """forward(x, mask): x (batch, n, dim), mask (batch, n) of floats, 1 where to attend and 0 for padding."""

    def forward(self, x, mask=None):
        q, k, v = self.split(x)
        scores = q @ k.transpose(2, 3) / self.d_head**0.5
        if mask is not None:
            mask = mask.sub_(1).mul_(10000)
            scores = scores + mask[:, None, None, :].to(scores.dtype)
        return self.join(scores.softmax(-1) @ v)


@CASES.bug("batch laid end to end", "batch_mixes", "leffff/graphormer-pyg/issues/14")
class OneLongSequence(Heads):
    """forward(x): x (batch, n, dim)."""

    def forward(self, x):
        q, k, v = self.split(x.flatten(0, -2)[None])
        return self.join((q @ k.transpose(2, 3) / self.d_head**0.5).softmax(-1) @ v).view_as(x)


@CASES.bug(
    "mask fills what it should keep", "mask_inverted", "lucidrains/halonet-pytorch/issues/4", mask_means="attend"
)
class HidesWhatItShouldShow(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where to attend."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim * 2, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim=-1))
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        sim = torch.einsum("b h i d, b h j d -> b h i j", q * self.scale, k)
        if mask is not None:
            mask = mask.bool()
            sim.masked_fill_(mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        out = torch.einsum("b h i j, b h j d -> b h i d", sim.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


@CASES.bug("scaled by the width of all heads", "scale", "lucidrains/vit-pytorch/issues/65", scale="1/sqrt(d)")
class ScaledByTheWholeWidth(FusedHeads):
    """forward(x): x (batch, n, dim)."""

    def forward(self, x):
        q, k, v = self.split(x)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * x.size(-1) ** -0.5
        return self.join(torch.einsum("bhij,bhjd->bhid", dots.softmax(dim=-1), v))
