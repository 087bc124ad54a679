import torch

from attention_course.exercises.approximations import block_layout, crossover, two_way_features

WRONG = {
    "approximations.features": {
        "absolute": lambda x, w: two_way_features(x, w.abs()),
        "root of d instead of m": lambda x, w: two_way_features(x, w) * (len(w) / x.size(-1)) ** 0.5,
    },
    "approximations.layout": {
        "two global blocks": lambda n, window, n_global: block_layout(n, window, 2),
        "a window of one": lambda n, window, n_global: block_layout(n, 1, n_global),
        "at least one global block": lambda n, window, n_global: block_layout(n, window, max(1, n_global)),
        "last blocks": lambda n, window, n_global: block_layout(n, window, n_global).flip(0, 1),
        "one wider": lambda n, window, n_global: block_layout(n, window + 1, n_global),
        "causal": lambda n, window, n_global: block_layout(n, window, n_global).tril(),
    },
    "approximations.crossover": {
        "rounded": lambda h, d, m: round(crossover(h, d, m)),
        "per head": lambda h, d, m: crossover(h, d, m) / h,
        "normaliser of both": lambda h, d, m: (8 * m * d + 4 * m) / (4 * d),
    },
}

RIGHT = {
    "approximations.features": {
        "twice as many directions": lambda x, w: (
            (x @ torch.cat([w, -w]).T / x.size(-1) ** 0.25 - x.square().sum(-1)[:, None] / 2 / x.size(-1) ** 0.5).exp()
            / (2 * len(w)) ** 0.5
        ),
    },
    "approximations.crossover": {"simplified": lambda h, d, m: 2 * m + m / (2 * d)},
}
