"""Exercises of the page "Writing with a cache"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- writing with a cache -------------------------------------------------------------------------


class _Model:
    """Random, and its cache a list with a vector for each symbol; it refuses more symbols than all texts need."""

    def __init__(self, embedding, head, unread):
        # What is public, an answer that is graded may read and change.
        self._embedding, self._head, self._unread = embedding, head, unread

    def __call__(self, symbols, cache):
        self._unread -= symbols.numel()
        if self._unread < 0:
            raise RuntimeError(f"the model reads {-self._unread} more symbols than the texts have")
        logits = []
        for column in symbols.T:
            cache.append(self._embedding[column])
            ages = torch.arange(len(cache)).flip(0).view(-1, 1, 1)
            logits.append((torch.stack(cache) * 0.8**ages).sum(0) @ self._head)
        return torch.stack(logits, dim=1)

    def __repr__(self):
        return "a model"


def write(model, prompt, n):
    return _write(model, prompt, n, [])


def _write(model, prompt, n, cache, first=None, row=-1):
    """Greedily; `first` is what is read before the first choice, and `row` the one that it is made from."""
    symbols, unread = prompt, prompt if first is None else first
    for _ in range(n):
        unread = model(unread, cache)[:, row].argmax(-1, keepdim=True)
        symbols = torch.cat([symbols, unread], dim=1)
    return symbols


def _write_inputs(size, generator):
    batch, n_symbols, n_prompt, n = (2, 3, 1)[size % 3], 7 + size, 1 + size, 2 + size
    embedding, head = normal(generator, n_symbols, 6), normal(generator, 6, n_symbols)
    prompt = torch.randint(n_symbols, (batch, n_prompt), generator=generator)
    return _Model(embedding, head, batch * (n_prompt + n)), prompt, n


def _forgetful(model, prompt, n):
    symbols = unread = prompt
    for _ in range(n):
        unread = model(unread, [])[:, -1].argmax(-1, keepdim=True)
        symbols = torch.cat([symbols, unread], dim=1)
    return symbols


def _all_again(model, prompt, n):
    symbols, cache = prompt, []
    for _ in range(n):
        newest = model(symbols, cache)[:, -1].argmax(-1, keepdim=True)
        symbols = torch.cat([symbols, newest], dim=1)
    return symbols


WRITE = Exercise(
    "cache.write",
    write,
    _write_inputs,
    (
        Misconception(
            "reads all again",
            _all_again,
            "The model reads symbols that it has read before. Hand it only those that the cache does not hold yet: the "
            "whole prompt first, and then one symbol in each step.",
        ),
        Misconception(
            "a new cache in each step",
            _forgetful,
            "Each step begins with an empty cache, so the model knows the newest symbol alone. One cache serves the "
            "whole text.",
        ),
        Misconception(
            "the end of the prompt alone",
            lambda model, prompt, n: _write(model, prompt, n, [], prompt[:, -1:]),
            "The model has read the last symbol of the prompt alone. The cache is empty at first: hand it the whole "
            "prompt.",
        ),
        Misconception(
            "the first row",
            lambda model, prompt, n: _write(model, prompt, n, [], row=0),
            "The model answers with a row for each symbol that it was handed. The last row says what comes next.",
        ),
        Misconception(
            "without the prompt",
            lambda model, prompt, n: write(model, prompt, n)[:, prompt.size(1) :],
            "The right symbols. Asked for are the prompt and what follows it.",
        ),
        Misconception(
            "one too few",
            lambda model, prompt, n: write(model, prompt, n)[:, :-1],
            "The last symbol is missing: n are to be written, and the first of them follows from the prompt.",
        ),
        Misconception(
            "the newest is never read",
            lambda model, prompt, n: torch.cat([prompt, _newest(model, prompt).expand(-1, n)], dim=1),
            "You write the same symbol n times. Each new symbol has to be read before the next one is chosen.",
        ),
    ),
)


def _newest(model, prompt):
    return model(prompt, [])[:, -1].argmax(-1, keepdim=True)


# --- a step with a cache --------------------------------------------------------------------------


def _attend(query, keys, values, mask=None):
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)


def _triangle(query, keys, diagonal):
    return torch.ones(query.size(-2), keys.size(-2), dtype=torch.bool).tril(diagonal)


def _joined(key, value, held_key, held_value):
    return torch.cat([held_key, key], dim=-2), torch.cat([held_value, value], dim=-2)


def step(query, key, value, held_key, held_value):
    keys, values = _joined(key, value, held_key, held_value)
    return _attend(query, keys, values, _triangle(query, keys, held_key.size(-2)))


def _step_inputs(size, generator):
    batch, heads, n_new, n_held, d_head = (2, 3, 1)[size % 3], 2, 2 + size // 2, 1 + size, size + 1
    new = [normal(generator, batch, heads, n_new, d_head) for _ in range(3)]
    return *new, *(normal(generator, batch, heads, n_held, d_head) for _ in range(2))


def _with_mask(mask_of):
    """A wrong step whose tokens stand in the right order."""

    def wrong(query, key, value, held_key, held_value):
        keys, values = _joined(key, value, held_key, held_value)
        return _attend(query, keys, values, mask_of(query, keys, held_key.size(-2)))

    return wrong


def _new_first(query, key, value, held_key, held_value):
    keys, values = _joined(held_key, held_value, key, value)
    return _attend(query, keys, values, _triangle(query, keys, held_key.size(-2)))


def _both_wrong(query, key, value, held_key, held_value):
    """Handed out to be fixed."""
    keys, values = _joined(held_key, held_value, key, value)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=True)


def _uncached_values(query, key, value, held_key, held_value):
    keys, values = torch.cat([held_key, key], dim=-2), torch.cat([value, held_value], dim=-2)
    return _attend(query, keys, values, _triangle(query, keys, held_key.size(-2)))


STEP = Exercise(
    "cache.step",
    step,
    _step_inputs,
    (
        Misconception(
            "top left",
            _with_mask(lambda query, keys, n_held: _triangle(query, keys, 0)),
            "The order is right. The triangle still stands in the top left corner: your first new token sees the very "
            "first key alone.",
        ),
        Misconception(
            "new tokens first",
            _new_first,
            "The mask is right for tokens in the order of the text. The new keys and values belong behind those that "
            "are held.",
        ),
        Misconception(
            "no mask",
            _with_mask(lambda query, keys, n_held: None),
            "Every new token sees every key. For a single new token that is right; of several, the earlier ones must "
            "not see the later ones.",
        ),
        Misconception(
            "not itself",
            _with_mask(lambda query, keys, n_held: _triangle(query, keys, n_held - 1)),
            "Off by one: a new token may see itself.",
        ),
        Misconception(
            "one into the future",
            _with_mask(lambda query, keys, n_held: _triangle(query, keys, n_held + 1)),
            "Off by one: each new token sees the one after it.",
        ),
        Misconception(
            "values in another order",
            _uncached_values,
            "Keys and values stand in different orders, so that weights fall on values of other tokens.",
        ),
        Misconception(
            "held tokens alone",
            lambda query, key, value, held_key, held_value: _attend(query, held_key, held_value),
            "The new tokens see what is held and not themselves: their own keys and values belong to the cache too.",
        ),
    ),
    given=_both_wrong,
)


EXERCISES = (WRITE, STEP)
