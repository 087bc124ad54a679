"""Bugs in attention as reported in public, each written anew in a few lines."""

import math

import torch
import torch.nn.functional as F
from cases import Case
from torch import nn


class MaskAfterSoftmax(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask (batch, n), True where a key may be seen."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attn = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
        if mask is not None:
            attn = attn * mask[:, None, None, :].to(attn.dtype)
        x = (attn @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x), attn


class SoftmaxOverQueries(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        batch, n, dim = x.shape
        q, k, v = (t.view(batch, n, self.n_heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        scores = q @ k.mT / math.sqrt(dim // self.n_heads)
        weights = torch.softmax(scores, dim=-2)
        return self.to_out((weights @ v).transpose(1, 2).reshape(batch, n, dim))


def mask_filled_into_nothing(q, k, v, mask=None):
    """q, k, v (batch, heads, n, d), mask broadcast to (batch, heads, n, n), True where a key may be seen."""
    sim = torch.einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        sim.masked_fill(~mask.bool(), -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    return torch.einsum("b h i j, b h j d -> b h i d", attn, v)


def causal_in_the_upper_left(query, key, value):
    """query, key, value (batch, heads, n, d); there may be fewer queries than keys."""
    n_queries, n_keys = query.size(-2), key.size(-2)
    allowed = torch.ones(n_queries, n_keys, dtype=torch.bool, device=query.device).tril(diagonal=0)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


class PaddingOnTheQueries(nn.Module):
    """forward(q, k, v, mask): (batch, n, d_model), mask (batch, n), 1 for a word and 0 for padding."""

    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_concat = nn.Linear(d_model, d_model)

    def split(self, tensor):
        batch_size, length, d_model = tensor.size()
        return tensor.view(batch_size, length, self.n_head, d_model // self.n_head).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        score = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        if mask is not None:
            score = score.masked_fill(mask.unsqueeze(1).unsqueeze(3) == 0, -10000)
        out = torch.softmax(score, dim=-1) @ v
        return self.w_concat(out.transpose(1, 2).flatten(2))


def filled_with_next_to_nothing(query, key, value, mask=None):
    """query, key, value (..., n, d), mask (..., n, n), 0 where a key is to be hidden."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e-9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn


class CausalOneTooFar(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, heads, max_len=128):
        super().__init__()
        d = dim // heads
        self.w_q = nn.Parameter(torch.randn(heads, dim, d) * dim**-0.5)
        self.w_k = nn.Parameter(torch.randn(heads, dim, d) * dim**-0.5)
        self.w_v = nn.Parameter(torch.randn(heads, dim, d) * dim**-0.5)
        self.w_o = nn.Parameter(torch.randn(heads, d, dim) * dim**-0.5)
        self.register_buffer("causal_mask", torch.ones(max_len, max_len).tril(1).bool())

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (torch.einsum("bnc,hcd->bhnd", x, w) for w in (self.w_q, self.w_k, self.w_v))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.causal_mask[:n, :n], float("-inf"))
        return torch.einsum("bhij,bhjd,hdc->bic", scores.softmax(-1), v, self.w_o)


class NothingToSee(nn.Module):
    """forward(query, key, value, key_padding_mask): (batch, n, dim), the mask (batch, n), True hides."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, key_padding_mask=None):
        bsz, tgt_len, embed_dim = query.shape
        src_len, head_dim = key.shape[1], embed_dim // self.num_heads
        q = self.q_proj(query).view(bsz, tgt_len, self.num_heads, head_dim).transpose(1, 2) * head_dim**-0.5
        k = self.k_proj(key).view(bsz, src_len, self.num_heads, head_dim).transpose(1, 2)
        v = self.v_proj(value).view(bsz, src_len, self.num_heads, head_dim).transpose(1, 2)
        scores = torch.bmm(q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2))
        scores = scores.view(bsz, self.num_heads, tgt_len, src_len)
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :].bool(), float("-inf"))
        weights = F.softmax(scores, dim=-1)
        attended = torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).view_as(q)
        return self.out_proj(attended.transpose(1, 2).reshape(bsz, tgt_len, embed_dim)), weights.mean(1)


class NaNPaintedOver(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask broadcast to (batch, heads, n, n), True where to attend."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, dim = x.shape
        q, k, v = self.to_qkv(x).view(b, n, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(dim // self.heads)
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask.bool(), float("-inf"))
            scores = scores + bias
        weights = torch.nan_to_num(scores.softmax(-1))
        return self.to_out((weights @ v).transpose(1, 2).reshape(b, n, dim))


class HeadsByViewAlone(nn.Module):
    """forward(query, key, value): (batch, n, dim)."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.attention_dim = dim // num_heads
        self.W_q = nn.Linear(dim, dim, bias=False)
        self.W_k = nn.Linear(dim, dim, bias=False)
        self.W_v = nn.Linear(dim, dim, bias=False)
        self.W_o = nn.Linear(dim, dim, bias=False)

    def forward(self, query, key, value):
        batch_size = query.size(0)
        query = self.W_q(query).view(batch_size * self.num_heads, -1, self.attention_dim)
        key = self.W_k(key).view(batch_size * self.num_heads, -1, self.attention_dim)
        value = self.W_v(value).view(batch_size * self.num_heads, -1, self.attention_dim)
        scores = torch.bmm(query, key.transpose(1, 2)) / self.attention_dim**0.5
        output = torch.bmm(scores.softmax(dim=-1), value)
        return self.W_o(output.view(batch_size, -1, self.num_heads * self.attention_dim))


class ForgetsTheNewToken(nn.Module):
    """forward(x, past) -> (output, present): x (batch, n, dim), causal."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, n, dim = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        scale = (dim // self.heads) ** -0.5
        if past is None:
            future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
            scores = (q @ k.mT * scale).masked_fill(future, float("-inf"))
            out = scores.softmax(-1) @ v
            present = k, v
        else:
            past_k, past_v = past
            out = (q @ past_k.mT * scale).softmax(-1) @ past_v
            present = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
        return self.proj(out.transpose(1, 2).reshape(b, n, dim)), present


class PositionsFromZero(nn.Module):
    """forward(x, layer_past) -> (output, present): x (batch, n, dim), causal, with learned positions."""

    def __init__(self, n_embd, n_head, n_positions=128):
        super().__init__()
        self.n_head = n_head
        self.wpe = nn.Embedding(n_positions, n_embd)
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def forward(self, x, layer_past=None):
        b, n, c = x.shape
        h = x + self.wpe(torch.arange(n, device=x.device))
        q, k, v = (t.view(b, n, self.n_head, -1).transpose(1, 2) for t in self.c_attn(h).split(c, dim=2))
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        total = k.size(-2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.c_proj(y.transpose(1, 2).reshape(b, n, c)), (k, v)


class DropsOutForever(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, num_heads, attn_drop=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.attn_drop = attn_drop
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


def weights_without_gradient(query, key, value):
    """query, key, value (batch, n, heads, d)."""
    with torch.no_grad():
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, value)


def minus_a_billion(query, key, value, mask=None):
    """query, key, value (n, d), mask (n, n), True where a key may be seen."""
    scores = query @ key.T / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), -1e9)
    return scores.softmax(dim=-1) @ value


class LowestOfTheWrongType(nn.Module):
    """forward(hidden_states, attention_mask): (batch, n, dim), the mask (batch, n), 1 where to attend."""

    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        shape = (*hidden_states.shape[:-1], self.num_heads, self.head_dim)
        query_layer = self.query(hidden_states).view(shape).transpose(1, 2)
        key_layer = self.key(hidden_states).view(shape).transpose(1, 2)
        value_layer = self.value(hidden_states).view(shape).transpose(1, 2)
        attention_scores = query_layer @ key_layer.transpose(-1, -2) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            hidden = ~attention_mask[:, None, None, :].bool()
            attention_scores = attention_scores.masked_fill(hidden, torch.finfo(hidden_states.dtype).min)
        context = attention_scores.softmax(dim=-1) @ value_layer
        return self.dense(context.transpose(1, 2).flatten(2))


class TurnsTheMaskInPlace(nn.Module):
    """forward(x, mask): x (batch, n, dim), mask (batch, n) of floats, 1 where to attend and 0 for padding."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask=None):
        b, n, dim = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(2, 3) / (dim // self.heads) ** 0.5
        if mask is not None:
            mask = mask.sub_(1).mul_(10000)
            scores = scores + mask[:, None, None, :].to(scores.dtype)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, dim))


class OneLongSequence(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        nodes = x.flatten(0, -2)
        q, k, v = (f(nodes) for f in (self.q, self.k, self.v))
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(0, 1) for t in (q, k, v))
        a = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)
        return self.out((a @ v).transpose(0, 1).flatten(1)).view_as(x)


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


class ScaledByTheWholeWidth(nn.Module):
    """forward(x): x (batch, n, dim)."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = dim**-0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in qkv)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


CASES = [
    Case(
        "mask multiplied after the softmax",
        lambda: MaskAfterSoftmax(32, 4),
        "rows_do_not_sum_to_1",
        "https://github.com/huggingface/pytorch-image-models/pull/2236",
    ),
    Case(
        "softmax over the queries",
        lambda: SoftmaxOverQueries(32, 4),
        "softmax_axis",
        "https://github.com/nerminnuraydogan/vision-transformer/issues/1",
    ),
    Case(
        "masked_fill without the underscore",
        lambda: mask_filled_into_nothing,
        "mask_no_effect",
        "https://github.com/lucidrains/flamingo-pytorch/issues/10",
    ),
    Case(
        "causal triangle in the upper left corner",
        lambda: causal_in_the_upper_left,
        "mask_corner",
        "https://github.com/pytorch/pytorch/issues/103082",
    ),
    Case(
        "padding mask broadcast over the keys",
        lambda: PaddingOnTheQueries(32, 4),
        "mask_axis",
        "https://github.com/hyunwoongko/transformer/pull/40",
    ),
    Case(
        "hidden scores filled with -1e-9",
        lambda: filled_with_next_to_nothing,
        "hidden_keys",
        "https://github.com/Shujun-He/RibonanzaNet/issues/5",
    ),
    Case(
        "causal mask off by one",
        lambda: CausalOneTooFar(32, 4),
        "future",
        "https://github.com/octo-models/octo/issues/75",
        told={"causal": True},
    ),
    Case(
        "a sequence that is all padding",
        lambda: NothingToSee(32, 4),
        "nan_output",
        "https://github.com/pytorch/pytorch/issues/27968",
    ),
    Case(
        "NaN replaced after the softmax",
        lambda: NaNPaintedOver(32, 4),
        "nan_gradient",
        "https://github.com/pytorch/pytorch/issues/41508",
    ),
    Case(
        "heads cut by a view",
        lambda: HeadsByViewAlone(32, 4),
        "heads_cut",
        "https://github.com/reczoo/FuxiCTR/issues/30",
    ),
    Case(
        "cached step without its own token",
        lambda: ForgetsTheNewToken(32, 4),
        "cache",
        "https://github.com/harvard-edge/cs249r_book/pull/1953",
    ),
    Case(
        "learned positions start at 0 again",
        lambda: PositionsFromZero(32, 4),
        "positions_restart",
        "https://github.com/ml-explore/mlx-lm/pull/93",
    ),
    Case(
        "dropout_p whatever the mode",
        lambda: DropsOutForever(32, 4),
        "dropout_in_eval",
        "https://github.com/huggingface/pytorch-image-models/pull/1978",
    ),
    Case(
        "weights computed under no_grad",
        lambda: weights_without_gradient,
        "no_gradient",
        "https://github.com/LunaBlack/KGAT-pytorch/issues/15",
    ),
    Case("-1e9 in float16", lambda: minus_a_billion, "half_precision", "https://github.com/NVIDIA/apex/issues/1052"),
    Case(
        "lowest float32 in bfloat16 scores",
        lambda: LowestOfTheWrongType(32, 4),
        "autocast",
        "https://github.com/InternLM/lmdeploy/issues/3152",
    ),
    Case(
        "mask turned into a bias in place",
        lambda: TurnsTheMaskInPlace(32, 4),
        "writes_arguments",
        "https://github.com/Shujun-He/RibonanzaNet/issues/7",
    ),
    Case(
        "batch laid end to end",
        lambda: OneLongSequence(32, 4),
        "batch_mixes",
        "https://github.com/leffff/graphormer-pyg/issues/14",
    ),
    Case(
        "mask fills what it should keep",
        lambda: HidesWhatItShouldShow(32, 4),
        "mask_inverted",
        "https://github.com/lucidrains/halonet-pytorch/issues/4",
        told={"mask_means": "attend"},
    ),
    Case(
        "scaled by the width of all heads",
        lambda: ScaledByTheWholeWidth(32, 4),
        "scale",
        "https://github.com/lucidrains/vit-pytorch/issues/65",
        told={"scale": "1/sqrt(d)"},
    ),
]
