import torch
import torch.nn.functional as F

from attention_course.exercises.scaled_dot_product import (
    attention,
    attention_weights,
    drop_weights,
    retrieve,
    softmax_jacobian,
)

WRONG = {
    "scaled_dot_product.attention": {
        "three dimensions only": lambda query, key, value: (
            torch.bmm(query, key.transpose(1, 2)).div(key.size(2) ** 0.5).softmax(2).bmm(value)
        ),
        "four dimensions only": lambda query, key, value: torch.einsum(
            "bhqk,bhkd->bhqd",
            (torch.einsum("bhqc,bhkc->bhqk", query, key) / key.size(-1) ** 0.5).softmax(-1),
            value,
        ),
        "scale of the values": lambda query, key, value: (
            (query @ key.transpose(-2, -1) / value.size(-1) ** 0.5).softmax(-1) @ value
        ),
        "scale of the batch": lambda query, key, value: (
            (query @ key.transpose(-2, -1) / key.size(0) ** 0.5).softmax(-1) @ value
        ),
        "softmax over dimension 1": lambda query, key, value: (
            (query @ key.transpose(-2, -1) / key.size(-1) ** 0.5).softmax(1) @ value
        ),
        "returns the weights too": lambda query, key, value: (attention(query, key, value), query),
        "complex": lambda query, key, value: attention(query, key, value) + 1j,
        "causal": lambda query, key, value: F.scaled_dot_product_attention(query, key, value, is_causal=True),
    },
    "scaled_dot_product.temperature": {
        "squared": lambda query, key, temperature: attention_weights(query, key, temperature**2),
        "added": lambda query, key, temperature: (query @ key.T / (temperature + key.size(-1) ** 0.5)).softmax(-1),
        "softmax over the queries": lambda query, key, temperature: (
            query @ key.T / temperature / key.size(-1) ** 0.5
        ).softmax(0),
        "complex": lambda query, key, temperature: attention_weights(query, key, temperature) + 1j,
    },
    "scaled_dot_product.softmax_jacobian": {
        "squared diagonal": lambda scores: (
            torch.diag(scores.softmax(0) ** 2) - torch.outer(scores.softmax(0), scores.softmax(0))
        ),
        "sigmoid": lambda scores: torch.diag(scores.sigmoid() * (1 - scores.sigmoid())),
        "columns scaled": lambda scores: (torch.eye(len(scores)) - scores.softmax(0)) * scores.softmax(0),
        "complex": lambda scores: softmax_jacobian(scores) * (1 + 1j),
        "half a percent off": lambda scores: 1.005 * softmax_jacobian(scores),
    },
    "scaled_dot_product.dropout": {
        "measured share": lambda weights, keep, p: weights * keep / keep.float().mean(),
        "root of the share": lambda weights, keep, p: weights * keep / (1 - p) ** 0.5,
        "dropout once more": lambda weights, keep, p: F.dropout(weights, p),
        "plus": lambda weights, keep, p: weights * keep / (1 + p),
        "boolean": lambda weights, keep, p: keep,
    },
    "scaled_dot_product.retrieve": {
        "softmax over the features": lambda state, patterns, beta: retrieve(state, patterns.softmax(1), beta),
        "beta outside": lambda state, patterns, beta: beta * (patterns @ state).softmax(0) @ patterns,
        "added to the state": lambda state, patterns, beta: state + retrieve(state, patterns, beta),
        "two updates": lambda state, patterns, beta: retrieve(retrieve(state, patterns, beta), patterns, beta),
    },
}

RIGHT = {
    "scaled_dot_product.attention": {
        "PyTorch's": F.scaled_dot_product_attention,
        "einsum": lambda query, key, value: torch.einsum(
            "...qk,...kd->...qd",
            (torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5).softmax(-1),
            value,
        ),
        "double": lambda query, key, value: attention(query.double(), key.double(), value.double()),
    },
    "scaled_dot_product.softmax_jacobian": {
        "negative strides": lambda scores: softmax_jacobian(scores.flip(0)).numpy()[::-1, ::-1],
        "a list of lists": lambda scores: softmax_jacobian(scores).tolist(),
        "of a leaf": lambda scores: softmax_jacobian(scores.requires_grad_()),
    },
    "scaled_dot_product.dropout": {"where": lambda weights, keep, p: torch.where(keep, weights / (1 - p), 0)},
    "scaled_dot_product.retrieve": {
        "PyTorch's": lambda state, patterns, beta: F.scaled_dot_product_attention(
            state[None], patterns, patterns, scale=beta
        )[0]
    },
    "scaled_dot_product.temperature": {
        "in steps": lambda query, key, temperature: drop_weights(
            attention_weights(query / temperature, key, 1.0), torch.tensor(True), 0.0
        )
    },
}
