import torch

from attention_course.exercises.bottleneck import additive_scores, context

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
    "bottleneck.context": {
        "squeezed": lambda scores, states, lengths: context(scores, states, lengths).squeeze(),
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
}

RIGHT = {
    "bottleneck.additive_scores": {
        "loop": lambda query, keys, W_q, W_k, v: [v.dot(torch.tanh(W_q @ query + W_k @ key)) for key in keys],
    },
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
}
