import math

import torch

from attention_course.exercises.multi_head import (
    ablate,
    cache_bytes,
    entropy_in_bits,
    multi_head,
    repeat_heads,
    split_heads,
)

WRONG = {
    "multi_head.split": {
        "squeezed": lambda tokens, n_heads: split_heads(tokens, n_heads).squeeze(),
        "two heads": lambda tokens, n_heads: split_heads(tokens, 2),
        "chunks of n_heads": lambda tokens, n_heads: tokens.unflatten(-1, (-1, n_heads)).transpose(1, 2),
        "heads reversed": lambda tokens, n_heads: split_heads(tokens, n_heads).flip(1),
        "a batch of two": lambda tokens, n_heads: tokens.view(2, tokens.size(1), n_heads, -1).transpose(1, 2),
    },
    "multi_head.attention": {
        "squeezed": lambda *arguments: multi_head(*arguments).squeeze(),
        "two heads": lambda query, key, value, n_heads: multi_head(query, key, value, 2),
        "more keys cut off": lambda query, key, value, n_heads: multi_head(
            query, key[:, : query.size(1)], value[:, : query.size(1)], n_heads
        ),
        "more queries cut off": lambda query, key, value, n_heads: multi_head(
            query[:, : key.size(1)], key, value, n_heads
        ),
        "residual": lambda query, key, value, n_heads: query + multi_head(query, key, value, n_heads),
        "no scaling": lambda query, key, value, n_heads: multi_head(
            query * (query.size(-1) / n_heads) ** 0.5, key, value, n_heads
        ),
        "keys as values": lambda query, key, value, n_heads: multi_head(query, key, key, n_heads),
        "heads exchanged": lambda query, key, value, n_heads: (
            multi_head(query, key, value, n_heads).unflatten(-1, (n_heads, -1)).flip(2).flatten(-2)
        ),
    },
    "multi_head.entropy": {
        "squeezed": lambda weights: entropy_in_bits(weights).squeeze(),
        "decimal logarithm": lambda weights: entropy_in_bits(weights) * math.log10(2),
        "a coarse clamp": lambda weights: -(weights * (weights + 0.01).log2()).sum(-1).mean(-1),
        "perplexity": lambda weights: 2 ** entropy_in_bits(weights),
        "largest of the queries": lambda weights: torch.stack(
            [entropy_in_bits(w[None]) for w in weights.unbind(1)]
        ).amax(0),
    },
    "multi_head.ablate": {
        "the first head": lambda heads, head: ablate(heads, 0),
        "the last head": lambda heads, head: ablate(heads, -1),
        "median": lambda heads, head: heads.index_copy(
            1,
            torch.tensor([head]),
            heads[:, head].flatten(0, 1).median(0).values.expand(len(heads), 1, heads.size(2), -1),
        ),
        "mean of all heads": lambda heads, head: heads.index_copy(
            1, torch.tensor([head]), heads.mean((0, 1, 2)).expand(len(heads), 1, heads.size(2), -1)
        ),
        "all heads": lambda heads, head: heads.mean((0, 2), keepdim=True).expand_as(heads),
        "only that head": lambda heads, head: ablate(heads, head)[:, head],
        "unchanged": lambda heads, head: heads,
    },
    "multi_head.repeat": {
        "twice": lambda key, n_heads: key.repeat_interleave(2, dim=1),
        "squeezed": lambda key, n_heads: repeat_heads(key, n_heads).squeeze(),
        "order reversed": lambda key, n_heads: repeat_heads(key, n_heads).flip(1),
        "unchanged": lambda key, n_heads: key,
        "two key-value heads": lambda key, n_heads: key[:, :2].repeat_interleave(n_heads // 2, dim=1),
    },
    "multi_head.cache_bytes": {
        "half a percent": lambda *sizes: cache_bytes(*sizes) + 1,
        "two bytes": lambda *sizes: cache_bytes(*sizes[:-1], 2),
        "groups": lambda n, t, d, h, g, b: 2 * n * t * (h // g) * (d // h) * b,
        "width of a group": lambda n, t, d, h, g, b: 2 * n * t * (d // g) * b,
        "bits": lambda *sizes: 8 * cache_bytes(*sizes),
    },
}

RIGHT = {
    "multi_head.split": {
        "view": lambda tokens, h: tokens.view(*tokens.shape[:2], h, -1).permute(0, 2, 1, 3),
        "chunks": lambda tokens, h: torch.stack(tokens.chunk(h, -1), 1),
    },
    "multi_head.repeat": {
        "expanded": lambda key, h: key[:, :, None].expand(-1, -1, h // key.size(1), -1, -1).flatten(1, 2),
    },
    "multi_head.entropy": {
        "special function": lambda weights: torch.special.entr(weights).sum(-1).mean(-1) / math.log(2),
    },
    "multi_head.cache_bytes": {"floats": lambda n, t, d, h, g, b: 2 * n * t * g * (d / h) * b},
}
