import torch

from attention_course.exercises.scores import additive_multiplications, additive_scores, general_scores

WRONG = {
    "scores.additive_scores": {
        "squeezed": lambda *arguments: additive_scores(*arguments).squeeze(),
        "sigmoid": lambda query, keys, W_q, W_k, v: torch.sigmoid(W_q @ query + keys @ W_k.T) @ v,
        "first key only": lambda query, keys, W_q, W_k, v: additive_scores(query, keys[:1], W_q, W_k, v).expand(
            len(keys)
        ),
    },
    "scores.dropout": {
        "measured share": lambda weights, keep, p, value: ((weights * keep / keep.float().mean()) @ value, weights),
        "root of the share": lambda weights, keep, p, value: ((weights * keep / (1 - p) ** 0.5) @ value, weights),
        "plus": lambda weights, keep, p, value: ((weights * keep / (1 + p)) @ value, weights),
    },
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
    "scores.additive_scores": {
        "loop": lambda query, keys, W_q, W_k, v: [v.dot(torch.tanh(W_q @ query + W_k @ key)) for key in keys],
    },
    "scores.dropout": {
        "where": lambda weights, keep, p, value: (torch.where(keep, weights / (1 - p), 0) @ value, weights),
        "divided at the end": lambda weights, keep, p, value: ((weights * keep) @ value / (1 - p), weights),
    },
    "scores.general_scores": {"einsum": lambda query, key, W: torch.einsum("bid,de,bje->bij", query, W, key)},
    "scores.additive_multiplications": {"a float": lambda n, m, d: float((n + m) * d**2 + n * m * d)},
}
