"""Exercises of the page "Writing with a cache"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal

# --- what a window keeps --------------------------------------------------------------------------


def kept(n_tokens, window, n_sinks):
    place = torch.arange(n_tokens)
    return ((place < n_sinks) | (place >= n_tokens - window)).nonzero().flatten()


def _kept_inputs(size, generator):
    n_sinks, window = integer(0, 3, generator), integer(0, 3, generator) and size
    # By turns a long text, one in which the two groups overlap, one shorter than the window, and a single token.
    lengths = n_sinks + window + integer(2, 4, generator), n_sinks + window - 1, window - 1, 1
    return max(lengths[integer(0, 3, generator)], 1), window, n_sinks


KEPT = Exercise(
    "cache.kept",
    kept,
    _kept_inputs,
    (
        Misconception(
            "kept twice",
            lambda n_tokens, window, n_sinks: torch.cat(
                [torch.arange(min(n_sinks, n_tokens)), torch.arange(max(n_tokens - window, 0), n_tokens)]
            ),
            "In a short text some of the newest tokens are also among the first, and you keep them twice: their values "
            "would get twice the weight.",
        ),
        Misconception(
            "no sinks",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window, 0),
            "You keep the window alone. The first n_sinks stay too.",
        ),
        Misconception(
            "sinks alone",
            lambda n_tokens, window, n_sinks: kept(n_tokens, 0, n_sinks),
            "You keep the first tokens alone. The newest window tokens stay too.",
        ),
        Misconception(
            "one too many",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window + 1, n_sinks),
            "Your window is one too long: places count from 0, so the newest token stands at n_tokens - 1.",
        ),
        Misconception(
            "one too few",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window - 1, n_sinks),
            "Your window is one too short. The newest token counts as one of its tokens.",
        ),
        Misconception(
            "what goes",
            lambda n_tokens, window, n_sinks: torch.tensor(
                sorted(set(range(n_tokens)) - set(kept(n_tokens, window, n_sinks).tolist())), dtype=torch.long
            ),
            "Those are the places that go.",
        ),
        Misconception(
            "a mask",
            lambda n_tokens, window, n_sinks: torch.isin(torch.arange(n_tokens), kept(n_tokens, window, n_sinks)),
            "The booleans are right. Asked for are the places themselves, whole numbers.",
        ),
        Misconception(
            "the oldest beside the sinks",
            lambda n_tokens, window, n_sinks: torch.arange(min(n_sinks + window, n_tokens)),
            "Your window lies behind the first tokens and never moves. It holds the newest ones.",
        ),
    ),
)


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
    """Handed out to be mended."""
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


EXERCISES = (KEPT, STEP)
