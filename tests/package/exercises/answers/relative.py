import torch

from attention_course.exercises.relative import alibi_bias, shaw_index

WRONG = {
    "relative.shaw_index": {
        "distance 2": lambda n, m, k: shaw_index(n, m, 2),
        "counted from the gap of 4": lambda n, m, k: (torch.arange(m) - torch.arange(n)[:, None] - 4).clamp(-k, k) + k,
        "past only": lambda n, m, k: shaw_index(n, m, k).clamp(max=k),
    },
    "relative.alibi_bias": {
        "heads reversed": lambda h, n, m: alibi_bias(h, n, m).flip(0),
        "squared distance": lambda h, n, m: alibi_bias(h, n, m) * alibi_bias(1, n, m).abs() * 2**8,
        "squeezed": lambda h, n, m: alibi_bias(h, n, m).squeeze(),
        "a gap of two": lambda h, n, m: alibi_bias(h, n, n + 2)[..., :m],
    },
}
