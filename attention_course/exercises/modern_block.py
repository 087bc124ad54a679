"""Exercises of the page "What have today's models changed?"."""

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer

# --- the width of a gated layer -------------------------------------------------------------------------


def gated_width(d_model, multiple):
    return -(-(8 * d_model // 3) // multiple) * multiple


def _width_inputs(size, generator):
    d_model, multiple = integer(8 * size, 40 * size, generator), integer(2, 8 * size, generator)
    # Of three widths one is a multiple already, and one is a multiple once its decimals are dropped.
    if size % 3 == 1:
        d_model = 3 * multiple * d_model
    elif size % 3 == 2:
        d_model = 3 * d_model + 1
        multiple = 8 * d_model // 3
    return d_model, multiple


GATED_WIDTH = Exercise(
    "modern_block.gated_width",
    gated_width,
    _width_inputs,
    (
        Misconception(
            "no rounding",
            lambda d_model, multiple: 8 * d_model // 3,
            "Two thirds of 4 d_model, but not yet rounded up to a multiple.",
        ),
        Misconception(
            "rounds down",
            lambda d_model, multiple: 8 * d_model // 3 // multiple * multiple,
            "You rounded down. Llama rounds up, so that the layer is not narrower than two thirds of 4 d_model.",
        ),
        Misconception(
            "one multiple too many",
            lambda d_model, multiple: (8 * d_model // 3 // multiple + 1) * multiple,
            "Where the width is a multiple already, you add one more.",
        ),
        Misconception(
            "four times",
            lambda d_model, multiple: -(-(4 * d_model) // multiple) * multiple,
            "This is 4 d_model. A gated layer has three matrices, so it takes two thirds of that.",
        ),
        Misconception(
            "two thirds of the width",
            lambda d_model, multiple: -(-(2 * d_model // 3) // multiple) * multiple,
            "You took two thirds of d_model. The layer without a gate has 4 d_model units: two thirds of those.",
        ),
        Misconception(
            "does not drop the decimals",
            lambda d_model, multiple: -(-8 * d_model // (3 * multiple)) * multiple,
            "You rounded up from the exact two thirds. Drop what stands behind the decimal point first.",
        ),
        Misconception(
            "nearest multiple",
            lambda d_model, multiple: (8 * d_model // 3 + multiple // 2) // multiple * multiple,
            "You took the nearest multiple. It can lie below the width; Llama always rounds up.",
        ),
    ),
)


# --- operations of a block ----------------------------------------------------------------------------


def count_operations(n_tokens, d_model, n_heads, d_hidden):
    projections = 4 * 2 * n_tokens * d_model**2
    feed_forward = 3 * 2 * n_tokens * d_model * d_hidden
    pairs = 2 * 2 * n_tokens**2 * d_model
    return projections + feed_forward + pairs


def _operation_inputs(size, generator):
    n_heads = integer(2, 5, generator)
    d_model = n_heads * integer(1, size, generator)
    return integer(2, 9 * size, generator), d_model, n_heads, integer(2, 9 * size, generator)


OPERATIONS = Exercise(
    "modern_block.operations",
    count_operations,
    _operation_inputs,
    (
        Misconception(
            "multiply-adds",
            lambda t, d, h, f: count_operations(t, d, h, f) // 2,
            "You counted a multiplication and its addition as one. As operations they are two.",
        ),
        Misconception(
            "parameters only",
            lambda t, d, h, f: 8 * t * d**2 + 6 * t * d * f,
            "You counted each weight once for every token. Scores and blends have no weights, and cost n_tokens "
            "squared.",
        ),
        Misconception(
            "no blend",
            lambda t, d, h, f: count_operations(t, d, h, f) - 2 * t**2 * d,
            "The scores are there, but not the blend of the values: it costs as much again.",
        ),
        Misconception(
            "times the heads",
            lambda t, d, h, f: count_operations(t, d, h, f) + 4 * t**2 * d * (h - 1),
            "You counted scores and blends of width d_model for every head. A head is only d_model / n_heads wide.",
        ),
        Misconception(
            "divided by the heads",
            lambda t, d, h, f: count_operations(t, d, h, f) - 4 * t**2 * d + 4 * t**2 * d // h,
            "These are the scores and blends of one head. There are n_heads of them.",
        ),
        Misconception(
            "no output projection",
            lambda t, d, h, f: count_operations(t, d, h, f) - 2 * t * d**2,
            "Queries, keys and values were projected, but the joined heads not projected back.",
        ),
        Misconception(
            "two feed-forward matrices",
            lambda t, d, h, f: count_operations(t, d, h, f) - 2 * t * d * f,
            "You counted two matrices in the feed-forward layer. A gated layer has a third one, the gate's.",
        ),
        Misconception(
            "four times the width",
            lambda t, d, h, f: 24 * t * d**2 + 4 * t**2 * d,
            "You took a feed-forward layer of two matrices and 4 d_model units. Here it has d_hidden units and a gate.",
        ),
    ),
)

EXERCISES = (GATED_WIDTH, OPERATIONS)
