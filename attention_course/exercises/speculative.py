"""Exercises of the page "Writing ahead with a draft"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- how many symbols a call brings ---------------------------------------------------------------


def symbols_a_call(accepted):
    return 1 + accepted.cumprod(0).sum()


def _accepted_inputs(size, generator):
    return (0.3 + 0.6 * torch.rand(size, generator=generator),)


SYMBOLS_A_CALL = Exercise(
    "speculative.symbols_a_call",
    symbols_a_call,
    _accepted_inputs,
    (
        Misconception(
            "without the large model's own",
            lambda accepted: accepted.cumprod(0).sum(),
            "These are the drafted symbols that stay. After them each call adds one symbol of the large model's own.",
        ),
        Misconception(
            "independent places",
            lambda accepted: 1 + accepted.sum(),
            "A drafted symbol stays only if all drafted symbols before it stay too.",
        ),
        Misconception(
            "all or nothing",
            lambda accepted: 1 + len(accepted) * accepted.prod(),
            "You count drafts that are accepted as a whole. One that fails at its third place keeps two.",
        ),
        Misconception(
            "only the last",
            lambda accepted: 1 + accepted.prod(),
            "That product is the probability that the last drafted symbol stays. Add those of the places before it.",
        ),
        Misconception(
            "the mean rate at every place",
            lambda accepted: 1 + (accepted.mean() ** torch.arange(1, len(accepted) + 1)).sum(),
            "You give every place the mean probability. The places have probabilities of their own.",
        ),
        Misconception(
            "each place",
            lambda accepted: accepted.cumprod(0),
            "These are the probabilities that each drafted symbol stays. How many symbols is that on average, with the "
            "one that the large model adds?",
        ),
    ),
)


# --- which drafted symbols stay -------------------------------------------------------------------


def kept(p, q, drafted):
    return _ratio(p, q, drafted).clamp(max=1).cumprod(0)


def _ratio(p, q, drafted):
    return p.gather(-1, drafted[:, None])[:, 0] / q.gather(-1, drafted[:, None])[:, 0]


def _kept_inputs(size, generator):
    n_symbols = size + 3
    p, q = (normal(generator, size, n_symbols).softmax(-1) for _ in range(2))
    # By turns a symbol that the large model likes better, one that the draft likes better, and any.
    drawn = torch.multinomial(q, 1, generator=generator)[:, 0]
    choices = torch.stack([(p / q).argmax(-1), (q / p).argmax(-1), drawn])
    return p, q, choices.gather(0, (torch.arange(size) % 3)[None])[0]


def _both_wrong(p, q, drafted):
    """Handed out to be fixed."""
    return (1 / _ratio(p, q, drafted)).clamp(max=1)


KEPT = Exercise(
    "speculative.kept",
    kept,
    _kept_inputs,
    (
        Misconception(
            "each place by itself",
            lambda p, q, drafted: _ratio(p, q, drafted).clamp(max=1),
            "The ratio is right. A drafted symbol stays only if all drafted symbols before it stay too.",
        ),
        Misconception(
            "the wrong way round",
            lambda p, q, drafted: (1 / _ratio(p, q, drafted)).clamp(max=1).cumprod(0),
            "You multiply along the draft, as you should. But you refuse what the large model likes better than the "
            "draft does. Which of the two may refuse?",
        ),
        Misconception(
            "more than certain",
            lambda p, q, drafted: _ratio(p, q, drafted).cumprod(0),
            "Where the large model finds a symbol likelier than the draft does, your probability is above 1, and makes "
            "up for a doubtful one.",
        ),
        Misconception(
            "clamped behind the product",
            lambda p, q, drafted: _ratio(p, q, drafted).cumprod(0).clamp(max=1),
            "You clamp the product. Each place is at most certain by itself, so clamp before you multiply.",
        ),
        Misconception(
            "the large model's probability",
            lambda p, q, drafted: p.gather(-1, drafted[:, None])[:, 0].cumprod(0),
            "That is how likely the large model finds the drafted text. The draft has chosen it with probability q, "
            "so divide by that.",
        ),
        Misconception(
            "any symbol of the draft",
            lambda p, q, drafted: torch.minimum(p, q).sum(-1).cumprod(0),
            "These are averages over all that might have been drafted. Here it is known what was drafted.",
        ),
    ),
    given=_both_wrong,
)


EXERCISES = (SYMBOLS_A_CALL, KEPT)
