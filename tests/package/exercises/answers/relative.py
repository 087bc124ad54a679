import torch

from attention_course.exercises.relative import alibi_bias, shaw_index

WRONG = {
    "relative.shaw_index": {
        "floats": lambda n, m, k: shaw_index(n, m, k).float(),
        "distance 2": lambda n, m, k: shaw_index(n, m, 2),
        "counted from the gap of 4": lambda n, m, k: (torch.arange(m) - torch.arange(n)[:, None] - 4).clamp(-k, k) + k,
        "transposed": lambda n, m, k: shaw_index(n, m, k).T,
        "one off": lambda n, m, k: (shaw_index(n, m, k) + 1).clamp(max=2 * k),
        "past only": lambda n, m, k: shaw_index(n, m, k).clamp(max=k),
    },
    "relative.alibi_bias": {
        "four heads": lambda h, n, m: alibi_bias(4, n, m).mean(0).expand(h, -1, -1),
        "heads reversed": lambda h, n, m: alibi_bias(h, n, m).flip(0),
        "squared distance": lambda h, n, m: alibi_bias(h, n, m) * alibi_bias(1, n, m).abs() * 2**8,
        "squeezed": lambda h, n, m: alibi_bias(h, n, m).squeeze(),
        "causal": lambda h, n, m: alibi_bias(h, n, m).tril(m - n),
        "a gap of two": lambda h, n, m: alibi_bias(h, n, n + 2)[..., :m],
    },
}

RIGHT = {
    "relative.shaw_index": {
        "NumPy integers": lambda n, m, k: shaw_index(n, m, k).to(torch.int32).numpy(),
    },
    "relative.alibi_bias": {"double": lambda h, n, m: alibi_bias(h, n, m).double()},
}
