import torch

from attention_course.exercises.self_attention import forbid, reorder, self_attention

WRONG = {
    "self_attention.layer": {
        "squeezed": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V).squeeze(),
        "divides by d_k": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q / W_Q.size(1) ** 0.5, W_K, W_V),
        "values scaled": lambda X, W_Q, W_K, W_V: self_attention(X, W_Q, W_K, W_V / W_V.size(1) ** 0.5),
    },
    "self_attention.reorder": {
        "rolled": lambda weights, order: weights.roll((-int(order[0]), -int(order[0])), (0, 1)),
        "order twice": lambda weights, order: reorder(weights, order[order]),
        "rows, then the inverse": lambda weights, order: weights[order][:, order.argsort()],
    },
    "self_attention.forbid": {
        "one sum for all rows": lambda weights, key: forbid(weights, key) * (1 + weights[:, key : key + 1] / 10),
        "the next key": lambda weights, key: forbid(weights, (key + 1) % weights.size(1)),
        "query at that index": lambda weights, key: forbid(weights.T, min(key, len(weights) - 1)).T,
    },
}

RIGHT = {
    "self_attention.reorder": {"NumPy": lambda weights, order: weights.numpy()[order][:, order]},
    "self_attention.forbid": {
        "logarithms": lambda weights, key: weights.log().index_fill(1, torch.tensor([key]), -torch.inf).softmax(-1)
    },
}
