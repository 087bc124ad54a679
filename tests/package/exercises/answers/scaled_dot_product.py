import torch
import torch.nn.functional as F

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
        "scale of the batch": lambda query, key, value: (
            (query @ key.transpose(-2, -1) / key.size(0) ** 0.5).softmax(-1) @ value
        ),
    },
    "scaled_dot_product.closeness": {
        "sum of differences": lambda query, key, value: (-(torch.cdist(query, key, p=1) ** 2) / 2).softmax(-1) @ value,
        "length of the keys added": lambda query, key, value: (
            (query @ key.T + key.square().sum(-1) / 2).softmax(-1) @ value
        ),
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
    },
    "scaled_dot_product.closeness": {
        "cdist": lambda query, key, value: (-(torch.cdist(query, key) ** 2) / 2).softmax(-1) @ value,
        "without the query's length": lambda query, key, value: (
            (query @ key.T - key.square().sum(-1) / 2).softmax(-1) @ value
        ),
    },
}
