"""Exercises of the page "Why not a recurrent network?"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- merging two steps of a linear recurrence ------------------------------------------------------------


def merge(A_1, b_1, A_2, b_2):
    return A_1 @ A_2, b_1 @ A_2 + b_2


def _two_steps(size, generator):
    d = size + 1
    return tuple(normal(generator, *shape) for shape in ((d, d), (d,), (d, d), (d,)))


MERGE = Exercise(
    "recurrence.merge",
    merge,
    _two_steps,
    (
        Misconception(
            "the old state first from the right",
            lambda A_1, b_1, A_2, b_2: (A_2 @ A_1, b_1 @ A_2 + b_2),
            "The vector is right. The state is a row and meets A_1 first, so A_1 stands on the left in the product.",
        ),
        Misconception(
            "columns",
            lambda A_1, b_1, A_2, b_2: (A_2 @ A_1, A_2 @ b_1 + b_2),
            "You merged steps of the form A @ state + b. Here the state is a row: state @ A + b.",
        ),
        Misconception(
            "both are added",
            lambda A_1, b_1, A_2, b_2: (A_1 @ A_2, b_1 + b_2),
            "The matrix is right. What the first step adds passes through the second step too.",
        ),
        Misconception(
            "the second step's addition is multiplied",
            lambda A_1, b_1, A_2, b_2: (A_1 @ A_2, b_1 + b_2 @ A_1),
            "You let b_2 pass through the first step. It is added last, after both matrices.",
        ),
        Misconception(
            "the second step's addition is lost",
            lambda A_1, b_1, A_2, b_2: (A_1 @ A_2, b_1 @ A_2),
            "What the second step adds is missing.",
        ),
        Misconception(
            "steps exchanged",
            lambda A_1, b_1, A_2, b_2: (A_2 @ A_1, b_2 @ A_1 + b_1),
            "You did the second step first.",
        ),
        Misconception(
            "number by number",
            lambda A_1, b_1, A_2, b_2: (A_1 * A_2, b_1 @ A_2 + b_2),
            "The matrices were multiplied number by number. One matrix behind the other is a matrix product.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (MERGE,)
