"""What each mechanism computes, plain and quadratic: definitions for the table in mechanisms.py, and ways to call them.

A definition is `define(attention, query, key, value, mask)`, where `attention` says what it learned or drew; a call is
`call(attention, query, key, value, mask)` and returns the output alone.
"""

import torch

from attention_course import scaled_dot_product_attention
from attention_course.efficient.indexer import index_scores
from attention_course.efficient.reformer import lsh_attention
from attention_course.efficient.sinks import sink_attention
from attention_course.efficient.top_k import top_k_attention
from attention_course.masks import hide_future
from attention_course.mechanism import as_mechanism
from attention_course.t5_bias import t5_bucket

N_HEADS, D_HEAD = 2, 8


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


def rotary(attention, query, key, value, mask, *, causal):
    def turned(tokens):
        even, odd = tokens[..., ::2], tokens[..., 1::2]
        frequency = attention.base ** (-2 * torch.arange(D_HEAD // 2, dtype=torch.float64) / D_HEAD)
        angle = torch.arange(tokens.size(-2))[:, None] * frequency
        pair = even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()
        return torch.stack(pair, dim=-1).flatten(-2)

    return by_definition(turned(query), turned(key), value, mask, causal=causal)


def alibi(attention, query, key, value, mask, *, causal):
    place = torch.arange(query.size(-2))
    slopes = torch.tensor([2.0 ** (-8 * (head + 1) / N_HEADS) for head in range(N_HEADS)], dtype=torch.float64)
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


def joined(tokens):
    """Heads `(batch, heads, tokens, d_head)` as a layer takes them, side by side."""
    return tokens.transpose(1, 2).flatten(2)


def heads(tokens, weight):
    """Such tokens after a projection, split into heads."""
    return (tokens @ weight.T).unflatten(-1, (N_HEADS, -1)).transpose(1, 2)


def latent(layer, query, key, value, mask, *, causal):
    key_weight, value_weight = (up.weight @ layer.down_proj.weight for up in (layer.key_up, layer.value_up))
    q = heads(joined(query), layer.query_proj.weight)
    k, v = (heads(joined(key), weight) for weight in (key_weight, value_weight))
    return heads(joined(by_definition(q, k, v, mask, causal=causal)), layer.out_proj.weight)


def call_latent(layer, query, key, value, mask, *, causal):
    """The layer takes tokens that are not yet split into heads, and makes the values of the keys."""
    output, _ = layer(joined(query), joined(key), mask=mask, causal=causal)
    return output.unflatten(-1, (N_HEADS, D_HEAD)).transpose(1, 2)


def multi_head(layer, query, key, value, mask, *, causal, attend=by_definition):
    projections = (layer.query_proj, layer.key_proj, layer.value_proj)
    projected = (heads(joined(each), by.weight) for each, by in zip((query, key, value), projections, strict=True))
    return heads(joined(attend(*projected, mask, causal=causal)), layer.out_proj.weight)


def sinks(layer, query, key, value, mask):
    def attend(*given, causal):
        return sink_attention(*given, window=layer.band.window, n_sinks=layer.band.n_global)[0]

    return multi_head(layer, query, key, value, mask, causal=True, attend=attend)


def top_k(layer, query, key, value, mask, *, causal):
    scores = index_scores(*layer.indexer.queries(joined(query)), layer.indexer.keys(joined(key))).unsqueeze(1)

    def attend(query, key, value, mask, *, causal):
        mask = hide_future(mask, query, key) if causal else mask
        return top_k_attention(query, key, value, scores, mask, k=layer.k)[0]

    return multi_head(layer, query, key, value, mask, causal=causal, attend=attend)


def by_state(layer, query, key, value, mask, *, gates):
    """Token by token through one matrix a head; `gates(layer, tokens)` says what is kept, and how much is written over.

    What is kept is `(batch, tokens, heads, d_head or 1)`. Where something is written over, keys are of length 1.
    """
    kept, strength = gates(layer, joined(key))

    def attend(query, key, value, mask, *, causal):
        state, outputs = query.new_zeros(*query.shape[:2], D_HEAD, D_HEAD), []
        for t in range(query.size(2)):
            k, v, after = key[:, :, t, :, None], value[:, :, t, None, :], kept[:, t, :, :, None] * state
            if strength is not None:
                k = k / k.norm(dim=-2, keepdim=True)
                v = strength[:, t, :, None, None] * (v - k.mT @ after)
            after = after + k @ v
            state = after if mask is None else after.where(mask[..., t, None], state)  # the hidden are not there
            outputs.append((query[:, :, t, None, :] @ state).squeeze(2) / D_HEAD**0.5)
        return torch.stack(outputs, 2) if outputs else query

    return multi_head(layer, query, key, value, mask, causal=True, attend=attend)


def retention_gates(layer, tokens):
    return layer.decay_logit.sigmoid()[:, None].expand(*tokens.shape[:2], -1, -1), None


def gated_linear_gates(layer, tokens):
    numbers = tokens @ layer.gate_down.weight.T @ layer.gate_up.weight.T + layer.gate_up.bias
    return numbers.sigmoid().pow(1 / 16).unflatten(-1, (N_HEADS, D_HEAD)), None


def gated_delta_gates(layer, tokens):
    numbers = [tokens @ each.weight.T + each.bias for each in (layer.gate_proj, layer.strength_proj)]
    return numbers[0].sigmoid().pow(1 / 16).unsqueeze(-1), numbers[1].sigmoid()


def delta_gates(layer, tokens):
    numbers = tokens @ layer.strength_proj.weight.T + layer.strength_proj.bias
    return torch.ones_like(numbers).unsqueeze(-1), numbers.sigmoid()


def call_multi_head(layer, query, key, value, mask, *, causal):
    """The layer takes tokens that are not yet split into heads."""
    output, _ = layer(joined(query), joined(key), joined(value), mask, causal=causal)
    return output.unflatten(-1, (N_HEADS, D_HEAD)).transpose(1, 2)


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
