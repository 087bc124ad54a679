"""Exercises of the lesson "Attention without the matrix"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

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


# --- all queries: one running maximum each ---------------------------------------------------


def _attended(scores, values, tile, largest_of, *, rescale_total=True, rescale_output=True, summed=None):
    """Attention in tiles of keys; `largest_of(largest, tile)` is the new maximum."""
    summed = summed or (lambda weights: weights.sum(-1, keepdim=True))
    largest = scores.new_full((len(scores), 1), -torch.inf)
    total = output = scores.new_zeros(())
    for s, v in zip(scores.split(tile, dim=1), values.split(tile), strict=True):
        new_largest = largest_of(largest, s)
        factor, weights = (largest - new_largest).exp(), (s - new_largest).exp()
        total = (factor * total if rescale_total else total) + summed(weights)
        output = (factor * output if rescale_output else output) + weights @ v
        largest = new_largest
    return output / total


def _own(largest, s):
    return torch.maximum(largest, s.amax(-1, keepdim=True))


def attend(scores, values, tile):
    return _attended(scores, values, tile, _own)


def _for_all(scores, values, tile):
    """Handed out to be fixed."""
    return _attended(scores, values, tile, lambda largest, s: torch.maximum(largest, s.max()))


def _attend_inputs(size, generator):
    """One query's scores rise from tile to tile, another's fall from far above, a third's rise far.

    Far above means that float64 does not bridge it either: its smallest exponential is that of -745.
    """
    n_queries, tile = (4, 3, 1)[size % 3], size // 2
    n_keys = 3 * tile + size % 2
    level = torch.tensor([0.0, 1000.0, -200.0, 0.0])[:n_queries, None]
    step = torch.tensor([1.0, -60.0, 100.0, -1.0])[:n_queries, None] * (torch.arange(n_keys) // tile)
    return normal(generator, n_queries, n_keys) + level + step, normal(generator, n_keys, size + 1), tile


ATTEND = Exercise(
    "flash.attend",
    attend,
    _attend_inputs,
    (
        Misconception(
            "maximum of the tile only",
            lambda *arguments: _attended(*arguments, lambda largest, s: s.amax(-1, keepdim=True)),
            "Each query has a maximum of its own now, but it is that of the tile: where scores fall, the factors "
            "exceed 1 and overflow. The maximum must run.",
        ),
        Misconception(
            "maximum of the first tile",
            lambda *arguments: _attended(
                *arguments, lambda largest, s: torch.where(largest.isinf(), s.amax(-1, keepdim=True), largest)
            ),
            "Each query keeps the maximum of its first tile. A much larger score that comes later overflows.",
        ),
        Misconception(
            "no maximum",
            lambda scores, values, tile: scores.exp() @ values / scores.exp().sum(-1, keepdim=True),
            "Without a maximum the exponentials of large scores overflow.",
        ),
        Misconception(
            "smallest of the queries",
            lambda *arguments: _attended(
                *arguments, lambda largest, s: torch.maximum(largest, s.amax(-1, keepdim=True).amin())
            ),
            "This is still one number for all queries. Each needs the largest of its own scores.",
        ),
        Misconception(
            "output not rescaled",
            lambda *arguments: _attended(*arguments, _own, rescale_output=False),
            "The maximum is right now. The output must be multiplied by the factor as the sum is.",
        ),
        Misconception(
            "sum not rescaled",
            lambda *arguments: _attended(*arguments, _own, rescale_total=False),
            "The maximum is right now. The sum must be multiplied by the factor as the output is.",
        ),
        Misconception(
            "summed over all queries",
            lambda *arguments: _attended(*arguments, _own, summed=torch.sum),
            "The maximum is right now. Each query divides by its own sum, not by that of all queries.",
        ),
    ),
    given=_for_all,
)

EXERCISES = (ONLINE, ATTEND)
