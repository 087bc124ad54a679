"""Exercises of the lesson "Positions"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- a code for each token of a batch -----------------------------------------------------------


def add_codes(tokens, table):
    return tokens + table[: tokens.size(1)]


def _one_code_a_sequence(tokens, table):
    """Handed out to be fixed."""
    return tokens + table[: tokens.size(0), None]


def _add_inputs(size, generator):
    n_sequences, n_tokens, width = size - 1, size + 2, 2 * size
    n_positions = n_tokens + (3, 0, 1)[size % 3]
    return normal(generator, n_sequences, n_tokens, width), normal(generator, n_positions, width)


ADD = Exercise(
    "positions.add_codes",
    add_codes,
    _add_inputs,
    (
        Misconception(
            "the same code for all",
            lambda tokens, table: tokens + table[0],
            "Every token got the code of position 0, which tells it nothing about its place.",
        ),
        Misconception(
            "starts at 1",
            lambda tokens, table: tokens + table[1 : tokens.size(1) + 1],
            "Your first token got the code of position 1. Positions count from 0.",
        ),
        Misconception(
            "counts from the end",
            lambda tokens, table: tokens + table[-tokens.size(1) :],
            "You took the last rows of the table, so a token's code depends on how long the table is.",
        ),
        Misconception(
            "multiplies",
            lambda tokens, table: tokens * table[: tokens.size(1)],
            "You multiplied. A code is added; a product would wipe out features wherever the code is near 0.",
        ),
        Misconception(
            "concatenates",
            lambda tokens, table: torch.cat([tokens, table[: tokens.size(1)].expand(len(tokens), -1, -1)], -1),
            "You put the codes beside the tokens, which makes them twice as wide. Here they are added.",
        ),
        Misconception(
            "only the first sequence",
            lambda tokens, table: torch.cat([tokens[:1] + table[: tokens.size(1)], tokens[1:]]),
            "Only the first sequence of the batch got its codes.",
        ),
    ),
    given=_one_code_a_sequence,
    differentiable=True,
)


# --- the matrix that shifts a sinusoidal code ------------------------------------------------------


def _frequencies(d_model):
    return 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)


def _blocks(angle, make_block):
    """A block-diagonal matrix of the 2 × 2 blocks that `make_block(cos, sin)` gives for each angle."""
    return torch.block_diag(*[torch.tensor(make_block(a.cos().item(), a.sin().item())) for a in angle])


def shift_matrix(steps, d_model):
    angle = steps * _frequencies(d_model)
    return _blocks(angle, lambda cos, sin: [[cos, sin], [-sin, cos]])


def _shift_halves(steps, d_model):
    cos, sin = ((steps * _frequencies(d_model)).cos().diag(), (steps * _frequencies(d_model)).sin().diag())
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])


SHIFT = Exercise(
    "positions.shift_matrix",
    shift_matrix,
    lambda size, generator: (integer(-3, 9, generator), 2 * size),
    (
        Misconception(
            "shifts back",
            lambda steps, d_model: shift_matrix(-steps, d_model),
            "Your matrix shifts the other way. The textbook rotation turns a pair (cos, sin) forwards; "
            "our pairs are (sin, cos).",
        ),
        Misconception(
            "one frequency",
            lambda steps, d_model: _blocks(
                torch.full((d_model // 2,), float(steps)), lambda cos, sin: [[cos, sin], [-sin, cos]]
            ),
            "Every pair turns by the same angle. Pair i has a frequency of its own.",
        ),
        Misconception(
            "frequencies out of step",
            lambda steps, d_model: _blocks(
                steps * 10_000.0 ** (-torch.arange(d_model // 2) / d_model),
                lambda cos, sin: [[cos, sin], [-sin, cos]],
            ),
            "Your exponent is -i / d_model, but it should be -2i / d_model, with i counting pairs: "
            "the frequencies fall only half as far as they should.",
        ),
        Misconception(
            "sines first, cosines after",
            _shift_halves,
            "Your matrix is right for codes with all sines first and all cosines after. Ours alternate.",
        ),
        Misconception(
            "no minus",
            lambda steps, d_model: shift_matrix(steps, d_model).where(
                torch.ones(d_model, d_model).triu() > 0, -shift_matrix(steps, d_model)
            ),
            "Both sines have the same sign in your blocks, so they do not keep lengths: this is no rotation. "
            "Look at the second addition theorem once more.",
        ),
        Misconception(
            "no sines",
            lambda steps, d_model: shift_matrix(steps, d_model).diag().diag(),
            "You scaled sines and cosines one by one. In sin(a + b) = sin a cos b + cos a sin b they mix.",
        ),
    ),
)


EXERCISES = (ADD, SHIFT)
