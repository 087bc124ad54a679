"""Exercises of the page "What happens beyond the trained length?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal
from attention_course.positions import rotate
from attention_course.tasks import NOTHING

# --- accuracy in pieces of neighbouring positions --------------------------------------------------


def _counts(logits, target, window):
    """How many answers are right, and how many were asked, in each piece of each sequence: `(batch, pieces)` each."""
    right, asked = logits.argmax(-1) == target, target != NOTHING
    return tuple(there.unflatten(1, (-1, window)).sum(2) for there in (right, asked))


def accuracy(logits, target, window):
    right, asked = _counts(logits, target, window)
    return right.sum(0) / asked.sum(0)


def _of_all_positions(logits, target, window):
    right, _ = _counts(logits, target, window)
    return right.sum(0) / (len(target) * window)


def _strided(logits, target, window, *, all_positions=False):
    """The share of every so-many-th position, as many as there are pieces."""
    right, asked = logits.argmax(-1) == target, (target != NOTHING) | all_positions
    right, asked = (there.unflatten(1, (window, -1)).sum((0, 1)) for there in (right, asked))
    return right / asked


def _of_each_place(logits, target, window):
    right, asked = logits.argmax(-1) == target, target != NOTHING
    right, asked = (there.unflatten(1, (-1, window)).sum((0, 1)) for there in (right, asked))
    return right / asked


def _mean_of_means(logits, target, window):
    right, asked = _counts(logits, target, window)
    return (right / asked).mean(0)


def _up_to_here(logits, target, window):
    right, asked = (counted.sum(0).cumsum(0) for counted in _counts(logits, target, window))
    return right / asked


def _accuracy_inputs(size, generator):
    window = 2 * size + 3
    batch, n, n_symbols = (2, 3, 1)[size % 3], window * ((2, 4, 3)[size % 3]), size + 5
    target = torch.randint(n_symbols, (batch, n), generator=generator)
    logits = normal(generator, batch, n, n_symbols)
    knows = torch.rand(batch, n, generator=generator) < 0.6
    logits = logits.scatter_add(2, target[..., None], 8 * knows[..., None].float())
    unasked = torch.rand(batch, n, generator=generator) < 0.3
    unasked[:, ::window] = True  # in each piece something is asked, and something is not
    unasked[:, 1::window] = unasked[:, : n // window] = False  # and in each of every so-many-th positions
    return logits, target.masked_fill(unasked, NOTHING), window


ACCURACY = Exercise(
    "length.accuracy",
    accuracy,
    _accuracy_inputs,
    (
        Misconception(
            "nothing asked counted as wrong",
            _of_all_positions,
            "The pieces are right. You still divide by all positions, and where nothing is asked nobody can be right. "
            "Divide by the number of questions.",
        ),
        Misconception(
            "every so-many-th position",
            _strided,
            "You divide by the questions now. But a share of yours is over every so-many-th position of the sequence. "
            "Each piece holds positions that follow each other: the last dimension of unflatten runs fastest.",
        ),
        Misconception(
            "a share for each place in a piece",
            _of_each_place,
            "You have a share for the first place of all pieces, one for the second, and so on. Sum over the places of "
            "a piece, and keep the pieces.",
        ),
        Misconception(
            "mean of the sequences' shares",
            _mean_of_means,
            "You took a share in each sequence, and then the mean, so that a question counts more where few are asked. "
            "Count over all sequences before you divide.",
        ),
        Misconception(
            "everything up to the piece",
            _up_to_here,
            "Your share is over all positions up to the end of a piece. It is to be of the piece alone.",
        ),
        Misconception(
            "share of wrong answers",
            lambda logits, target, window: 1 - accuracy(logits, target, window),
            "These are the shares of wrong answers.",
        ),
        Misconception(
            "counts",
            lambda logits, target, window: _counts(logits, target, window)[0].sum(0),
            "You count right answers. A share divides them by the number of questions in the piece.",
        ),
    ),
    given=lambda logits, target, window: _strided(logits, target, window, all_positions=True),
)


# --- clipped distances -----------------------------------------------------------------------------


def _scores(query, key, query_place, key_place):
    return rotate(query, query_place) @ rotate(key, key_place).mT


def _chosen(query, key, farthest, far):
    """RoPE's scores, and beyond the distance others; 0 for later keys."""
    place = torch.arange(len(query))
    distance = place[:, None] - place
    return torch.where(distance > farthest, far, _scores(query, key, place, place)).tril()


def _apart(query, key, distance):
    """The scores of all queries and keys as if each query stood that far behind each key."""
    place = torch.zeros(len(query), dtype=torch.long)
    return _scores(query, key, place + max(distance, 0), place + max(-distance, 0))


def clipped(query, key, farthest):
    return _chosen(query, key, farthest, _apart(query, key, farthest))


def _clipped_places(query, key, farthest):
    place = torch.arange(len(query)).clamp(max=farthest)
    return _scores(query, key, place, place).tril()


def _both_sides(query, key, farthest):
    place = torch.arange(len(query))
    distance = place[:, None] - place
    scores = torch.where(distance > farthest, _apart(query, key, farthest), _scores(query, key, place, place))
    return torch.where(distance < -farthest, _apart(query, key, -farthest), scores)


def _later_keys_kept(query, key, farthest):
    place = torch.arange(len(query))
    far = _apart(query, key, farthest)
    return torch.where(place[:, None] - place > farthest, far, _scores(query, key, place, place))


def _clipped_inputs(size, generator):
    n = 2 * size + 3
    return normal(generator, n, 2 * size), normal(generator, n, 2 * size), integer(1, size, generator)


CLIPPED = Exercise(
    "length.clipped",
    clipped,
    _clipped_inputs,
    (
        Misconception(
            "places clipped",
            _clipped_places,
            "You clipped the places. Then all late tokens stand at one place, and neighbours among them look as if "
            "they stood together. Clip the distances.",
        ),
        Misconception(
            "not clipped",
            lambda query, key, farthest: _chosen(query, key, len(query), torch.zeros(())),
            "These are RoPE's scores as they are. Distances beyond farthest are to count as farthest.",
        ),
        Misconception(
            "far keys hidden",
            lambda query, key, farthest: _chosen(query, key, farthest, torch.zeros(())),
            "Far keys get 0 from you. They are to be scored, as if they stood farthest places back.",
        ),
        Misconception(
            "far pairs not turned",
            lambda query, key, farthest: _chosen(query, key, farthest, query @ key.mT),
            "You score far pairs as if query and key stood at the same place. They are to stand farthest apart.",
        ),
        Misconception(
            "turned the other way",
            lambda query, key, farthest: _chosen(query, key, farthest, _apart(query, key, -farthest)),
            "In your far pairs the key stands behind the query. It stands before: the query is the one that is turned "
            "further.",
        ),
        Misconception(
            "one place too far",
            lambda query, key, farthest: clipped(query, key, farthest + 1),
            "The farthest distance of yours is one too large.",
        ),
        Misconception(
            "one place too near",
            lambda query, key, farthest: clipped(query, key, farthest - 1),
            "The farthest distance of yours is one too small.",
        ),
        Misconception(
            "later keys kept",
            _later_keys_kept,
            "Where the key comes after the query, the score is to be 0.",
        ),
        Misconception(
            "clipped on both sides",
            _both_sides,
            "You clip distances to both sides. A key that comes after the query gets 0 here.",
        ),
        Misconception(
            "divided by the root",
            lambda query, key, farthest: clipped(query, key, farthest) / query.size(-1) ** 0.5,
            "You divided by √d. The scores are asked for as they are.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (ACCURACY, CLIPPED)
