"""Exercises of the page "Reading a forward pass"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import normal


def sick_sentences(output):
    return output.isnan().flatten(1).any(-1)


def _outputs(size, generator):
    output = normal(generator, 5, size, size + 1)
    output[0, -1, 0] = torch.nan  # one number
    output[3, 0, -1] = torch.nan
    output[1] = torch.nan  # all of them
    output[2, 0, 0] = torch.inf
    order = torch.randperm(5, generator=generator)
    return (output[order],)


SICK = Exercise(
    "forward_pass.sick_sentences",
    sick_sentences,
    _outputs,
    (
        Misconception(
            "all of it",
            lambda output: output.isnan().flatten(1).all(-1),
            "You ask whether all numbers of a sentence are NaN. One is enough.",
        ),
        Misconception(
            "compared with NaN",
            lambda output: (output == torch.nan).flatten(1).any(-1),
            "NaN is not equal to anything, itself included, so `== nan` is false everywhere. Use `isnan`.",
        ),
        Misconception(
            "infinity too",
            lambda output: ~output.isfinite().flatten(1).all(-1),
            "You count infinite numbers as NaN. They are worth a look of their own, but the question is about NaN.",
        ),
        Misconception(
            "over the batch",
            lambda output: output.isnan().any(0),
            "You went over the batch: whether any sentence has a NaN at a place. Keep the first dimension.",
        ),
        Misconception(
            "one dimension left",
            lambda output: output.isnan().any(-1),
            "That is one answer for each token. A sentence is sick if any of its tokens is.",
        ),
        Misconception(
            "the healthy ones",
            lambda output: ~output.isnan().flatten(1).any(-1),
            "These are the healthy sentences.",
        ),
    ),
)

EXERCISES = (SICK,)
