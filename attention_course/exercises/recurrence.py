"""Exercises of the page "Why not a recurrent network?"."""

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer

# --- counting multiply-adds ------------------------------------------------------------------------------


def multiply_adds(n_tokens, d_model, d_k, d_v):
    return n_tokens * d_model * (2 * d_k + d_v) + n_tokens**2 * (d_k + d_v)


def _sizes(size, generator):
    return tuple(integer(2, size + 3, generator) for _ in range(4))


COUNT = Exercise(
    "recurrence.multiply_adds",
    multiply_adds,
    _sizes,
    (
        Misconception(
            "FLOPs",
            lambda n_tokens, d_model, d_k, d_v: 2 * multiply_adds(n_tokens, d_model, d_k, d_v),
            "You counted FLOPs, a multiplication and an addition apart: twice what was asked for.",
        ),
        Misconception(
            "no projections",
            lambda n_tokens, d_model, d_k, d_v: n_tokens**2 * (d_k + d_v),
            "The projections are missing. In short sequences they are most of the work.",
        ),
        Misconception(
            "projections only",
            lambda n_tokens, d_model, d_k, d_v: n_tokens * d_model * (2 * d_k + d_v),
            "You counted the projections. Scores and blend are missing, the part that grows with the square of "
            "the length.",
        ),
        Misconception(
            "no blend",
            lambda n_tokens, d_model, d_k, d_v: n_tokens * d_model * (2 * d_k + d_v) + n_tokens**2 * d_k,
            "The scores are there, but the blend of the values is a matrix product too.",
        ),
        Misconception(
            "values as wide as keys",
            lambda n_tokens, d_model, d_k, d_v: 3 * n_tokens * d_model * d_k + 2 * n_tokens**2 * d_k,
            "You took d_v to be d_k. Follow the shapes: values may be wider or narrower than keys.",
        ),
        Misconception(
            "one query",
            lambda n_tokens, d_model, d_k, d_v: n_tokens * d_model * (2 * d_k + d_v) + n_tokens * (d_k + d_v),
            "You counted the scores and the blend of one query. Each of the tokens asks.",
        ),
    ),
)

EXERCISES = (COUNT,)
