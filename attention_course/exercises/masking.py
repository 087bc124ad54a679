"""Exercises of the lesson "Masking"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, lengths_up_to, normal
from attention_course.masks import causal_mask, padding_mask

# --- the other polarity -------------------------------------------------------------------------


def to_multihead(causal, padding):
    return ~causal, ~padding[:, 0, 0, :]


def _polarity_inputs(size, generator):
    n_tokens = size + 2
    lengths = lengths_up_to(n_tokens, size - 1, generator)
    return causal_mask(n_tokens), padding_mask(lengths, n_tokens)


TO_MULTIHEAD = Exercise(
    "masking.to_multihead",
    to_multihead,
    _polarity_inputs,
    (
        Misconception(
            "not inverted",
            lambda causal, padding: (causal, padding[:, 0, 0, :]),
            "The shapes are right, but True still means may attend. nn.MultiheadAttention blocks where it is True, "
            "and would look at the future and the padding alone.",
        ),
        Misconception(
            "only attn_mask inverted",
            lambda causal, padding: (~causal, padding[:, 0, 0, :]),
            "attn_mask is right. key_padding_mask has the same polarity: True blocks.",
        ),
        Misconception(
            "only key_padding_mask inverted",
            lambda causal, padding: (causal, ~padding[:, 0, 0, :]),
            "key_padding_mask is right. attn_mask has the same polarity: True blocks.",
        ),
        Misconception(
            "transposed instead of inverted",
            lambda causal, padding: (causal.T, ~padding[:, 0, 0, :]),
            "The transpose of a causal mask is not its opposite: both hold the diagonal. Yours would block each token "
            "from itself and leave the first with nothing.",
        ),
        Misconception(
            "1 - mask",
            lambda causal, padding: (1 - causal, 1 - padding[:, 0, 0, :]),
            "PyTorch does not subtract booleans. The opposite of a boolean tensor is ~mask.",
        ),
        Misconception(
            "four dimensions",
            lambda causal, padding: (~causal, ~padding),
            "The polarity is right, but key_padding_mask has shape (batch, n_keys): the layer adds the dimensions of "
            "heads and queries itself.",
        ),
    ),
)


# --- a window and a few keys that all may see ---------------------------------------------------


def window_and_sinks(n_tokens, window, n_sinks):
    query, key = torch.arange(n_tokens)[:, None], torch.arange(n_tokens)
    return (key <= query) & ((query - key <= window) | (key < n_sinks))


def _window_inputs(size, generator):
    return size + 5, integer(0, 2, generator), integer(0, 5, generator)


def _grid(rule):
    """A wrong mask, from a rule on positions of queries and keys."""

    def wrong(n_tokens, window, n_sinks):
        return rule(torch.arange(n_tokens)[:, None], torch.arange(n_tokens), window, n_sinks)

    return wrong


WINDOW = Exercise(
    "masking.window",
    window_and_sinks,
    _window_inputs,
    (
        Misconception(
            "both sides",
            _grid(lambda query, key, window, n_sinks: ((query - key).abs() <= window) | (key < n_sinks)),
            "Your window reaches into the future, and the first tokens are seen by those before them.",
        ),
        Misconception(
            "sinks before their time",
            _grid(
                lambda query, key, window, n_sinks: (key <= query) & (query - key <= window) | (key < n_sinks),
            ),
            "The first tokens see later ones among the first n_sinks before they have come. Causality must hold for "
            "those keys too: & binds more tightly than |.",
        ),
        Misconception(
            "no sinks",
            _grid(lambda query, key, window, n_sinks: (key <= query) & (query - key <= window)),
            "The window is right. The first n_sinks tokens must stay visible when it has moved on.",
        ),
        Misconception(
            "the window counts itself",
            _grid(lambda query, key, window, n_sinks: (key <= query) & ((query - key < window) | (key < n_sinks))),
            "The window is one too short: a key exactly `window` positions back may be seen.",
        ),
        Misconception(
            "& for |",
            _grid(lambda query, key, window, n_sinks: (key <= query) & (query - key <= window) & (key < n_sinks)),
            "You asked for keys that are near and among the first. Either is enough.",
        ),
        Misconception(
            "sinks as queries",
            _grid(lambda query, key, window, n_sinks: (key <= query) & ((query - key <= window) | (query < n_sinks))),
            "You let the first tokens see more. It is the others that must see the first ones: the condition belongs "
            "to keys, the columns.",
        ),
    ),
)


# --- fix the test for leaks --------------------------------------------------------------------


class _AveragingModel:
    """Each token averages vectors of the tokens before it and of itself. A leak moves one logit alone, and the last of
    them another one as much the other way.

    Args:
        leaks: `(place, later place, first symbol)`: the first sees the second in texts that begin with this symbol.
    """

    def __init__(self, leaks, n_tokens, n_symbols, generator):
        self._leaks = leaks  # all is private: what is public, an answer that is graded may read
        self._vectors = normal(generator, n_symbols, n_symbols)
        self._past = torch.ones(n_tokens, n_tokens).tril()
        self._past /= self._past.sum(-1, keepdim=True)
        self._future = torch.zeros(n_symbols, n_tokens, n_tokens)
        for place, later, first in leaks:
            self._future[first, place, later] = 1
        self._moved = integer(0, n_symbols - 1, generator)
        self._direction = torch.zeros(n_tokens, n_symbols)
        self._direction[:, self._moved] = 1
        self._direction[leaks[-1][0], self._moved - 1] = -1

    def __call__(self, symbols):
        vectors = self._vectors[symbols]  # (batch, n_tokens, n_symbols)
        leaked = self._future[symbols[:, 0]] @ vectors[..., self._moved, None]  # (batch, n_tokens, 1)
        return self._past @ vectors + leaked * self._direction

    def __repr__(self):
        return "a model: " + ", ".join(
            f"place {place} sees {later} in a text that begins with {first}" for place, later, first in self._leaks
        )


def leaking_positions(model, symbols, n_symbols):
    return _positions_that_change(model, symbols, n_symbols, lambda t, place: place > t, lambda t, place: place == t)


def _next_symbol(symbols, n_symbols):
    return (symbols + 1) % n_symbols


def _positions_that_change(model, symbols, n_symbols, changed, watched, size=torch.abs, new=_next_symbol):
    """For each position t: whether logits at the watched places change with the symbols at the changed ones."""
    place = torch.arange(symbols.size(1))
    leaks = []
    for t in range(symbols.size(1)):
        other = torch.where(changed(t, place), new(symbols, n_symbols), symbols)
        difference = size(model(other) - model(symbols))[:, watched(t, place)]
        leaks.append(bool((difference > 1e-6).any()))
    return torch.tensor(leaks)


def _one_ahead_and_upwards(model, symbols, n_symbols):
    return _positions_that_change(
        model, symbols, n_symbols, lambda t, place: place == t + 1, lambda t, place: place == t, size=torch.positive
    )


def _leak_inputs(size, generator):
    n_tokens, n_symbols = size + 4, size + 2
    n_texts = (2, 3, 1)[size % 3]
    symbols = torch.randint(n_symbols, (n_texts, n_tokens), generator=generator)
    symbols[:, 0] = torch.randperm(n_symbols, generator=generator)[:n_texts]  # no two texts begin alike
    nearest, farthest, between = torch.randperm(n_tokens - 3, generator=generator)[:3].tolist()
    leaks = [
        (place, later, int(symbols[integer(0, n_texts - 1, generator), 0]))  # each in one text alone
        for place, later in ((nearest, nearest + 1), (farthest, n_tokens - 1), (between, n_tokens - 2))
    ]
    return _AveragingModel(leaks, n_tokens, n_symbols, generator), symbols, n_symbols


LEAKS = Exercise(
    "masking.leaks",
    leaking_positions,
    _leak_inputs,
    (
        Misconception(
            "changes the position itself",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place >= t, lambda t, place: place == t
            ),
            "You changed the symbol at t as well. The prediction at t may depend on it: only what comes after is the "
            "future.",
        ),
        Misconception(
            "changes only the next",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place == t + 1, lambda t, place: place == t
            ),
            "Falls are noticed now. But you change only the symbol at t + 1, and miss a position that looks further "
            "ahead.",
        ),
        Misconception(
            "rises only",
            lambda model, symbols, n_symbols: _positions_that_change(
                model,
                symbols,
                n_symbols,
                lambda t, place: place > t,
                lambda t, place: place == t,
                size=torch.positive,
            ),
            "All later symbols change now. But you notice only logits that rise, and a leak can lower every logit that "
            "it moves.",
        ),
        Misconception(
            "changes only the last",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place == len(place) - 1, lambda t, place: place == t
            ),
            "You changed only the last symbol, and miss a position that looks ahead less far. (And the last position "
            "may depend on it: it has no future.)",
        ),
        Misconception(
            "watches the whole past",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place > t, lambda t, place: place <= t
            ),
            "You watched every place up to t. A leak at an earlier place is then counted at t too, where there may be "
            "none. Watch position t alone.",
        ),
        Misconception(
            "watches the first text",
            lambda model, symbols, n_symbols: leaking_positions(model, symbols[:1], n_symbols),
            "You watched the first text of the batch only. A model may leak in one text and not in another.",
        ),
        Misconception(
            "replaces the future by 0",
            lambda model, symbols, n_symbols: _positions_that_change(
                model,
                symbols,
                n_symbols,
                lambda t, place: place > t,
                lambda t, place: place == t,
                new=lambda symbols, n_symbols: torch.zeros_like(symbols),
            ),
            "You replaced the future by 0. Where a symbol was 0 before, it did not change, and what depends on it is "
            "missed. (Random symbols have the same fault: now and then they are the old ones.)",
        ),
        Misconception(
            "watches the future",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place > t, lambda t, place: place > t
            ),
            "You changed the future and watched the future: of course it changes. Watch position t.",
        ),
        Misconception(
            "changes the past",
            lambda model, symbols, n_symbols: _positions_that_change(
                model, symbols, n_symbols, lambda t, place: place < t, lambda t, place: place == t
            ),
            "You changed the past. That a prediction depends on it is what a language model is for.",
        ),
        Misconception(
            "inverted",
            lambda model, symbols, n_symbols: ~leaking_positions(model, symbols, n_symbols),
            "You marked the positions that do not leak.",
        ),
    ),
    given=_one_ahead_and_upwards,
)

EXERCISES = (TO_MULTIHEAD, WINDOW, LEAKS)
