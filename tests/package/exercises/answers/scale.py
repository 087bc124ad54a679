import torch

from attention_course.exercises.scale import softmax_jacobian

WRONG = {
    "scale.softmax_jacobian": {
        "sigmoid": lambda scores: torch.diag(scores.sigmoid() * (1 - scores.sigmoid())),
        "columns scaled": lambda scores: (torch.eye(len(scores)) - scores.softmax(0)) * scores.softmax(0),
        "half a percent off": lambda scores: 1.005 * softmax_jacobian(scores),
    },
    "scale.divisor": {
        "larger of the two": lambda d_k, std_query, std_key: max(std_query, std_key) * d_k**0.5,
        "one less": lambda d_k, std_query, std_key: std_query * std_key * (d_k - 1) ** 0.5,
        "query alone": lambda d_k, std_query, std_key: std_query * d_k**0.5,
        "sum of variances": lambda d_k, std_query, std_key: ((std_query**2 + std_key**2) * d_k) ** 0.5,
    },
    "scale.query_gradient": {
        "plus": lambda query, key: _with_mean(query, key, 1),
        "twice the mean": lambda query, key: _with_mean(query, key, -2),
        "plain mean taken off": lambda query, key: (
            (key @ query / len(query) ** 0.5).softmax(0)[:, None] * (key - key.mean(0)) / len(query) ** 0.5
        ),
    },
}


def _with_mean(query, key, factor):
    weights = (key @ query / len(query) ** 0.5).softmax(0)
    return weights[:, None] * (key + factor * weights @ key) / len(query) ** 0.5


RIGHT = {
    "scale.softmax_jacobian": {"of a leaf": lambda scores: softmax_jacobian(scores.requires_grad_())},
    "scale.divisor": {"root of the variance": lambda d_k, std_query, std_key: (d_k * std_query**2 * std_key**2) ** 0.5},
    "scale.query_gradient": {
        "keys less their mean": lambda query, key: _with_mean(query, key, -1),
        "autograd": lambda query, key: torch.autograd.functional.jacobian(
            lambda query: (key @ query / len(query) ** 0.5).softmax(0), query
        ),
    },
}
