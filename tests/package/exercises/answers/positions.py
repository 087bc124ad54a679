import torch

from attention_course.exercises.positions import add_codes, rotary_attention, rotate_halves, shift_matrix
from attention_course.positions import rotate


def _complex_rotation(tokens, position):
    """Rotation of halves by complex numbers: pair i is the number first_i + j second_i."""
    first, second = tokens.double().chunk(2, -1)
    angle = position[:, None].double() * 10_000.0 ** (-torch.arange(first.size(-1)) / first.size(-1))
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1)


WRONG = {
    "positions.add_codes": {
        "whole table": lambda tokens, table: tokens + table,
        "squeezed": lambda tokens, table: add_codes(tokens, table).squeeze(),
        "another code for each example": lambda tokens, table: (
            tokens + torch.stack([table.roll(i, 0)[: tokens.size(1)] for i in range(len(tokens))])
        ),
    },
    "positions.shift_matrix": {
        "always one step": lambda steps, d: shift_matrix(1, d),
        "size of the steps": lambda steps, d: shift_matrix(abs(steps), d),
        "frequencies reversed": lambda steps, d: shift_matrix(steps, d).flip(0, 1).T,
    },
    "positions.rotate_halves": {
        "sorted positions": lambda tokens, position: rotate_halves(tokens, position.sort().values),
        "angles by i / d": lambda tokens, position: rotate_halves(tokens.repeat(1, 2), position)[:, : tokens.size(1)],
    },
    "positions.rotary_attention": {
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
    "positions.add_codes": {"a loop": lambda tokens, table: torch.stack([x + table[: len(x)] for x in tokens])},
    "positions.rotate_halves": {"complex numbers": _complex_rotation},
}
