"""Exercises of the chapter "What can attention compute, and what not?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

# --- looking back --------------------------------------------------------------------------------


def look_back(n, back, sharp):
    return sharp * torch.ones(n - back).diag(-back)


def _look_back_inputs(size, generator):
    return size + 4, integer(2, size + 1, generator), float(10 * size)


LOOK_BACK = Exercise(
    "theory.look_back",
    look_back,
    _look_back_inputs,
    (
        Misconception(
            "looks ahead",
            lambda n, back, sharp: sharp * torch.ones(n - back).diag(back),
            "This head looks ahead: the query in place i asks for place i + back. You have the other side of the "
            "diagonal.",
        ),
        Misconception(
            "comes round again",
            lambda n, back, sharp: sharp * torch.eye(n).roll(back, 0),
            "The first queries ask for the last places: `roll` brings what falls out at one end in again at the "
            "other. They are to ask for nothing.",
        ),
        Misconception(
            "always one back",
            lambda n, back, sharp: sharp * torch.ones(n - 1).diag(-1),
            "This looks one place back, whatever `back` is.",
        ),
        Misconception(
            "not sharp",
            lambda n, back, sharp: torch.ones(n - back).diag(-back),
            "The right place, but with a score of 1, whatever `sharp` is. The others would get much of the weight.",
        ),
        Misconception(
            "all places up to it",
            lambda n, back, sharp: sharp * torch.ones(n, n).tril(-back),
            "Each query asks for all places that are at least so far back, with the same score: the weights would be "
            "spread over them.",
        ),
    ),
)

# --- counting ------------------------------------------------------------------------------------


def count_so_far(symbols, asked):
    weights = _weights((symbols == asked) | (symbols == 0))
    return 1 / weights[:, 0] - 1


def _weights(counted, causal=True):
    n = len(counted)
    scores = (50.0 * counted).expand(n, n)
    if causal:
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
    return scores.softmax(-1)


def _count_inputs(size, generator):
    symbols = torch.randint(1, 4, (3 * size,), generator=generator)
    symbols[0] = 0
    asked = integer(1, 3, generator)
    symbols[1], symbols[3], symbols[-1] = asked, asked % 3 + 1, asked
    return symbols, asked


def _own_symbol(symbols, asked):
    same = (symbols[:, None] == symbols) & (torch.arange(len(symbols)) <= torch.arange(len(symbols))[:, None])
    return same.float().sum(-1)


COUNT = Exercise(
    "theory.count",
    count_so_far,
    _count_inputs,
    (
        Misconception(
            "counts the start symbol",
            lambda symbols, asked: count_so_far(symbols, asked) + 1,
            "This is one too many: the start symbol has a share too.",
        ),
        Misconception(
            "the share",
            lambda symbols, asked: _weights((symbols == asked) | (symbols == 0))[:, 0],
            "This is the weight on the start symbol, one share of c + 1. Read the count c off it.",
        ),
        Misconception(
            "sees what comes later",
            lambda symbols, asked: 1 / _weights((symbols == asked) | (symbols == 0), causal=False)[:, 0] - 1,
            "Every place says the count of the whole text: its query also looks at what comes later.",
        ),
        Misconception(
            "a share of all",
            lambda symbols, asked: (symbols == asked).float().cumsum(0) / torch.arange(1, len(symbols) + 1),
            "This is the share of the asked symbol among all so far, as a head with equal scores gives it. Give those "
            "that are not counted a much lower score.",
        ),
        Misconception(
            "counts its own symbol",
            _own_symbol,
            "Each place counts its own symbol, as in the lesson. Here all of them count the symbol `asked`.",
        ),
        Misconception(
            "all symbols",
            lambda symbols, asked: torch.arange(len(symbols)).float(),
            "This counts every symbol so far: all scores seem to be equal.",
        ),
    ),
)

# --- induction -----------------------------------------------------------------------------------


def _attend(scores, letters):
    later = torch.ones_like(scores).triu(1).bool()
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ letters


def _before(letters):
    return torch.cat([torch.zeros_like(letters[:1]), letters[:-1]])


def induction(letters, sharp):
    return _attend(sharp * letters @ _before(letters).T, letters)


def given_induction(letters, sharp):
    """Handed out to be fixed."""
    return _attend(sharp * letters @ letters.T, letters)


def _without_itself(letters, sharp):
    scores = sharp * letters @ letters.T
    now_or_later = torch.ones_like(scores).triu().bool()
    return scores.masked_fill(now_or_later, -torch.inf).softmax(-1) @ letters


def _induction_inputs(size, generator):
    n_letters = 3 + size % 2
    pattern = torch.randint(0, n_letters, (size + 3,), generator=generator)
    pattern[-1] = pattern[0]  # a letter that comes again at the end
    return torch.eye(n_letters)[pattern], 2.0 + size / 2


INDUCTION = Exercise(
    "theory.induction",
    induction,
    _induction_inputs,
    (
        Misconception(
            "values moved, keys not",
            lambda letters, sharp: _attend(sharp * letters @ letters.T, _before(letters)),
            "Now the letter *before* each match comes back: you moved the values, in the wrong direction. The keys "
            "are still the letters themselves.",
        ),
        Misconception(
            "the last letter comes round",
            lambda letters, sharp: _attend(sharp * letters @ letters.roll(1, 0).T, letters),
            "Nearly: `roll` puts the last letter before the first one, so the first key says something that is not so.",
        ),
        Misconception(
            "moved the other way",
            lambda letters, sharp: _attend(
                sharp * letters @ torch.cat([letters[1:], torch.zeros_like(letters[:1])]).T, letters
            ),
            "Your keys say which letter comes *after* each place. That looks for the place before a match, and a "
            "causal model could not know it at the last place.",
        ),
        Misconception(
            "queries moved",
            lambda letters, sharp: _attend(sharp * _before(letters) @ letters.T, letters),
            "You moved the queries: each place now looks for the letter before its own, and brings it back.",
        ),
        Misconception(
            "only itself forbidden",
            _without_itself,
            "You keep a letter from looking at itself, but it still finds the same letter, not the one after it.",
        ),
        Misconception(
            "keys and values moved",
            lambda letters, sharp: _attend(sharp * letters @ _before(letters).T, _before(letters)),
            "Keys and values both moved, so what comes back is again the letter itself. The values stay where they "
            "are.",
        ),
    ),
    given=given_induction,
)

EXERCISES = (LOOK_BACK, COUNT, INDUCTION)
