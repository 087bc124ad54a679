import torch

from attention_course.exercises.self_attention import forbid, reorder, self_attention

WRONG = {
    "self_attention.layer": {
        "squeezed": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V).squeeze(),
        "divides by d_k": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q / W_Q.size(1) ** 0.5, W_K, W_V),
        "residual": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V) + (X @ W_V),
        "no softmax": lambda X, W_Q, W_K, W_V: (X @ W_Q) @ (X @ W_K).T / W_K.size(1) ** 0.5 @ (X @ W_V),
        "values scaled": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V / W_V.size(1) ** 0.5),
        "complex": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V) + 1j,
    },
    "self_attention.reorder": {
        "rolled": lambda weights, order: weights.roll((-int(order[0]), -int(order[0])), (0, 1)),
        "reversed order": lambda weights, order: reorder(weights, order.flip(0)),
        "order twice": lambda weights, order: reorder(weights, order[order]),
        "transposed": lambda weights, order: reorder(weights, order).T,
        "rows, then the inverse": lambda weights, order: weights[order][:, order.argsort()],
        "flipped": lambda weights, order: weights.flip(0, 1),
    },
    "self_attention.forbid": {
        "one sum for all rows": lambda weights, key: forbid(weights, key) * (1 + weights[:, key : key + 1] / 10),
        "the next key": lambda weights, key: forbid(weights, (key + 1) % weights.size(1)),
        "column taken out": lambda weights, key: (
            torch.cat([weights[:, :key], weights[:, key + 1 :]], 1) / (1 - weights[:, [key]])
        ),
        "query at that index": lambda weights, key: forbid(weights.T, min(key, len(weights) - 1)).T,
        "a very small weight": lambda weights, key: (
            weights.index_fill(1, torch.tensor([key]), 1e-2)
            / weights.index_fill(1, torch.tensor([key]), 1e-2).sum(-1, keepdim=True)
        ),
    },
}

RIGHT = {
    "self_attention.reorder": {
        "negative strides": lambda weights, order: reorder(weights, order).numpy()[::-1][::-1],
        "NumPy": lambda weights, order: weights.numpy()[order][:, order],
    },
    "self_attention.forbid": {
        "logarithms": lambda weights, key: weights.log().index_fill(1, torch.tensor([key]), -torch.inf).softmax(-1)
    },
}
