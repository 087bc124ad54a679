"""Exercises of the page "What are the three matrices for?"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- two matrices in one -----------------------------------------------------------------------------


def merge(W_Q, W_K):
    return W_Q @ W_K.T / W_K.size(1) ** 0.5


def _merge_inputs(size, generator):
    return normal(generator, size + 2, size), normal(generator, size + 2, size)


MERGE = Exercise(
    "three_matrices.merge",
    merge,
    _merge_inputs,
    (
        Misconception(
            "no scaling",
            lambda W_Q, W_K: W_Q @ W_K.T,
            "The division by the root is missing. It can be done once, in this matrix.",
        ),
        Misconception(
            "scaled by d",
            lambda W_Q, W_K: W_Q @ W_K.T / W_K.size(0) ** 0.5,
            "You divided by the root of d, the width of the tokens. The scores sum over d_k numbers.",
        ),
        Misconception(
            "divided by d_k",
            lambda W_Q, W_K: W_Q @ W_K.T / W_K.size(1),
            "You divided by d_k. Scores are divided by its square root.",
        ),
        Misconception(
            "queries and keys exchanged",
            lambda W_Q, W_K: W_K @ W_Q.T / W_K.size(1) ** 0.5,
            "This is the transpose: in your scores the keys ask.",
        ),
        Misconception(
            "the inner product",
            lambda W_Q, W_K: W_Q.T @ W_K / W_K.size(1) ** 0.5,
            "Your matrix is d_k wide. It must take a token on either side, so it is d wide.",
        ),
    ),
)

EXERCISES = (MERGE,)
