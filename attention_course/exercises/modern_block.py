"""Exercises of the page "What have today's models changed?"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

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

EXERCISES = (GATED_WIDTH,)
