"""Exercises of the lesson "A language model"."""

import math

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- cut a text into inputs and targets -----------------------------------------------------------


def examples(symbols, window):
    n = (len(symbols) - 1) // window * window
    return symbols[:n].view(-1, window), symbols[1 : n + 1].view(-1, window)


def _examples_inputs(size, generator):
    # One symbol behind the last piece, a text that whole pieces fill without its last target, or anything between.
    n = size * integer(2, 4, generator) + (1, size, integer(1, size, generator))[integer(0, 2, generator)]
    return torch.randperm(3 * n, generator=generator)[:n], size


def _pieces(symbols, window):
    return symbols[: len(symbols) // window * window].view(-1, window)


def _as_many_as_fit(symbols, targets, window):
    """Pieces of inputs and targets, as many as the symbols fill: without asking whether there is a last target."""
    n = len(symbols) // window * window
    return symbols[:n].view(-1, window), targets[:n].view(-1, window)


EXAMPLES = Exercise(
    "language_model.examples",
    examples,
    _examples_inputs,
    (
        Misconception(
            "not shifted",
            lambda symbols, window: (examples(symbols, window)[0],) * 2,
            "Inputs and targets are the same symbols. A model that is trained on this learns to repeat what it reads: "
            "the target is the symbol after the one that was read.",
        ),
        Misconception(
            "shifted backwards",
            lambda symbols, window: examples(symbols, window)[::-1],
            "The targets stand before their inputs. The model is to predict what comes next.",
        ),
        Misconception(
            "shifted by two",
            lambda symbols, window: (
                examples(symbols[:-1], window)[0],
                examples(symbols[1:], window)[1],
            ),
            "The targets lie two places further on. The target of a symbol is the very next one.",
        ),
        Misconception(
            "pieces cut before the shift",
            lambda symbols, window: (_pieces(symbols, window)[:, :-1], _pieces(symbols, window)[:, 1:]),
            "You cut pieces first and shifted inside each: they are one too short, and the first symbol of each piece "
            "is never a target. Shift the whole text, then cut.",
        ),
        Misconception(
            "pieces of one symbol more",
            lambda symbols, window: (_pieces(symbols, window + 1)[:, :-1], _pieces(symbols, window + 1)[:, 1:]),
            "You cut pieces of window + 1 symbols, as the lesson does at random places. Of pieces that follow each "
            "other the first symbol is then never a target: each must begin with the symbol that the last one ended "
            "with.",
        ),
        Misconception(
            "no target for the last symbol",
            lambda symbols, window: _as_many_as_fit(symbols, symbols[1:], window),
            "Where whole pieces fill the text, the last symbol has no target, and your targets are one symbol short. "
            "How many symbols have one?",
        ),
        Misconception(
            "the first symbol as the last target",
            lambda symbols, window: _as_many_as_fit(symbols, symbols.roll(-1), window),
            "Where whole pieces fill the text, your last target is the very first symbol: roll brings it round. The "
            "last symbol has no target.",
        ),
        Misconception(
            "rolled inside each piece",
            lambda symbols, window: (examples(symbols, window)[0], examples(symbols, window)[0].roll(-1, 1)),
            "The last target of each piece is that piece's first symbol: roll brings it round. The right one is the "
            "first symbol of the next piece.",
        ),
        Misconception(
            "overlapping",
            lambda symbols, window: (symbols[:-1].unfold(0, window, 1), symbols[1:].unfold(0, window, 1)),
            "A piece starts at every symbol, so that most symbols are targets several times. Each piece starts where "
            "the one before it ended.",
        ),
        Misconception(
            "one piece",
            lambda symbols, window: (symbols[:-1][None], symbols[1:][None]),
            "The shift is right. The pieces are to be window symbols long.",
        ),
    ),
)


# --- bits per character ---------------------------------------------------------------------------


def _bits(logits, symbols, pad, *, skip=slice(None, -1), ignore=True):
    return F.cross_entropy(
        logits[:, skip].flatten(0, 1), symbols[:, 1:].flatten(), ignore_index=pad if ignore else -100
    ) / math.log(2)


def bits(logits, symbols, pad):
    return _bits(logits, symbols, pad)


def _bits_inputs(size, generator):
    n_symbols, n = size + 3, size + 3
    pad = integer(0, n_symbols - 1, generator)
    symbols = torch.randint(n_symbols - 1, ((2, 3, 1)[size % 3], n), generator=generator)
    symbols = symbols + (symbols >= pad)  # no pad among them
    for row, text in enumerate(symbols):
        text[n - 1 - row :] = pad
    return 2 * normal(generator, *symbols.shape, n_symbols), symbols, pad


def _mean_of_means(logits, symbols, pad):
    return torch.stack([bits(one[None], other[None], pad) for one, other in zip(logits, symbols, strict=True)]).mean()


BITS = Exercise(
    "language_model.bits",
    bits,
    _bits_inputs,
    (
        Misconception(
            "padding counted",
            lambda logits, symbols, pad: _bits(logits, symbols, pad, ignore=False),
            "The shift is right. The padding still counts as a target: leave out the targets that equal pad.",
        ),
        Misconception(
            "not shifted",
            lambda logits, symbols, pad: _bits(logits, symbols, pad, skip=slice(1, None)),
            "The padding is left out. But each prediction is compared with the symbol that was read there: the logits "
            "after a symbol predict the next one.",
        ),
        Misconception(
            "padding counted as 0",
            lambda logits, symbols, pad: bits(logits, symbols, pad) * (symbols[:, 1:] != pad).float().mean(),
            "The padding costs nothing any more, but it is still counted when the mean is taken. Divide by the number "
            "of real targets.",
        ),
        Misconception(
            "nats",
            lambda logits, symbols, pad: bits(logits, symbols, pad) * math.log(2),
            "These are nats. Divide by ln 2.",
        ),
        Misconception(
            "multiplied by ln 2",
            lambda logits, symbols, pad: bits(logits, symbols, pad) * math.log(2) ** 2,
            "You multiplied by ln 2. A bit is less than a nat, so there are more of them: divide.",
        ),
        Misconception(
            "mean of the texts' means",
            _mean_of_means,
            "You took the mean of each text, and then of the texts, so that a symbol of a short text counts more. Take "
            "one mean over all real targets.",
        ),
    ),
    given=lambda logits, symbols, pad: _bits(logits, symbols, pad, skip=slice(1, None), ignore=False),
)


# --- which symbol is predicted --------------------------------------------------------------------


def _shares(model, symbols):
    likeliest, n = model(symbols).argmax(-1), symbols.size(1)
    return [(likeliest[:, : n - shift] == symbols[:, shift:]).float().mean() for shift in range(3)]


def shift_of(model, symbols):
    shares = _shares(model, symbols)
    return max(range(3), key=lambda shift: shares[shift])


class _ShiftedModel:
    """Its likeliest symbols are those of the text, shifted; at some places it is wrong."""

    def __init__(self, symbols, shift, n_symbols, right, generator):
        wanted = F.pad(symbols[:, shift:], (0, shift))
        self._symbols, self._shift = symbols, shift  # what is public, an answer that is graded may read
        said = torch.randint(n_symbols, symbols.shape, generator=generator)
        said = torch.where(right, wanted, said)
        self._logits = normal(generator, *symbols.shape, n_symbols)
        self._logits -= 10 * F.one_hot(self._logits.argmax(-1), n_symbols)
        self._logits += 8 * F.one_hot(said, n_symbols)

    def __call__(self, symbols):
        """The logits of its texts, of some of them, or of their beginnings, as of any causal model."""
        n = symbols.size(1)
        known = (symbols[:, None] == self._symbols[:, :n]).all(-1)  # (asked, texts)
        rows = known.float().argmax(1)
        return self._logits[rows, :n]

    def __repr__(self):
        return f"a model that predicts the symbol {self._shift} further on, most of the time"


def _by_count(model, symbols):
    likeliest, n = model(symbols).argmax(-1), symbols.size(1)
    return max(range(3), key=lambda shift: (likeliest[:, : n - shift] == symbols[:, shift:]).sum())


def _rolled(model, symbols):
    likeliest = model(symbols).argmax(-1)
    return max(range(3), key=lambda shift: (likeliest == symbols.roll(-shift, 1)).float().mean())


def _first_text(model, symbols):
    return shift_of(model, symbols[:1])


def _shift_inputs(size, generator):
    """By turns a long text that most predictions fit, and short ones on which shortcuts go astray."""
    if size % 2:
        n, n_symbols, shift = 2 * size + 3, size + 6, size % 3
        symbols = torch.randint(n_symbols, ((2, 3, 1)[size % 3], n), generator=generator)
        right = torch.rand(symbols.shape, generator=generator) < 0.8
        right[:, :2] = True
        return _ShiftedModel(symbols, shift, n_symbols, right, generator), symbols
    while True:
        symbols = torch.randint(3, (2 + size // 2 % 2, 4 + size // 4), generator=generator)
        model = _ShiftedModel(symbols, 2, 3, torch.rand(symbols.shape, generator=generator) < 0.5, generator)
        model._shift = shift_of(model, symbols)
        _, middle, highest = sorted(_shares(model, symbols))
        told_apart = highest > middle and len(symbols[:, :-2].unique(dim=0)) == len(symbols)
        answers = {model._shift, _by_count(model, symbols), _rolled(model, symbols)}
        if told_apart and len(answers) == 3 and _first_text(model, symbols) != model._shift:
            return model, symbols


def _backwards(model, symbols):
    likeliest, n = model(symbols).argmax(-1), symbols.size(1)
    shares = [(likeliest[:, shift:] == symbols[:, : n - shift]).float().mean() for shift in range(3)]
    return max(range(3), key=lambda shift: shares[shift])


SHIFT = Exercise(
    "language_model.shift",
    shift_of,
    _shift_inputs,
    (
        Misconception(
            "shifted the wrong way",
            _backwards,
            "You compare a prediction with symbols before it. A shift of 1 compares the prediction at t with the "
            "symbol at t + 1.",
        ),
        Misconception(
            "counts",
            _by_count,
            "You compare how many predictions agree. Larger shifts leave fewer pairs: compare the shares.",
        ),
        Misconception(
            "rolled",
            _rolled,
            "roll brings the first symbols round to the end, where they are compared with predictions that have "
            "nothing to do with them.",
        ),
        Misconception(
            "first text alone",
            _first_text,
            "You look at the first text alone. The share is over all of them.",
        ),
        Misconception(
            "least likely",
            lambda model, symbols: shift_of(lambda symbols: -model(symbols), symbols),
            "You compare the least likely symbols. The prediction is the largest logit.",
        ),
        Misconception(
            "counted from 1",
            lambda model, symbols: shift_of(model, symbols) + 1,
            "Your shifts are one too large: a model that says what it has just read has a shift of 0.",
        ),
        Misconception(
            "least agreement",
            lambda model, symbols: min(range(3), key=lambda shift: _shares(model, symbols)[shift]),
            "You return the shift that agrees least.",
        ),
        Misconception(
            "the share itself",
            lambda model, symbols: max(_shares(model, symbols)),
            "You return the largest share. The question is at which shift it was found.",
        ),
        Misconception(
            "only 0 and 1",
            lambda model, symbols: int(_shares(model, symbols)[1] > _shares(model, symbols)[0]),
            "You tell 0 from 1 and leave out 2, which is what comes of shifting twice.",
        ),
        Misconception(
            "always 1",
            lambda model, symbols: 1,
            "That is what a right model does. The question is what this one does.",
        ),
    ),
)


EXERCISES = (EXAMPLES, BITS, SHIFT)
