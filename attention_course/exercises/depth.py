"""Exercises of the page "What keeps deep stacks trainable?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- the schedule of 2017 ---------------------------------------------------------------------------------


def rate(step, d_model, warm_up):
    return d_model**-0.5 * min(step**-0.5, step * warm_up**-1.5)


def _rate_inputs(size, generator):
    warm_up = 10 * size
    share = torch.rand((), generator=generator).item()
    step = int(warm_up ** (share if size % 2 else 1 + share))  # before the end of the warm-up, or after it
    return step, integer(2, 9 * size, generator), warm_up


RATE = Exercise(
    "depth.rate",
    rate,
    _rate_inputs,
    (
        Misconception(
            "max for min",
            lambda step, d_model, warm_up: d_model**-0.5 * max(step**-0.5, step * warm_up**-1.5),
            "You took the larger of the two branches: the rate starts high, falls, and then grows for ever.",
        ),
        Misconception(
            "no warm-up",
            lambda step, d_model, warm_up: d_model**-0.5 * step**-0.5,
            "This is the second half alone: the rate is highest at the very first step.",
        ),
        Misconception(
            "constant afterwards",
            lambda step, d_model, warm_up: d_model**-0.5 * min(step, warm_up) * warm_up**-1.5,
            "After the warm-up the rate stays at its peak. Here it falls again, with the root of the step.",
        ),
        Misconception(
            "branches do not meet",
            lambda step, d_model, warm_up: d_model**-0.5 * min(step**-0.5, step / warm_up),
            "The two branches do not meet at the end of the warm-up. At step = warm_up both must be warm_up ** -0.5.",
        ),
        Misconception(
            "no width",
            lambda step, d_model, warm_up: min(step**-0.5, step * warm_up**-1.5),
            "The width is missing: wide models take smaller steps.",
        ),
        Misconception(
            "width without the root",
            lambda step, d_model, warm_up: min(step**-0.5, step * warm_up**-1.5) / d_model,
            "The width came without its root.",
        ),
    ),
)


# --- a DeepNorm step ------------------------------------------------------------------------------------


def deep_norm(stream, layer, norm, n_blocks):
    return norm((2 * n_blocks) ** 0.25 * stream + layer(stream))


def _layer(matrix):
    """Stands for attention or a feed-forward layer."""
    return lambda tokens: (tokens @ matrix).tanh()


def _norm(gain):
    """A layer norm whose gain is not 1, so that it shows where the norm stands."""
    return lambda tokens: gain * torch.nn.functional.layer_norm(tokens, gain.shape)


def _step_inputs(size, generator):
    d_model = size + 3
    return (
        2 * normal(generator, size, d_model) + 1,
        _layer(normal(generator, d_model, d_model)),
        _norm(1 + normal(generator, d_model) / 3),
        integer(2, 10 * size, generator),
    )


def _scaled(stream, layer, norm, factor):
    return norm(factor * stream + layer(stream))


DEEP_NORM = Exercise(
    "depth.deep_norm",
    deep_norm,
    _step_inputs,
    (
        Misconception(
            "plain post-norm",
            lambda stream, layer, norm, n_blocks: _scaled(stream, layer, norm, 1.0),
            "This is the post-norm step of 2017. Either the factor is missing, or it multiplies the whole sum: then "
            "the norm divides it out again.",
        ),
        Misconception(
            "alpha on the update",
            lambda stream, layer, norm, n_blocks: norm(stream + (2 * n_blocks) ** 0.25 * layer(stream)),
            "You multiplied what the layer adds, or divided the stream, which the norm makes the same. The stream must "
            "count for more, not for less.",
        ),
        Misconception(
            "the layer reads the scaled stream",
            lambda stream, layer, norm, n_blocks: norm(
                (2 * n_blocks) ** 0.25 * stream + layer((2 * n_blocks) ** 0.25 * stream)
            ),
            "The layer reads the multiplied stream. Only the path around the layer is multiplied.",
        ),
        Misconception(
            "square root",
            lambda stream, layer, norm, n_blocks: _scaled(stream, layer, norm, (2 * n_blocks) ** 0.5),
            "Your factor is the square root of twice the number of blocks. The paper takes the fourth root.",
        ),
        Misconception(
            "blocks, not layers",
            lambda stream, layer, norm, n_blocks: _scaled(stream, layer, norm, n_blocks**0.25),
            "A block holds two sums, one behind attention and one behind the feed-forward layer. Count the sums.",
        ),
        Misconception(
            "pre-norm",
            lambda stream, layer, norm, n_blocks: (2 * n_blocks) ** 0.25 * stream + layer(norm(stream)),
            "The norm stands before the layer. Here it stands behind the sum, as in 2017.",
        ),
        Misconception(
            "no norm",
            lambda stream, layer, norm, n_blocks: (2 * n_blocks) ** 0.25 * stream + layer(stream),
            "The norm is missing. Multiplied by more than 1 in each step, the stream would grow without end.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (RATE, DEEP_NORM)
