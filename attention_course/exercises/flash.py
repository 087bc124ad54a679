"""Exercises of the chapter on exact attention without the matrix."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal

# --- one step of the online softmax ---------------------------------------------------------


def online_update(largest, total, output, scores, values):
    new_largest = torch.maximum(largest, scores.max())
    shrink = (largest - new_largest).exp()
    weights = (scores - new_largest).exp()
    return new_largest, shrink * total + weights.sum(), shrink * output + weights @ values


def _online_inputs(size, generator):
    """The state after some keys, and a tile of others, whose scores are now higher and now lower."""
    level = (0.0, 120.0, -120.0)[size % 3]  # e to the 120 is infinite in float32
    seen, values = normal(generator, size + 2) + level, normal(generator, size + 2, size)
    exponentials = (seen - seen.max()).exp()
    shift = 4 * torch.rand((), generator=generator) - 2
    n_keys = size - 1
    tile = normal(generator, n_keys) + level + shift
    return seen.max(), exponentials.sum(), exponentials @ values, tile, normal(generator, n_keys, size)


def _updated(largest, total, output, scores, values, *, shrink_total=True, shrink_output=True):
    new_largest = torch.maximum(largest, scores.max())
    shrink, weights = (largest - new_largest).exp(), (scores - new_largest).exp()
    total, output = (shrink * total if shrink_total else total), (shrink * output if shrink_output else output)
    return new_largest, total + weights.sum(), output + weights @ values


def _with_maximum(largest, total, output, scores, values, new_largest):
    shrink, weights = (largest - new_largest).exp(), (scores - new_largest).exp()
    return new_largest, shrink * total + weights.sum(), shrink * output + weights @ values


def _inverted_factor(largest, total, output, scores, values):
    new_largest = torch.maximum(largest, scores.max())
    grow, weights = (new_largest - largest).exp(), (scores - new_largest).exp()
    return new_largest, grow * total + weights.sum(), grow * output + weights @ values


def _old_reference(largest, total, output, scores, values):
    new_largest = torch.maximum(largest, scores.max())
    shrink, weights = (largest - new_largest).exp(), (scores - largest).exp()
    return new_largest, shrink * total + weights.sum(), shrink * output + weights @ values


def _normalised(*arguments):
    new_largest, total, output = online_update(*arguments)
    return new_largest, total, output / total


ONLINE = Exercise(
    "flash.online_update",
    online_update,
    _online_inputs,
    (
        Misconception(
            "output not rescaled",
            lambda *arguments: _updated(*arguments, shrink_output=False),
            "The sum was rescaled, the output was not: it still counts in units of the old maximum, so early keys "
            "weigh too much in it whenever a larger score arrives.",
        ),
        Misconception(
            "sum not rescaled",
            lambda *arguments: _updated(*arguments, shrink_total=False),
            "The output was rescaled, the sum was not: the final division is by a number in units of an old maximum.",
        ),
        Misconception(
            "nothing rescaled",
            lambda *arguments: _updated(*arguments, shrink_total=False, shrink_output=False),
            "Old and new terms are added as they are, although each was taken relative to another maximum. What "
            "turns a term relative to the old maximum into one relative to the new?",
        ),
        Misconception(
            "maximum of the tile only",
            lambda *arguments: _with_maximum(*arguments, arguments[3].max()),
            "Your maximum is that of the tile alone. The three numbers fit together, but after a tile of low scores "
            "the factor exceeds 1, and with scores far apart it overflows. The running maximum never falls.",
        ),
        Misconception(
            "maximum never updated",
            lambda *arguments: _with_maximum(*arguments, arguments[0]),
            "The maximum stays what it was before the tile. The result is right until a much larger score comes: "
            "then its exponential overflows.",
        ),
        Misconception(
            "factor upside down",
            _inverted_factor,
            "The factor is upside down. A larger maximum makes each old term smaller, not larger.",
        ),
        Misconception(
            "new terms relative to the old maximum",
            _old_reference,
            "The old terms were brought to the new maximum, but the exponentials of the tile were taken relative to "
            "the old one.",
        ),
        Misconception(
            "output divided too early",
            _normalised,
            "You divided the output by the sum. The next tile would be added to it in other units: keep it "
            "undivided, and divide once, after the last tile.",
        ),
    ),
)


# --- merging two partial results --------------------------------------------------------------


def merge(output_a, log_sum_a, output_b, log_sum_b):
    log_sum = torch.logaddexp(log_sum_a, log_sum_b)
    share_a, share_b = (log_sum_a - log_sum).exp()[:, None], (log_sum_b - log_sum).exp()[:, None]
    return share_a * output_a + share_b * output_b, log_sum


def _merge_inputs(size, generator):
    n_queries, level = size - 1, (0.0, 120.0, -120.0)[size % 3]  # e to the 120 is infinite in float32
    parts = []
    for n_keys in (size, size + 2):
        scores = normal(generator, n_queries, n_keys) + level
        parts += [scores.softmax(-1) @ normal(generator, n_keys, size + 3), scores.logsumexp(-1)]
    return tuple(parts)


def _merged(shares, log_sum):
    """A wrong merge from the shares of a and b, `(n_queries,)` or numbers, and a log-sum-exp."""

    def wrong(output_a, log_sum_a, output_b, log_sum_b):
        share_a, share_b = (torch.as_tensor(share)[..., None] for share in shares(log_sum_a, log_sum_b))
        return share_a * output_a + share_b * output_b, log_sum(log_sum_a, log_sum_b)

    return wrong


def _right_shares(a, b):
    return (a - torch.logaddexp(a, b)).exp(), (b - torch.logaddexp(a, b)).exp()


MERGE = Exercise(
    "flash.merge",
    merge,
    _merge_inputs,
    (
        Misconception(
            "plain mean",
            _merged(lambda a, b: (0.5, 0.5), torch.logaddexp),
            "The outputs were averaged evenly. A part whose keys score higher must count for more: how much, its "
            "log-sum-exp tells.",
        ),
        Misconception(
            "outputs added",
            _merged(lambda a, b: (1.0, 1.0), torch.logaddexp),
            "The outputs were added. Each is already divided by its own sum, so the weights of the result add up to 2.",
        ),
        Misconception(
            "log-sum-exps added",
            _merged(_right_shares, torch.add),
            "The output is right, but you added the log-sum-exps. Adding logarithms multiplies what is inside; here "
            "the sums must be added.",
        ),
        Misconception(
            "larger log-sum-exp",
            _merged(_right_shares, torch.maximum),
            "The output is right, but you kept the larger log-sum-exp: the other part's keys are missing from it.",
        ),
        Misconception(
            "shares by the logarithms",
            _merged(lambda a, b: (a / (a + b), b / (a + b)), torch.logaddexp),
            "You weighed the parts by their log-sum-exps. Those are logarithms: undo the logarithm before you compare.",
        ),
        Misconception(
            "shares exchanged",
            _merged(lambda a, b: _right_shares(b, a), torch.logaddexp),
            "The two shares are exchanged: the part with the larger log-sum-exp counts for less.",
        ),
        Misconception(
            "overflow",
            _merged(lambda a, b: (a.exp() / (a.exp() + b.exp()), b.exp() / (a.exp() + b.exp())), torch.logaddexp),
            "Right on paper, but the exponential of a log-sum-exp overflows where the scores are large. Only "
            "differences of two log-sum-exps may go into an exponential.",
        ),
    ),
)


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
    "flash.grad_scores",
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
    "flash.skipped_tiles",
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


# --- the cache of a model that mixes windows with full layers --------------------------------------


def cache_bytes(n_tokens, n_layers, every, window, n_kv_heads, d_head, bytes_per_number):
    full = n_layers // every
    held = full * n_tokens + (n_layers - full) * min(window, n_tokens)
    return 2 * held * n_kv_heads * d_head * bytes_per_number


def _cache_inputs(size, generator):
    every, window = (1, 2, 3, 4)[size % 4], 10 * size
    n_tokens = integer(5, window - 1, generator) if size % 2 else integer(window + 1, 2 * window, generator)
    n_layers, n_kv_heads, d_head = every * integer(1, 4, generator), integer(1, 8, generator), integer(2, 9, generator)
    return n_tokens, n_layers, every, window, n_kv_heads, d_head, (1, 2, 4, 8)[integer(0, 3, generator)]


def _per_held(held):
    def wrong(n_tokens, n_layers, every, window, n_kv_heads, d_head, bytes_per_number):
        return 2 * held(n_tokens, n_layers, n_layers // every, window) * n_kv_heads * d_head * bytes_per_number

    return wrong


CACHE_BYTES = Exercise(
    "flash.cache_bytes",
    cache_bytes,
    _cache_inputs,
    (
        Misconception(
            "all layers hold everything",
            _per_held(lambda n_tokens, n_layers, full, window: n_layers * n_tokens),
            "Every layer is counted with all tokens. A layer with a window never looks further back, and forgets.",
        ),
        Misconception(
            "all layers forget",
            _per_held(lambda n_tokens, n_layers, full, window: n_layers * min(window, n_tokens)),
            "Every layer is counted with its window. Some of them see everything, and those fill the memory.",
        ),
        Misconception(
            "window always full",
            _per_held(lambda n_tokens, n_layers, full, window: full * n_tokens + (n_layers - full) * window),
            "A text shorter than the window does not fill it.",
        ),
        Misconception(
            "kinds of layers exchanged",
            _per_held(
                lambda n_tokens, n_layers, full, window: (n_layers - full) * n_tokens + full * min(window, n_tokens)
            ),
            "The two kinds are exchanged: one layer in `every` sees everything, the others have the window.",
        ),
        Misconception(
            "keys only",
            lambda *arguments: cache_bytes(*arguments) // 2,
            "Half of it is missing: a layer keeps keys and values.",
        ),
        Misconception(
            "one layer of each kind",
            _per_held(lambda n_tokens, n_layers, full, window: n_tokens + min(window, n_tokens)),
            "You counted one layer of each kind. How many of each are there?",
        ),
    ),
)

EXERCISES = (ONLINE, MERGE, GRAD_SCORES, SKIPPED, CACHE_BYTES)
