"""Exercises of the page "Reaching farther"."""

import math

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

TRAINED_BASE = 10_000.0


def _number(generator, low, high):
    return low + (high - low) * torch.rand((), generator=generator).item()


def _powers(base, d_head):
    """The frequencies of a head: `base ** (-2i / d_head)` for each pair."""
    return base ** (-torch.arange(0, d_head, 2) / d_head)


# --- NTK-aware scaling: a larger base ------------------------------------------------------------


def raised_base(d_head, factor):
    return _powers(TRAINED_BASE * factor ** (d_head / (d_head - 2)), d_head)


def _only_slowest(d_head, factor):
    frequency = _powers(TRAINED_BASE, d_head)
    return torch.cat([frequency[:-1], frequency[-1:] / factor])


RAISED = Exercise(
    "reaching_farther.raised_base",
    raised_base,
    # From four pairs on: with fewer, several mistakes give the same two or three numbers.
    lambda size, generator: (2 * size + 4, _number(generator, 2, 16)),
    (
        Misconception(
            "base times factor",
            lambda d_head, factor: _powers(TRAINED_BASE * factor, d_head),
            "You multiplied the base by the factor. The slowest pair's exponent is (d - 2) / d, not 1, so it is "
            "slowed by less than the factor.",
        ),
        Misconception(
            "the power upside down",
            lambda d_head, factor: _powers(TRAINED_BASE * factor ** ((d_head - 2) / d_head), d_head),
            "The power of the factor is upside down: it must undo the slowest pair's exponent, (d - 2) / d.",
        ),
        Misconception(
            "base lowered",
            lambda d_head, factor: _powers(TRAINED_BASE / factor ** (d_head / (d_head - 2)), d_head),
            "You lowered the base, which makes pairs turn faster. They must turn more slowly.",
        ),
        Misconception(
            "interpolates",
            lambda d_head, factor: _powers(TRAINED_BASE, d_head) / factor,
            "You divided all frequencies: that is position interpolation. Here the fastest pair turns as before.",
        ),
        Misconception(
            "not slowed",
            lambda d_head, factor: _powers(TRAINED_BASE, d_head),
            "These are the trained frequencies. The slowest pair must turn more slowly by the factor.",
        ),
        Misconception(
            "only the slowest pair",
            _only_slowest,
            "You slowed the slowest pair alone. The pairs in between belong to the new base, too.",
        ),
        Misconception(
            "slowed along a line",
            lambda d_head, factor: _powers(TRAINED_BASE, d_head) / torch.linspace(1, factor, d_head // 2),
            "Both ends are right, but between them you divided by numbers on a line. With one base, each pair is "
            "slowed by the same ratio more than the one before.",
        ),
        Misconception(
            "wavelengths",
            lambda d_head, factor: 2 * math.pi / raised_base(d_head, factor),
            "These are the wavelengths. The frequencies are 2π divided by them.",
        ),
    ),
)


# --- NTK-by-parts, with a gradual change -----------------------------------------------------------


def _share(frequency, length, low, high):
    return ((length * frequency / (2 * math.pi) - low) / (high - low)).clamp(0, 1)


def _blend(share, frequency, factor):
    return share * frequency + (1 - share) * frequency / factor


def by_parts(frequency, length, factor, low, high):
    return _blend(_share(frequency, length, low, high), frequency, factor)


def _unclamped(frequency, length, factor, low, high):
    share = (length * frequency / (2 * math.pi) - low) / (high - low)
    return _blend(share, frequency, factor)


def _parts_inputs(size, generator):
    frequency = _powers(TRAINED_BASE, 4 * size + 4)
    low = _number(generator, 0.5, 1.5)
    return frequency, 32 * integer(1, 5, generator), _number(generator, 2, 9), low, low + _number(generator, 2, 4)


PARTS = Exercise(
    "reaching_farther.by_parts",
    by_parts,
    _parts_inputs,
    (
        Misconception(
            "shares exchanged",
            lambda frequency, length, factor, low, high: _blend(
                1 - _share(frequency, length, low, high), frequency, factor
            ),
            "You slowed the fast pairs and kept the slow ones. Those that made many turns in training are kept.",
        ),
        Misconception(
            "not clamped",
            _unclamped,
            "Your share goes on below 0 and above 1. A pair beyond the limits is kept as it is, or divided.",
        ),
        Misconception(
            "radians for turns",
            lambda frequency, length, factor, low, high: by_parts(frequency, 2 * math.pi * length, factor, low, high),
            "length · frequency is an angle in radians. A turn is 2π of them.",
        ),
        Misconception(
            "blends the wavelengths",
            lambda frequency, length, factor, low, high: (
                frequency / (_share(frequency, length, low, high) + (1 - _share(frequency, length, low, high)) * factor)
            ),
            "You blended the wavelengths. The blend is of frequencies.",
        ),
        Misconception(
            "a hard cut",
            lambda frequency, length, factor, low, high: _blend(
                (_share(frequency, length, low, high) > 0).float(), frequency, factor
            ),
            "You cut hard at low, as the page does. Between low and high the share grows gradually.",
        ),
        Misconception(
            "a hard cut at high",
            lambda frequency, length, factor, low, high: _blend(
                (_share(frequency, length, low, high) >= 1).float(), frequency, factor
            ),
            "You cut hard at high. Between low and high the share grows gradually.",
        ),
        Misconception(
            "interpolates",
            lambda frequency, length, factor, low, high: frequency / factor,
            "You divided all frequencies: that is position interpolation.",
        ),
        Misconception(
            "share by the pair's number",
            lambda frequency, length, factor, low, high: _blend(
                torch.linspace(1, 0, len(frequency)), frequency, factor
            ),
            "Your share falls evenly with the pair's number. It is to grow evenly with the turns that the pair makes "
            "within the trained length.",
        ),
        Misconception(
            "multiplies",
            lambda frequency, length, factor, low, high: _blend(
                _share(frequency, length, low, high), frequency, 1 / factor
            ),
            "You multiplied by the factor, so slow pairs turn faster. They are divided.",
        ),
        Misconception(
            "the share itself",
            lambda frequency, length, factor, low, high: _share(frequency, length, low, high),
            "You returned the share. Blend the two frequencies with it.",
        ),
    ),
)


# --- turning, for tokens in half precision ---------------------------------------------------------


def _joined(tokens, frequency, *, place=None, half_angles=False, turn=1, halves=False):
    place = torch.arange(len(tokens)) if place is None else place
    angle = place[:, None] * frequency
    if half_angles:
        angle = angle.to(tokens.dtype).float()
    cos, sin = angle.cos(), turn * angle.sin()
    even, odd = tokens[..., 0::2], tokens[..., 1::2]
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    return torch.cat(turned, -1) if halves else torch.stack(turned, -1).flatten(-2)


def turned(tokens, frequency):
    return _joined(tokens, frequency)


def _in_half(tokens):
    return torch.arange(len(tokens), dtype=tokens.dtype)


def _turn_inputs(size, generator):
    # Beyond 256, where whole numbers in bfloat16 have gaps.
    tokens = normal(generator, 260 + 3 * size + integer(1, 3, generator), 2 * size)
    # Slow turns: angles in 32 and in 64 bits are then as good as equal.
    return tokens.bfloat16(), _powers(TRAINED_BASE, 2 * size) / 32


TURN = Exercise(
    "reaching_farther.turn",
    turned,
    _turn_inputs,
    (
        Misconception(
            "places in half precision",
            lambda tokens, frequency: _joined(tokens, frequency, place=_in_half(tokens)),
            "The pairs come back to their own columns. But late places are still rounded: bfloat16 does not hold every "
            "integer above 256.",
        ),
        Misconception(
            "all first features in front",
            lambda tokens, frequency: _joined(tokens, frequency, halves=True),
            "The places are exact now. But you put the first features of all pairs in front, and the second ones "
            "behind. Each pair belongs in its own two columns.",
        ),
        Misconception(
            "angles in half precision",
            lambda tokens, frequency: _joined(tokens, frequency, half_angles=True),
            "You rounded the angles to bfloat16, which keeps two or three digits of them. Keep places and angles in 32 "
            "bits.",
        ),
        Misconception(
            "turned the other way",
            lambda tokens, frequency: _joined(tokens, frequency, turn=-1),
            "You turn the other way. The rotation in the given code was right.",
        ),
        Misconception(
            "result in half precision",
            lambda tokens, frequency: turned(tokens, frequency).to(tokens.dtype).float(),
            "Somewhere you rounded the turned tokens to bfloat16. They are asked for in float32.",
        ),
        Misconception(
            "counted from 1",
            lambda tokens, frequency: _joined(tokens, frequency, place=torch.arange(len(tokens)) + 1),
            "Your places begin at 1. The first token stands at place 0.",
        ),
        Misconception(
            "not turned",
            lambda tokens, frequency: tokens.float(),
            "These are the tokens as they were.",
        ),
    ),
    given=lambda tokens, frequency: _joined(tokens, frequency, place=_in_half(tokens), halves=True),
)

EXERCISES = (RAISED, PARTS, TURN)
