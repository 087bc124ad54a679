import torch

from attention_course.exercises.scale import divisor, query_gradient, softmax_jacobian

WRONG = {
    "scale.softmax_jacobian": {
        "squared diagonal": lambda scores: (
            torch.diag(scores.softmax(0) ** 2) - torch.outer(scores.softmax(0), scores.softmax(0))
        ),
        "sigmoid": lambda scores: torch.diag(scores.sigmoid() * (1 - scores.sigmoid())),
        "columns scaled": lambda scores: (torch.eye(len(scores)) - scores.softmax(0)) * scores.softmax(0),
        "complex": lambda scores: softmax_jacobian(scores) * (1 + 1j),
        "half a percent off": lambda scores: 1.005 * softmax_jacobian(scores),
    },
    "scale.divisor": {
        "mean of the two": lambda d_k, std_query, std_key: (std_query + std_key) / 2 * d_k**0.5,
        "larger of the two": lambda d_k, std_query, std_key: max(std_query, std_key) * d_k**0.5,
        "one less": lambda d_k, std_query, std_key: std_query * std_key * (d_k - 1) ** 0.5,
        "query alone": lambda d_k, std_query, std_key: std_query * d_k**0.5,
        "sum of variances": lambda d_k, std_query, std_key: ((std_query**2 + std_key**2) * d_k) ** 0.5,
        "complex": lambda d_k, std_query, std_key: divisor(d_k, std_query, std_key) + 1j,
    },
    "scale.query_gradient": {
        "by the keys": lambda query, key: torch.outer((key @ query).softmax(0), query),
        "plus": lambda query, key: _with_mean(query, key, 1),
        "twice the mean": lambda query, key: _with_mean(query, key, -2),
        "sign": lambda query, key: -query_gradient(query, key),
        "plain mean taken off": lambda query, key: (
            (key @ query / len(query) ** 0.5).softmax(0)[:, None] * (key - key.mean(0)) / len(query) ** 0.5
        ),
    },
}


def _with_mean(query, key, factor):
    weights = (key @ query / len(query) ** 0.5).softmax(0)
    return weights[:, None] * (key + factor * weights @ key) / len(query) ** 0.5


RIGHT = {
    "scale.softmax_jacobian": {
        "negative strides": lambda scores: softmax_jacobian(scores.flip(0)).numpy()[::-1, ::-1],
        "a list of lists": lambda scores: softmax_jacobian(scores).tolist(),
        "of a leaf": lambda scores: softmax_jacobian(scores.requires_grad_()),
    },
    "scale.divisor": {
        "root of the variance": lambda d_k, std_query, std_key: (d_k * std_query**2 * std_key**2) ** 0.5,
        "a tensor": lambda d_k, std_query, std_key: torch.tensor(divisor(d_k, std_query, std_key)),
    },
    "scale.query_gradient": {
        "keys less their mean": lambda query, key: _with_mean(query, key, -1),
        "autograd": lambda query, key: torch.autograd.functional.jacobian(
            lambda query: (key @ query / len(query) ** 0.5).softmax(0), query
        ),
    },
}
