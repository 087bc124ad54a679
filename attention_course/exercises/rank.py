"""Exercises of the page "Narrow heads, and attention alone"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal


def apart(tokens):
    rest = tokens - tokens.mean(-2, keepdim=True)
    return rest.flatten(1).norm(dim=-1) / tokens.flatten(1).norm(dim=-1)


def _apart_inputs(size, generator):
    return (normal(generator, 1 + size % 3, size + 2, size + 5) + 1,)


APART = Exercise(
    "rank.apart",
    apart,
    _apart_inputs,
    (
        Misconception(
            "mean over features",
            lambda tokens: (
                (tokens - tokens.mean(-1, keepdim=True)).flatten(1).norm(dim=-1) / tokens.flatten(1).norm(dim=-1)
            ),
            "You took away each token's mean over its features, as layer norm does. What all tokens share is the mean "
            "over the tokens.",
        ),
        Misconception(
            "one mean for all",
            lambda tokens: (
                (tokens - tokens.mean((-2, -1), keepdim=True)).flatten(1).norm(dim=-1) / tokens.flatten(1).norm(dim=-1)
            ),
            "You took away one number for the whole matrix. What the tokens share is a row: a mean for each feature.",
        ),
        Misconception(
            "mean over the batch too",
            lambda tokens: (
                (tokens - tokens.mean((0, 1), keepdim=True)).flatten(1).norm(dim=-1) / tokens.flatten(1).norm(dim=-1)
            ),
            "Your mean runs over the batch as well. Each sequence has a mean of its own.",
        ),
        Misconception(
            "not divided",
            lambda tokens: (tokens - tokens.mean(-2, keepdim=True)).flatten(1).norm(dim=-1),
            "This is the size of what differs. Divide by the size of the tokens: a stack that makes everything smaller "
            "has not yet made everything the same.",
        ),
        Misconception(
            "one for the batch",
            lambda tokens: (tokens - tokens.mean(-2, keepdim=True)).norm() / tokens.norm(),
            "One number came back for the whole batch. Each sequence has its own.",
        ),
        Misconception(
            "squares",
            lambda tokens: apart(tokens) ** 2,
            "This is the share of the squares. Take the root: it is the norms that are divided.",
        ),
    ),
)

EXERCISES = (APART,)
