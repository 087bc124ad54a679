import math

import torch

from attention_course.exercises.reaching_farther import by_parts, raised_base, turned


def loop_over_pairs(frequency, length, factor, low, high):
    slowed = []
    for omega in frequency.tolist():
        turns = length * omega / (2 * math.pi)
        share = min(max((turns - low) / (high - low), 0), 1)
        slowed.append(omega * (share + (1 - share) / factor))
    return torch.tensor(slowed)


WRONG = {
    "reaching_farther.raised_base": {
        "half the exponent": lambda d_head, factor: (
            (10_000 * factor ** (d_head / (d_head - 2))) ** (-torch.arange(d_head // 2) / d_head)
        ),
        "the factor squared": lambda d_head, factor: raised_base(d_head, factor**2),
    },
    "reaching_farther.by_parts": {
        "keeps half everywhere": lambda frequency, length, factor, low, high: (frequency + frequency / factor) / 2,
        "unchanged": lambda frequency, length, factor, low, high: frequency,
        "starts at 0": lambda frequency, length, factor, low, high: by_parts(frequency, length, factor, 0, high),
    },
    "reaching_farther.turn": {
        "interpolated": lambda tokens, frequency: turned(tokens, frequency / 8),
        "in bfloat16 throughout": lambda tokens, frequency: turned(tokens, frequency.bfloat16()),
        "turned once": lambda tokens, frequency: turned(tokens, 0 * frequency + 1),
    },
}

RIGHT = {
    "reaching_farther.raised_base": {
        "from both ends": lambda d_head, factor: torch.logspace(
            0, math.log10(10_000 ** (-(d_head - 2) / d_head) / factor), d_head // 2
        ),
    },
    "reaching_farther.by_parts": {"a loop": loop_over_pairs},
    "reaching_farther.turn": {
        "complex numbers": lambda tokens, frequency: torch.view_as_real(
            torch.view_as_complex(tokens.float().unflatten(-1, (-1, 2)).contiguous())
            * torch.polar(torch.ones(1), torch.arange(len(tokens))[:, None] * frequency)
        ).flatten(-2),
        "in double, then rounded": lambda tokens, frequency: turned(tokens.double(), frequency.double()).float(),
    },
}
