import torch

from attention_course.exercises.scores import additive_multiplications, general_scores

WRONG = {
    "scores.general_scores": {
        "squeezed": lambda query, key, W: general_scores(query, key, W).squeeze(),
        "first example for all": lambda query, key, W: general_scores(query[:1], key, W),
        "cosine": lambda query, key, W: torch.cosine_similarity((query @ W)[:, :, None], key[:, None], dim=-1),
    },
    "scores.additive_multiplications": {
        "queries twice": lambda n, m, d: 2 * n * d * d + n * m * d,
        "only keys projected": lambda n, m, d: m * d * d + n * m * d,
        "one too many": lambda n, m, d: additive_multiplications(n, m, d) + 1,
    },
}

RIGHT = {
    "scores.general_scores": {"einsum": lambda query, key, W: torch.einsum("bid,de,bje->bij", query, W, key)},
    "scores.additive_multiplications": {"a float": lambda n, m, d: float((n + m) * d**2 + n * m * d)},
}
