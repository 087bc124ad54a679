import torch

from attention_course.exercises.efficient import (
    block_layout,
    causal_linear,
    crossover,
    linear_attention,
    positive_features,
)

WRONG = {
    "efficient.linear": {
        "squeezed": lambda q, k, v, mask: linear_attention(q, k, v, mask).squeeze(),
        "softmax": lambda q, k, v, mask: (q @ k.T).masked_fill(~mask, -torch.inf).softmax(-1) @ v,
        "values hidden only": lambda q, k, v, mask: linear_attention(q, k, v * mask[:, None], torch.ones_like(mask)),
        "half the keys": lambda q, k, v, mask: linear_attention(q, k, v, mask & (torch.arange(len(mask)) < len(q))),
        "a safe denominator": lambda q, k, v, mask: (
            (q @ ((k * mask[:, None]).T @ v)) / ((q @ (k * mask[:, None]).sum(0))[:, None] + 0.1)
        ),
        "first query's normaliser": lambda q, k, v, mask: (
            (q @ ((k * mask[:, None]).T @ v)) / (q[:1] @ (k * mask[:, None]).sum(0))
        ),
    },
    "efficient.running_sums": {
        "squeezed": lambda q, k, v: causal_linear(q, k, v).squeeze(),
        "state of the whole sequence": lambda q, k, v: (q @ (k.T @ v)) / (q @ k.T).tril().sum(-1, keepdim=True),
        "causal softmax": lambda q, k, v: (
            (q @ k.T).masked_fill(torch.ones(len(q), len(q)).triu(1) > 0, -torch.inf).softmax(-1) @ v
        ),
        "two tokens back": lambda q, k, v: (w := (q @ k.T).tril().triu(-2)) / w.sum(-1, keepdim=True) @ v,
        "mean of what came": lambda q, k, v: v.cumsum(0) / torch.arange(1, len(v) + 1)[:, None],
    },
    "efficient.features": {
        "absolute": lambda x, w: positive_features(x, w.abs()),
        "elu": lambda x, w: torch.nn.functional.elu(x @ w.T * x.size(-1) ** -0.25) + 1,
        "one length for all": lambda x, w: (
            (x @ w.T * x.size(-1) ** -0.25 - x.square().sum() / 2 / x.size(-1) ** 0.5).exp() / len(w) ** 0.5
        ),
        "root of d instead of m": lambda x, w: positive_features(x, w) * (len(w) / x.size(-1)) ** 0.5,
        "logarithms": lambda x, w: positive_features(x, w).log(),
    },
    "efficient.layout": {
        "floats": lambda n, window, n_global: block_layout(n, window, n_global).float(),
        "two global blocks": lambda n, window, n_global: block_layout(n, window, 2),
        "a window of one": lambda n, window, n_global: block_layout(n, 1, n_global),
        "at least one global block": lambda n, window, n_global: block_layout(n, window, max(1, n_global)),
        "last blocks": lambda n, window, n_global: block_layout(n, window, n_global).flip(0, 1),
        "one wider": lambda n, window, n_global: block_layout(n, window + 1, n_global),
        "causal": lambda n, window, n_global: block_layout(n, window, n_global).tril(),
    },
    "efficient.crossover": {
        "rounded": lambda h, d, m: round(crossover(h, d, m)),
        "floor": lambda h, d, m: (8 * m * d + 2 * m) // (4 * d),
        "per head": lambda h, d, m: crossover(h, d, m) / h,
        "normaliser of both": lambda h, d, m: (8 * m * d + 4 * m) / (4 * d),
        "complex": lambda h, d, m: complex(crossover(h, d, m)),
    },
}

RIGHT = {
    "efficient.linear": {
        "with the matrix": lambda q, k, v, mask: (w := q @ k.T * mask) / w.sum(-1, keepdim=True) @ v,
        "only visible keys": lambda q, k, v, mask: q @ (k[mask].T @ v[mask]) / (q @ k[mask].sum(0))[:, None],
    },
    "efficient.running_sums": {
        "with the matrix": lambda q, k, v: (w := (q @ k.T).tril()) / w.sum(-1, keepdim=True) @ v,
    },
    "efficient.crossover": {"simplified": lambda h, d, m: 2 * m + m / (2 * d)},
}
