import torch

from attention_course.exercises.pointing import followed, hit_rate

WRONG = {
    "pointing.hit_rate": {
        "smallest": lambda weights, gold: gold.gather(1, weights.argmin(1, True)).float().mean(),
        "divided by the tokens": lambda weights, gold: gold.gather(1, weights.argmax(1, True)).sum() / weights.size(1),
        "first half": lambda weights, gold: hit_rate(weights[: len(gold) // 2], gold[: len(gold) // 2]),
        "misses": lambda weights, gold: 1 - hit_rate(weights, gold),
    },
    "pointing.followed": {
        "the first sequence's reading": lambda pooling, read: followed(pooling, read[:1].expand_as(read)).flip(1),
        "two thirds stay": lambda pooling, read: (2 * pooling + (pooling[:, None] @ read).squeeze(1)) / 3,
        "squeezed": lambda pooling, read: followed(pooling, read).squeeze(),
    },
}

RIGHT = {
    "pointing.hit_rate": {
        "a loop": lambda weights, gold: torch.tensor(
            [float(g[w.argmax()]) for w, g in zip(weights, gold, strict=True)]
        ).mean(),
    },
    "pointing.followed": {"einsum": lambda pooling, read: (pooling + torch.einsum("bi,bij->bj", pooling, read)) / 2},
}
