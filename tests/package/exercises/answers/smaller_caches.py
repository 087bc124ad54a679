import torch

from attention_course.exercises.smaller_caches import cache_bytes, kept, pool, repeat_heads

WRONG = {
    "smaller_caches.repeat": {
        "twice": lambda key, n_heads: key.repeat_interleave(2, dim=1),
        "squeezed": lambda key, n_heads: repeat_heads(key, n_heads).squeeze(),
        "order reversed": lambda key, n_heads: repeat_heads(key, n_heads).flip(1),
        "unchanged": lambda key, n_heads: key,
        "two key-value heads": lambda key, n_heads: key[:, :2].repeat_interleave(n_heads // 2, dim=1),
    },
    "smaller_caches.pool": {
        "order reversed": lambda weight, n_heads, n_kv_heads: pool(weight, n_heads, n_kv_heads).flip(0),
        "over the root of the group": lambda weight, n_heads, n_kv_heads: (
            pool(weight, n_heads, n_kv_heads) * (n_heads / n_kv_heads) ** 0.5
        ),
        "nn.Linear transposed": lambda weight, n_heads, n_kv_heads: pool(weight, n_heads, n_kv_heads).mT,
    },
    "smaller_caches.kept": {
        "all": lambda n_tokens, window, n_sinks: torch.arange(n_tokens),
        "negative places": lambda n_tokens, window, n_sinks: torch.tensor(
            sorted({*range(min(n_sinks, n_tokens)), *range(n_tokens - window, n_tokens)}), dtype=torch.long
        ),
        "the last of no places": lambda n_tokens, window, n_sinks: torch.tensor(
            sorted({*range(min(n_sinks, n_tokens)), *list(range(n_tokens))[-window:]}), dtype=torch.long
        ),
        "one sink": lambda n_tokens, window, n_sinks: kept(n_tokens, window, 1),
        "two sinks": lambda n_tokens, window, n_sinks: kept(n_tokens, window, 2),
        "counted from 1": lambda n_tokens, window, n_sinks: kept(n_tokens, window, n_sinks) + 1,
        "floats": lambda n_tokens, window, n_sinks: kept(n_tokens, window, n_sinks).float(),
        "newest first": lambda n_tokens, window, n_sinks: kept(n_tokens, window, n_sinks).flip(0),
    },
    "smaller_caches.cache_bytes": {
        "one byte too many": lambda *sizes: cache_bytes(*sizes) + 1,
        "two bytes": lambda *sizes: cache_bytes(*sizes[:-1], 2),
        "groups for pairs": lambda *sizes: cache_bytes(*sizes[:-2], sizes[-3] // sizes[-2], sizes[-1]),
        "every other block": lambda n, blocks, every, *sizes: cache_bytes(n, blocks, 2, *sizes),
    },
}

RIGHT = {
    "smaller_caches.repeat": {
        "expanded": lambda key, h: key[:, :, None].expand(-1, -1, h // key.size(1), -1, -1).flatten(1, 2),
    },
    "smaller_caches.pool": {
        "a view": lambda weight, n_heads, n_kv_heads: (
            weight.view(n_kv_heads, n_heads // n_kv_heads, -1, weight.size(1)).mean(1).flatten(0, 1)
        ),
    },
    "smaller_caches.kept": {
        "a set": lambda n_tokens, window, n_sinks: torch.tensor(
            sorted({*range(min(n_sinks, n_tokens)), *range(max(n_tokens - window, 0), n_tokens)}), dtype=torch.long
        ),
    },
    "smaller_caches.cache_bytes": {
        "floats": lambda n, blocks, every, window, d_model, heads, pairs, size: (
            2 * (blocks / every * n + (blocks - blocks / every) * min(window, n)) * pairs * (d_model / heads) * size
        ),
    },
}
