from attention_course.exercises.shared_heads import cache_bytes, repeat_heads

WRONG = {
    "shared_heads.repeat": {
        "twice": lambda key, n_heads: key.repeat_interleave(2, dim=1),
        "squeezed": lambda key, n_heads: repeat_heads(key, n_heads).squeeze(),
        "order reversed": lambda key, n_heads: repeat_heads(key, n_heads).flip(1),
        "unchanged": lambda key, n_heads: key,
        "two key-value heads": lambda key, n_heads: key[:, :2].repeat_interleave(n_heads // 2, dim=1),
    },
    "shared_heads.cache_bytes": {
        "half a percent": lambda *sizes: cache_bytes(*sizes) + 1,
        "two bytes": lambda *sizes: cache_bytes(*sizes[:-1], 2),
        "groups": lambda n, t, d, h, g, b: 2 * n * t * (h // g) * (d // h) * b,
        "width of a group": lambda n, t, d, h, g, b: 2 * n * t * (d // g) * b,
        "bits": lambda *sizes: 8 * cache_bytes(*sizes),
    },
}

RIGHT = {
    "shared_heads.repeat": {
        "expanded": lambda key, h: key[:, :, None].expand(-1, -1, h // key.size(1), -1, -1).flatten(1, 2),
    },
    "shared_heads.cache_bytes": {"floats": lambda n, t, d, h, g, b: 2 * n * t * g * (d / h) * b},
}
