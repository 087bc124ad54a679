"""Exercises of the page "Writing well"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- min-p ----------------------------------------------------------------------------------------


def min_p(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p < min_p * p.amax(-1, keepdim=True), -torch.inf)


def _min_p_inputs(size, generator):
    # A batch of one, too; and values for which several symbols stay, and several go.
    share = 0.15 + 0.3 * torch.rand((), generator=generator).item()
    return 1.5 * normal(generator, (3, 1, 2)[size % 3], 5 + size), share


def _cut_where(condition, filling=-torch.inf):
    """A wrong min-p that cuts where a condition on the probabilities holds."""
    return lambda logits, min_p: logits.masked_fill(condition(logits.softmax(-1), min_p), filling)


def _is_small(p, min_p):
    return p < min_p * p.amax(-1, keepdim=True)


MIN_P = Exercise(
    "generation.min_p",
    min_p,
    _min_p_inputs,
    (
        Misconception(
            "not relative",
            _cut_where(lambda p, min_p: p < min_p),
            "You compare with min_p itself. The threshold is that fraction of the likeliest symbol's probability: "
            "where no symbol is likely, it is low.",
        ),
        Misconception(
            "of the logits",
            lambda logits, min_p: logits.masked_fill(logits < min_p * logits.amax(-1, keepdim=True), -torch.inf),
            "You compare logits. The fraction is one of probabilities: take the softmax first.",
        ),
        Misconception(
            "one threshold for all",
            _cut_where(lambda p, min_p: p < min_p * p.max()),
            "You take the largest probability of the whole batch. Each row has a likeliest symbol of its own.",
        ),
        Misconception(
            "down the batch",
            _cut_where(lambda p, min_p: p < min_p * p.amax(0, keepdim=True)),
            "The largest probability is taken over the batch. It belongs to a row: to the last dimension.",
        ),
        Misconception(
            "cut to 0",
            _cut_where(_is_small, 0.0),
            "You keep the right symbols. But a logit of 0 is an ordinary logit, and the softmax gives it a "
            "probability. Which logit gives none?",
        ),
        Misconception(
            "the unlikely ones",
            _cut_where(lambda p, min_p: ~_is_small(p, min_p)),
            "You cut the likely symbols and keep the others.",
        ),
        Misconception(
            "probabilities",
            lambda logits, least: min_p(logits, least).softmax(-1),
            "These are the right probabilities. Asked for are the logits, with minus infinity where a symbol is cut.",
        ),
        Misconception(
            "a mask",
            lambda logits, least: min_p(logits, least).isfinite(),
            "The right symbols. Asked for are their logits, and minus infinity for the others.",
        ),
        Misconception(
            "a top-p",
            lambda logits, min_p: logits.masked_fill(_before(logits.softmax(-1)) >= min_p, -torch.inf),
            "That is top-p. Nothing has to be sorted or summed here: each symbol is compared with the likeliest one.",
        ),
    ),
)


# --- what top-p gives to a text -------------------------------------------------------------------


def _before(p):
    """For each symbol the sum of the likelier ones."""
    return (p.unsqueeze(-2) * (p.unsqueeze(-2) > p.unsqueeze(-1))).sum(-1)


def _look_up(p, targets):
    return p.gather(-1, targets[:, None])[:, 0]


def _share(kept):
    return kept / kept.sum(-1, keepdim=True)


def top_p_probability(logits, targets, p):
    return _look_up(_share(_kept(logits, p)), targets)


def _top_p_inputs(size, generator):
    n, n_symbols = 1 if size == 4 else size + 1, 2 * size + 3
    logits = 1.5 * normal(generator, n, n_symbols)
    # The targets: by turns the likeliest symbol, likely ones, and any.
    rank = torch.tensor([(0, 1, 2, integer(0, n_symbols - 1, generator))[row % 4] for row in range(n)])
    targets = logits.argsort(-1, descending=True).gather(-1, rank[:, None])[:, 0]
    return logits, targets, 0.45 + 0.4 * torch.rand((), generator=generator).item()


def _kept(logits, p):
    probabilities = logits.softmax(-1)
    return probabilities * (_before(probabilities) < p)


def _with_kept(keep):
    """A wrong top-p that keeps other symbols: `keep(probabilities, p)` says which."""

    def wrong(logits, targets, p):
        probabilities = logits.softmax(-1)
        return _look_up(_share(probabilities * keep(probabilities, p)), targets)

    return wrong


def _never_unsorted(logits, targets, p):
    ranked = logits.softmax(-1).sort(descending=True).values
    return _look_up(_share(ranked * (ranked.cumsum(-1) - ranked < p)), targets)


def _mask_never_unsorted(probabilities, p):
    ranked = probabilities.sort(descending=True).values
    return ranked.cumsum(-1) - ranked < p


def _put_back_with_gather(logits, targets, p):
    ranked, order = logits.softmax(-1).sort(descending=True)
    return _look_up(_share(ranked * (ranked.cumsum(-1) - ranked < p)).gather(-1, order), targets)


def _crossing_kept_only_when_first(probabilities, p):
    """The symbols with which the sum is still at most p, and the likeliest in any case."""
    return (_before(probabilities) + probabilities <= p) | (_before(probabilities) == 0)


def _before_ascending(p):
    """For each symbol the sum of the less likely ones."""
    return (p.unsqueeze(-2) * (p.unsqueeze(-2) < p.unsqueeze(-1))).sum(-1)


TOP_P_PROBABILITY = Exercise(
    "generation.top_p_probability",
    top_p_probability,
    _top_p_inputs,
    (
        Misconception(
            "drops the symbol that crosses",
            _with_kept(lambda probabilities, p: _before(probabilities) + probabilities <= p),
            "You drop the symbol with which the sum reaches p, and where the first symbol reaches it alone, nothing is "
            "left. What counts is the sum before a symbol, without its own probability.",
        ),
        Misconception(
            "drops the symbol that crosses, but never the first",
            _with_kept(_crossing_kept_only_when_first),
            "The likeliest symbol stays now, but everywhere else the symbol with which the sum reaches p is still "
            "dropped. What counts is the sum before a symbol, without its own probability.",
        ),
        Misconception(
            "divided by the sum over the batch",
            lambda logits, targets, p: _look_up(_kept(logits, p) / _kept(logits, p).sum(), targets),
            "You divide by the sum over the whole batch. Each row is a distribution of its own, and has a sum of its "
            "own.",
        ),
        Misconception(
            "no renormalising",
            lambda logits, targets, p: _look_up(_kept(logits, p), targets),
            "You keep the right symbols, but their probabilities no longer sum to 1. Divide by the sum of what is "
            "kept.",
        ),
        Misconception(
            "never unsorted",
            _never_unsorted,
            "After sorting, place 0 holds the likeliest symbol and not symbol 0. Your targets look up ranks.",
        ),
        Misconception(
            "mask never unsorted",
            _with_kept(_mask_never_unsorted),
            "The mask is in sorted order, the probabilities in the vocabulary's: you keep the first few symbols of the "
            "vocabulary, whatever they are.",
        ),
        Misconception(
            "put back with gather",
            _put_back_with_gather,
            "gather(order) sorts, it does not put back. scatter writes each number to the place that order names.",
        ),
        Misconception(
            "sorted the wrong way round",
            _with_kept(lambda probabilities, p: _before_ascending(probabilities) < p),
            "You collect from the least likely symbol upwards. sort is ascending unless you say descending=True.",
        ),
        Misconception(
            "a threshold for each symbol",
            _with_kept(lambda probabilities, p: probabilities >= p),
            "You keep symbols that are likelier than p on their own. p is the share that they make up together.",
        ),
        Misconception(
            "no cut",
            lambda logits, targets, p: _look_up(logits.softmax(-1), targets),
            "These are the model's own probabilities: p is not used.",
        ),
        Misconception(
            "divided by p",
            lambda logits, targets, p: _look_up(_kept(logits, p) / p, targets),
            "You divide by p. What is kept usually sums to more than p: divide by that sum.",
        ),
        Misconception(
            "logits",
            lambda logits, targets, p: _look_up(
                logits.masked_fill(_before(logits.softmax(-1)) >= p, -torch.inf).log_softmax(-1), targets
            ),
            "Those are logarithms. Asked for are probabilities.",
        ),
    ),
)


# --- temperature and top-k, to be fixed ----------------------------------------------------------


def _cut(logits, k, filling=-torch.inf):
    return logits.masked_fill(logits < logits.topk(k).values[..., -1:], filling)


def probabilities(logits, temperature, k):
    return (_cut(logits, k) / temperature).softmax(-1)


def _probabilities_inputs(size, generator):
    temperature = (0.4, 1.8)[integer(0, 1, generator)] + 0.3 * torch.rand((), generator=generator).item()
    return normal(generator, (3, 1, 2)[size % 3], size + 4), temperature, 2 + size // 2


def _both_wrong(logits, temperature, k):
    """Handed out to be fixed."""
    return _share(_cut(logits, k, 0.0).softmax(-1) / temperature)


PROBABILITIES = Exercise(
    "generation.probabilities",
    probabilities,
    _probabilities_inputs,
    (
        Misconception(
            "still after the softmax",
            lambda logits, temperature, k: _share(_cut(logits, k).softmax(-1) / temperature),
            "The cut is right now. The temperature has no effect yet: what divides all probabilities of a row alike is "
            "divided out again by their sum.",
        ),
        Misconception(
            "after the softmax, not summed to 1",
            lambda logits, temperature, k: _cut(logits, k).softmax(-1) / temperature,
            "The cut is right now. But dividing probabilities by the temperature keeps their proportions. The "
            "temperature belongs to the logits.",
        ),
        Misconception(
            "still cut to 0",
            lambda logits, temperature, k: (_cut(logits, k, 0.0) / temperature).softmax(-1),
            "The temperature is right now. The symbols that were cut still get a probability, because a logit of 0 is "
            "an ordinary logit.",
        ),
        Misconception(
            "cut after the softmax, not summed to 1",
            lambda logits, temperature, k: _cut((logits / temperature).softmax(-1), k, 0.0),
            "The right symbols in the right proportions, but their probabilities no longer sum to 1.",
        ),
        Misconception(
            "the k-th is cut too",
            lambda logits, temperature, k: (
                logits.masked_fill(logits <= logits.topk(k).values[..., -1:], -torch.inf) / temperature
            ).softmax(-1),
            "One symbol too few is left in each row: the k-th likeliest is cut, too.",
        ),
        Misconception(
            "one threshold for the batch",
            lambda logits, temperature, k: (
                logits.masked_fill(logits < logits.topk(k).values.min(), -torch.inf) / temperature
            ).softmax(-1),
            "One threshold serves the whole batch. Each row has a k-th likeliest symbol of its own.",
        ),
        Misconception(
            "multiplied",
            lambda logits, temperature, k: (_cut(logits, k) * temperature).softmax(-1),
            "You multiply by the temperature. A high temperature should make the choice less certain.",
        ),
        Misconception(
            "no cut",
            lambda logits, temperature, k: (logits / temperature).softmax(-1),
            "The temperature is right now. All symbols are left: k has no effect.",
        ),
    ),
    given=_both_wrong,
)


EXERCISES = (MIN_P, TOP_P_PROBABILITY, PROBABILITIES)
