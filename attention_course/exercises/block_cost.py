"""Exercises of the page "What does a block cost?"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

# --- parameters of a block ---------------------------------------------------------------------------


def count_parameters(d_model, n_heads, d_hidden):
    attention = 4 * d_model**2 + 4 * d_model
    feed_forward = 2 * d_model * d_hidden + d_hidden + d_model
    return attention + feed_forward + 2 * 2 * d_model


def _parameter_inputs(size, generator):
    n_heads = integer(2, 5, generator)
    return n_heads * integer(1, size, generator), n_heads, integer(2, 9 * size, generator)


PARAMETERS = Exercise(
    "block_cost.parameters",
    count_parameters,
    _parameter_inputs,
    (
        Misconception(
            "no biases",
            lambda d, h, f: 4 * d**2 + 2 * d * f + 4 * d,
            "The biases of the linear layers are missing: each has one for every output.",
        ),
        Misconception(
            "matrices alone",
            lambda d, h, f: 4 * d**2 + 2 * d * f,
            "You counted the matrices alone: biases and norms are missing.",
        ),
        Misconception(
            "times the heads",
            lambda d, h, f: count_parameters(d, h, f) + (h - 1) * 4 * (d**2 + d),
            "You counted the projections once for every head. The heads share d_model between them: their number "
            "changes nothing.",
        ),
        Misconception(
            "no output projection",
            lambda d, h, f: count_parameters(d, h, f) - d**2 - d,
            "Three projections counted, for queries, keys and values. A fourth brings the joined heads back.",
        ),
        Misconception(
            "no layer norms",
            lambda d, h, f: count_parameters(d, h, f) - 4 * d,
            "4 · d_model are missing: the gains and biases of the two norms, or the biases of the four projections.",
        ),
        Misconception(
            "half of the layer norms",
            lambda d, h, f: count_parameters(d, h, f) - 2 * d,
            "Layer norms are half counted. Each of the two layers has one, and each norm has a gain and a bias.",
        ),
        Misconception(
            "four times d_model",
            lambda d, h, f: count_parameters(d, h, 4 * d),
            "You took 4 d_model hidden units. Here there are d_hidden.",
        ),
        Misconception(
            "one of two",
            lambda d, h, f: count_parameters(d, h, f) - d * f - d,
            "The feed-forward layer has two matrices: up to d_hidden, and back.",
        ),
    ),
)


# --- counting multiply-adds ------------------------------------------------------------------------------


def multiply_adds(n_tokens, d_model, d_k, d_v):
    return n_tokens * d_model * (2 * d_k + d_v) + n_tokens**2 * (d_k + d_v)


def _two_lines_wrong(n_tokens, d_model, d_k, d_v):
    """The code that is given to be fixed."""
    projections = 3 * n_tokens * d_model * d_k
    scores = n_tokens**2 * d_k
    blend = n_tokens * d_v
    return projections + scores + blend


def _sizes(size, generator):
    return tuple(integer(2, size + 3, generator) for _ in range(4))


MULTIPLY_ADDS = Exercise(
    "block_cost.multiply_adds",
    multiply_adds,
    _sizes,
    (
        Misconception(
            "blend of one query",
            lambda n_tokens, d_model, d_k, d_v: (
                n_tokens * d_model * (2 * d_k + d_v) + n_tokens**2 * d_k + n_tokens * d_v
            ),
            "The projections are right now. The blend is still that of one query, and each of the tokens asks.",
        ),
        Misconception(
            "all projections as wide as keys",
            lambda n_tokens, d_model, d_k, d_v: 3 * n_tokens * d_model * d_k + n_tokens**2 * (d_k + d_v),
            "Scores and blend are right now. One of the three projections does not lead to d_k numbers.",
        ),
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
    given=_two_lines_wrong,
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
    "block_cost.operations",
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

EXERCISES = (PARAMETERS, MULTIPLY_ADDS, OPERATIONS)
