"""Exercises of the page "Kernels"."""

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- the gradient of a tile of scores -----------------------------------------------------------


def grad_scores(scores, value, log_sum, output, grad_output):
    weights = (scores - log_sum[:, None]).exp()
    correction = (grad_output * output).sum(-1, keepdim=True)
    return weights * (grad_output @ value.T - correction)


def _grad_inputs(size, generator):
    """One tile of scores, and the log-sum-exp and the output over all keys, of which the tile has some."""
    n_queries, d_v = size + 1, size + 2
    scores, value = normal(generator, n_queries, 2 * size + 1), normal(generator, 2 * size + 1, d_v)
    output, grad_output = scores.softmax(-1) @ value, normal(generator, n_queries, d_v)
    return scores[:, :size], value[:size], scores.logsumexp(-1), output, grad_output


def _with_correction(correction):
    def wrong(scores, value, log_sum, output, grad_output):
        weights, grad_weights = (scores - log_sum[:, None]).exp(), grad_output @ value.T
        return weights * (grad_weights - correction(weights, grad_weights, output, grad_output))

    return wrong


def _tile_softmax(scores, value, log_sum, output, grad_output):
    correction = (grad_output * output).sum(-1, keepdim=True)
    return scores.softmax(-1) * (grad_output @ value.T - correction)


def _late_correction(scores, value, log_sum, output, grad_output):
    weights = (scores - log_sum[:, None]).exp()
    return weights * (grad_output @ value.T) - (grad_output * output).sum(-1, keepdim=True)


GRAD_SCORES = Exercise(
    "kernels.grad_scores",
    grad_scores,
    _grad_inputs,
    (
        Misconception(
            "no correction",
            _with_correction(lambda weights, grad_weights, output, grad_output: 0.0),
            "This is the gradient as if a weight depended on its own score only. Raising a score lowers all the "
            "other weights of its query: the term D is missing.",
        ),
        Misconception(
            "correction from the tile",
            _with_correction(lambda weights, grad_weights, *_: (weights * grad_weights).sum(-1, keepdim=True)),
            "Your D sums over the keys of this tile. It must run over all the keys of the row, which you do not "
            "have; the output, which you have, was made from all of them.",
        ),
        Misconception(
            "weights normalised within the tile",
            _tile_softmax,
            "You took a softmax over the tile, so that its weights add up to 1. They add up to the tile's share; "
            "the log-sum-exp of the whole row is what to subtract.",
        ),
        Misconception(
            "mean over the features",
            _with_correction(lambda weights, grad_weights, output, grad: (grad * output).mean(-1, keepdim=True)),
            "You took the mean over the features. D is a dot product of two rows: a sum.",
        ),
        Misconception(
            "correction added",
            _with_correction(lambda weights, grad_weights, output, grad: -(grad * output).sum(-1, keepdim=True)),
            "D was added. Over a whole row the gradients of the scores must sum to 0, because raising all the scores "
            "alike changes no weight.",
        ),
        Misconception(
            "correction outside",
            _late_correction,
            "D was subtracted after the multiplication by the weights. It is weighted too: a key without weight gets "
            "no gradient.",
        ),
    ),
)


# --- tiles that a causal mask lets you skip ------------------------------------------------------


def skipped_tiles(n_tokens, rows, columns):
    skipped = 0
    for row in range(0, n_tokens, rows):
        last_query = min(row + rows, n_tokens) - 1
        skipped += sum(column > last_query for column in range(0, n_tokens, columns))
    return skipped


def _tile_inputs(size, generator):
    return integer(5 * size, 20 * size, generator), integer(1, 9, generator), integer(1, 9, generator)


def _starts(n_tokens, tile):
    return range(0, n_tokens, tile)


def _by_number(n_tokens, rows, columns):
    n_rows, n_columns = len(_starts(n_tokens, rows)), len(_starts(n_tokens, columns))
    return sum(column > row for row in range(n_rows) for column in range(n_columns))


SKIPPED = Exercise(
    "kernels.skipped_tiles",
    skipped_tiles,
    _tile_inputs,
    (
        Misconception(
            "half of the tiles",
            lambda n_tokens, rows, columns: len(_starts(n_tokens, rows)) * len(_starts(n_tokens, columns)) // 2,
            "Half of all the tiles is too many: those which the diagonal crosses hold keys that some query sees.",
        ),
        Misconception(
            "first query of the tile",
            lambda n_tokens, rows, columns: sum(
                column > row for row in _starts(n_tokens, rows) for column in _starts(n_tokens, columns)
            ),
            "You compared a tile's first key with its first query. Its last query sees further, so you would skip "
            "tiles that count.",
        ),
        Misconception(
            "last key of the tile",
            lambda n_tokens, rows, columns: sum(
                min(column + columns, n_tokens) - 1 > row
                for row in _starts(n_tokens, rows)
                for column in _starts(n_tokens, columns)
            ),
            "You counted each tile that holds a pair in the future. A tile may be skipped only if all its pairs are.",
        ),
        Misconception(
            "numbers of tiles",
            _by_number,
            "You compared the tiles' numbers. That is right where they are square; here they cover different tokens.",
        ),
        Misconception(
            "whole tiles only",
            lambda n_tokens, rows, columns: sum(
                column * columns > (row + 1) * rows - 1
                for row in range(n_tokens // rows)
                for column in range(n_tokens // columns)
            ),
            "The shorter tile at the end is missing: round the number of tiles up, not down.",
        ),
        Misconception(
            "tiles that are kept",
            lambda n_tokens, rows, columns: (
                len(_starts(n_tokens, rows)) * len(_starts(n_tokens, columns)) - skipped_tiles(n_tokens, rows, columns)
            ),
            "These are the tiles that must be computed. How many are left out?",
        ),
        Misconception(
            "pairs, not tiles",
            lambda n_tokens, rows, columns: n_tokens * (n_tokens - 1) // 2,
            "You counted pairs of a query and a key in the future, not tiles.",
        ),
    ),
)

EXERCISES = (GRAD_SCORES, SKIPPED)
