import math

import torch

from attention_course.exercises.length import by_parts, raised_base


def loop_over_pairs(frequency, length, factor, low, high):
    slowed = []
    for omega in frequency.tolist():
        turns = length * omega / (2 * math.pi)
        share = min(max((turns - low) / (high - low), 0), 1)
        slowed.append(omega * (share + (1 - share) / factor))
    return torch.tensor(slowed)


WRONG = {
    "length.raised_base": {
        "half the exponent": lambda d_head, factor: (
            (10_000 * factor ** (d_head / (d_head - 2))) ** (-torch.arange(d_head // 2) / d_head)
        ),
        "the base": lambda d_head, factor: torch.tensor(10_000 * factor ** (d_head / (d_head - 2))),
        "a number for each feature": lambda d_head, factor: raised_base(d_head, factor).repeat_interleave(2),
        "the factor squared": lambda d_head, factor: raised_base(d_head, factor**2),
    },
    "length.by_parts": {
        "keeps half everywhere": lambda frequency, length, factor, low, high: (frequency + frequency / factor) / 2,
        "limits exchanged": lambda frequency, length, factor, low, high: by_parts(frequency, length, factor, high, low),
        "another length": lambda frequency, length, factor, low, high: by_parts(
            frequency, length / factor, factor, low, high
        ),
        "unchanged": lambda frequency, length, factor, low, high: frequency,
        "starts at 0": lambda frequency, length, factor, low, high: by_parts(frequency, length, factor, 0, high),
    },
}

RIGHT = {
    "length.raised_base": {
        "from both ends": lambda d_head, factor: torch.logspace(
            0, math.log10(10_000 ** (-(d_head - 2) / d_head) / factor), d_head // 2
        ),
        "double": lambda d_head, factor: raised_base(d_head, factor).double(),
    },
    "length.by_parts": {"a loop": loop_over_pairs},
}
