import torch

from attention_course.exercises.efficient import gated_sums, linear_attention


def in_parallel(q, k, v, g):
    passed = g.log().cumsum(0)
    weights = (q @ k.T * (passed[:, None] - passed).exp()).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


WRONG = {
    "efficient.linear": {
        "squeezed": lambda q, k, v, mask: linear_attention(q, k, v, mask).squeeze(),
        "softmax": lambda q, k, v, mask: (q @ k.T).masked_fill(~mask, -torch.inf).softmax(-1) @ v,
        "half the keys": lambda q, k, v, mask: linear_attention(q, k, v, mask & (torch.arange(len(mask)) < len(q))),
        "a safe denominator": lambda q, k, v, mask: (
            (q @ ((k * mask[:, None]).T @ v)) / ((q @ (k * mask[:, None]).sum(0))[:, None] + 0.1)
        ),
        "first query's normaliser": lambda q, k, v, mask: (
            (q @ ((k * mask[:, None]).T @ v)) / (q[:1] @ (k * mask[:, None]).sum(0))
        ),
    },
    "efficient.gated_sums": {
        "gates squared": lambda q, k, v, g: gated_sums(q, k, v, g**2),
        "the mean gate": lambda q, k, v, g: gated_sums(q, k, v, g.mean().expand_as(g)),
        "a sigmoid again": lambda q, k, v, g: gated_sums(q, k, v, g.sigmoid()),
    },
}

RIGHT = {
    "efficient.linear": {
        "with the matrix": lambda q, k, v, mask: (w := q @ k.T * mask) / w.sum(-1, keepdim=True) @ v,
        "only visible keys": lambda q, k, v, mask: q @ (k[mask].T @ v[mask]) / (q @ k[mask].sum(0))[:, None],
    },
    "efficient.gated_sums": {"in parallel": in_parallel},
}
