import torch

from attention_course.exercises.bottleneck import additive_scores, context

WRONG = {
    "bottleneck.additive_scores": {
        "squeezed": lambda *arguments: additive_scores(*arguments).squeeze(),
        "sigmoid": lambda query, keys, W_q, W_k, v: torch.sigmoid(W_q @ query + keys @ W_k.T) @ v,
        "first key only": lambda query, keys, W_q, W_k, v: additive_scores(query, keys[:1], W_q, W_k, v).expand(
            len(keys)
        ),
    },
    "bottleneck.context": {
        "squeezed": lambda scores, states, lengths: context(scores, states, lengths).squeeze(),
        "shortest length": lambda scores, states, lengths: context(scores, states, lengths.clamp(max=lengths.min())),
        "a finite fill that is too small": lambda scores, states, lengths: torch.einsum(
            "bk,bkd->bd",
            scores.masked_fill(torch.arange(scores.size(1)) >= lengths[:, None], -8.0).softmax(1),
            states,
        ),
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
