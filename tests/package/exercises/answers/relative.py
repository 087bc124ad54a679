import torch

from attention_course.exercises.relative import alibi_bias, rotary_attention, rotate_halves, shaw_index
from attention_course.positions import rotate


def _complex_rotation(tokens, position):
    """Rotation of halves by complex numbers: pair i is the number first_i + j second_i."""
    first, second = tokens.double().chunk(2, -1)
    angle = position[:, None].double() * 10_000.0 ** (-torch.arange(first.size(-1)) / first.size(-1))
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1)


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
    "relative.rotate_halves": {
        "sorted positions": lambda tokens, position: rotate_halves(tokens, position.sort().values),
        "angles by i / d": lambda tokens, position: rotate_halves(tokens.repeat(1, 2), position)[:, : tokens.size(1)],
    },
    "relative.rotary_attention": {
        "a gap of three": lambda query, key, value: (
            (
                rotate(query, torch.arange(3, 3 + len(query)))
                @ rotate(key, torch.arange(len(key))).T
                / key.size(1) ** 0.5
            ).softmax(-1)
            @ value
        ),
        "not scaled": lambda query, key, value: rotary_attention(query * key.size(1) ** 0.5, key, value),
        "all at the end": lambda query, key, value: torch.cat(
            [rotary_attention(query[i : i + 1], key, value) for i in range(len(query))]
        ),
    },
}

RIGHT = {
    "relative.rotate_halves": {"complex numbers": _complex_rotation},
}
