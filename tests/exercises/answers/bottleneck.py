import torch

from attention_course.exercises.bottleneck import (
    additive_multiplications,
    additive_scores,
    alignment_error,
    context,
    general_scores,
)

WRONG = {
    "bottleneck.additive_scores": {
        "squeezed": lambda *arguments: additive_scores(*arguments).squeeze(),
        "relu": lambda query, keys, W_q, W_k, v: torch.relu(W_q @ query + keys @ W_k.T) @ v,
        "sigmoid": lambda query, keys, W_q, W_k, v: torch.sigmoid(W_q @ query + keys @ W_k.T) @ v,
        "difference": lambda query, keys, W_q, W_k, v: torch.tanh(W_q @ query - keys @ W_k.T) @ v,
        "mean of the hidden units": lambda query, keys, W_q, W_k, v: additive_scores(query, keys, W_q, W_k, v) / len(v),
        "first key only": lambda query, keys, W_q, W_k, v: additive_scores(query, keys[:1], W_q, W_k, v).expand(
            len(keys)
        ),
        "complex": lambda *arguments: additive_scores(*arguments) + 1j,
    },
    "bottleneck.general_scores": {
        "squeezed": lambda query, key, W: general_scores(query, key, W).squeeze(),
        "first example for all": lambda query, key, W: general_scores(query[:1], key, W),
        "symmetric": lambda query, key, W: query @ (W + W.T) @ key.transpose(-2, -1) / 2,
        "cosine": lambda query, key, W: torch.cosine_similarity((query @ W)[:, :, None], key[:, None], dim=-1),
        "complex": lambda query, key, W: general_scores(query, key, W) + 1j,
    },
    "bottleneck.context": {
        "squeezed": lambda scores, states, lengths: context(scores, states, lengths).squeeze(),
        "one length for all": lambda scores, states, lengths: context(scores, states, lengths[:1].expand(len(lengths))),
        "shortest length": lambda scores, states, lengths: context(scores, states, lengths.clamp(max=lengths.min())),
        "a finite fill that is too small": lambda scores, states, lengths: torch.einsum(
            "bk,bkd->bd",
            scores.masked_fill(torch.arange(scores.size(1)) >= lengths[:, None], -8.0).softmax(1),
            states,
        ),
        "sum without weights": lambda scores, states, lengths: (
            context(torch.zeros_like(scores), states, lengths) * lengths[:, None]
        ),
        "off by one the other way": lambda scores, states, lengths: context(scores, states, (lengths - 1).clamp(min=1)),
    },
    "bottleneck.alignment_error": {
        "largest gold weight": lambda weights, gold: (~gold).gather(-1, weights.argmax(-1, True)).any().double(),
        "first example only": lambda weights, gold: alignment_error(weights[:1], gold[:1]),
        "misses counted": lambda weights, gold: (~gold).gather(-1, weights.argmax(-1, True)).sum(),
        "one number an example": lambda weights, gold: (
            (~gold).gather(-1, weights.argmax(-1, True)).double().mean((1, 2))
        ),
        "per gold token": lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, True)).sum() / gold.sum(),
    },
    "bottleneck.additive_multiplications": {
        "queries twice": lambda n, m, d: 2 * n * d * d + n * m * d,
        "only keys projected": lambda n, m, d: m * d * d + n * m * d,
        "one too many": lambda n, m, d: additive_multiplications(n, m, d) + 1,
        "a sum for v": lambda n, m, d: (n + m) * d * d + (n + m) * d,
    },
}

RIGHT = {
    "bottleneck.additive_scores": {
        "loop": lambda query, keys, W_q, W_k, v: [v.dot(torch.tanh(W_q @ query + W_k @ key)) for key in keys],
    },
    "bottleneck.general_scores": {"einsum": lambda query, key, W: torch.einsum("bid,de,bje->bij", query, W, key)},
    "bottleneck.context": {
        "loop": lambda scores, states, lengths: torch.stack(
            [row[:n].softmax(0) @ state[:n] for row, state, n in zip(scores, states, lengths, strict=True)]
        ),
        "a large finite fill": lambda scores, states, lengths: torch.einsum(
            "bk,bkd->bd",
            scores.masked_fill(torch.arange(scores.size(1)) >= lengths[:, None], -1e9).softmax(1),
            states,
        ),
    },
    "bottleneck.alignment_error": {
        "a Python number": lambda weights, gold: (~gold).gather(-1, weights.argmax(-1, True)).float().mean().item(),
    },
    "bottleneck.additive_multiplications": {"a float": lambda n, m, d: float((n + m) * d**2 + n * m * d)},
}
