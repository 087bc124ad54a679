"""Exercises of the page "Scores that know the distance"."""

import torch

from attention_course.attention import scaled_dot_product_attention
from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal
from attention_course.positions import rotate

# --- which of Shaw's vectors belongs to a pair -------------------------------------------------------


def shaw_index(n_queries, n_keys, max_distance):
    query_position = torch.arange(n_keys - n_queries, n_keys)
    offset = torch.arange(n_keys) - query_position[:, None]
    return offset.clamp(-max_distance, max_distance) + max_distance


def _offset(n_queries, n_keys):
    return torch.arange(n_keys) - torch.arange(n_keys - n_queries, n_keys)[:, None]


SHAW = Exercise(
    "relative.shaw_index",
    shaw_index,
    lambda size, generator: (size, size + integer(0, 4, generator), integer(1, 4, generator)),
    (
        Misconception(
            "sign",
            lambda n_queries, n_keys, max_distance: (
                shaw_index(n_queries, n_keys, max_distance).neg() + 2 * max_distance
            ),
            "Past and future are swapped: the offset is the key's position minus the query's.",
        ),
        Misconception(
            "shifts before it clips",
            lambda n_queries, n_keys, max_distance: (_offset(n_queries, n_keys) + max_distance).clamp(
                -max_distance, max_distance
            ),
            "You clipped to ±max_distance after shifting, so the whole future shares one vector and indices go "
            "below 0 (which Python reads from the end of the table, without an error).",
        ),
        Misconception(
            "no shift",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys).clamp(-max_distance, max_distance),
            "Your indices start at -max_distance. A table's rows start at 0.",
        ),
        Misconception(
            "no clip",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys) + max_distance,
            "Offsets beyond max_distance point outside the table of 2 max_distance + 1 rows.",
        ),
        Misconception(
            "distance instead of offset",
            lambda n_queries, n_keys, max_distance: _offset(n_queries, n_keys).abs().clamp(max=max_distance),
            "You took the absolute value, so a key two places before looks like one two places after.",
        ),
        Misconception(
            "queries from 0",
            lambda n_queries, n_keys, max_distance: (
                (torch.arange(n_keys) - torch.arange(n_queries)[:, None]).clamp(-max_distance, max_distance)
                + max_distance
            ),
            "You counted the queries from 0. They are the newest tokens: the last query stands at the last key.",
        ),
    ),
)


# --- ALiBi's bias ---------------------------------------------------------------------------------------


def alibi_bias(n_heads, n_queries, n_keys):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return -slopes[:, None, None] * _offset(n_queries, n_keys).abs()


def _with_slopes(make_slopes):
    """A wrong bias whose slopes come from the numbers of the heads, counted from 1, and how many there are."""

    def wrong(n_heads, n_queries, n_keys):
        slopes = make_slopes(torch.arange(1, n_heads + 1), n_heads)
        return -slopes[:, None, None] * _offset(n_queries, n_keys).abs()

    return wrong


ALIBI = Exercise(
    "relative.alibi_bias",
    alibi_bias,
    lambda size, generator: (integer(1, 9, generator), size, size + integer(0, 4, generator)),
    (
        Misconception(
            "sign",
            lambda n_heads, n_queries, n_keys: -alibi_bias(n_heads, n_queries, n_keys),
            "Your bias grows with the distance, so the farthest keys win. It must fall.",
        ),
        Misconception(
            "slopes without the number of heads",
            _with_slopes(lambda head, n_heads: 2.0**-head),
            "Your slopes halve from head to head whatever the number of heads. That is right for 8 heads; "
            "in general the last head's slope is 1/256.",
        ),
        Misconception(
            "heads from 0",
            _with_slopes(lambda head, n_heads: 2.0 ** (-8 * (head - 1) / n_heads)),
            "You counted heads from 0, so the first head's slope is 1. The paper counts from 1.",
        ),
        Misconception(
            "one slope for all",
            _with_slopes(lambda head, n_heads: torch.full((n_heads,), 2.0 ** (-8 / n_heads))),
            "All heads fall equally fast. Each has a slope of its own, so that some look far and some near.",
        ),
        Misconception(
            "linear slopes",
            _with_slopes(lambda head, n_heads: head / n_heads),
            "Your slopes lie on a line. They are a geometric sequence: each is the one before times 2^(-8 / n_heads).",
        ),
        Misconception(
            "future rewarded",
            lambda n_heads, n_queries, n_keys: (
                2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)[:, None, None] * _offset(n_queries, n_keys)
            ),
            "Without an absolute value, keys after the query get a positive bias that grows with the distance. "
            "A causal mask would hide it; here there is none.",
        ),
        Misconception(
            "queries from 0",
            lambda n_heads, n_queries, n_keys: (
                -(2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads))[:, None, None]
                * (torch.arange(n_keys) - torch.arange(n_queries)[:, None]).abs()
            ),
            "You counted the queries from 0. They are the newest tokens: the last query stands at the last key.",
        ),
    ),
)


# --- the other way to pair features -------------------------------------------------------------------


def _frequencies(d_model):
    return 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)


def _angles(tokens, position):
    return position[:, None] * _frequencies(tokens.size(-1))  # (n_tokens, d_head / 2)


def rotate_halves(tokens, position):
    angle = _angles(tokens, position)
    first, second = tokens.chunk(2, dim=-1)
    return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], dim=-1)


def _interleaved(tokens, position):
    angle = _angles(tokens, position)
    first, second = tokens.chunk(2, dim=-1)
    turned = [first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def _each_angle_twice(tokens, position):
    angle = _angles(tokens, position).repeat_interleave(2, dim=-1)
    first, second = tokens.chunk(2, dim=-1)
    return tokens * angle.cos() + torch.cat([-second, first], dim=-1) * angle.sin()


def _half_the_exponent(tokens, position):
    d = tokens.size(-1)
    return _turn_halves(tokens, position[:, None] * 10_000.0 ** (-torch.arange(d // 2) / d))


def _swap_neighbours(tokens):
    """(x0, x1, x2, x3) to (-x1, x0, -x3, x2)."""
    return torch.stack([-tokens[..., 1::2], tokens[..., 0::2]], dim=-1).flatten(-2)


def _mixed_conventions(tokens, position):
    angle = _angles(tokens, position).repeat(1, 2)
    return tokens * angle.cos() + _swap_neighbours(tokens) * angle.sin()


ROTATE = Exercise(
    "relative.rotate_halves",
    rotate_halves,
    lambda size, generator: (
        normal(generator, size + 1, 2 * size),
        torch.randperm(10 * size, generator=generator)[: size + 1],
    ),
    (
        Misconception(
            "pairs neighbours",
            rotate,
            "You turned neighbours, as in the lesson. Here feature i is paired with feature i + d_head / 2.",
        ),
        Misconception(
            "mixes the conventions",
            _mixed_conventions,
            "Your angles are laid out for halves, but your features are swapped in neighbouring pairs. Each half of "
            "the code is right for one convention; together they are right for none.",
        ),
        Misconception(
            "interleaved again",
            _interleaved,
            "Every pair is turned as it should be. But you put the numbers back in pairs, one from each half in turn: "
            "feature i belongs in its old place i, and its partner in i + d / 2.",
        ),
        Misconception(
            "each angle twice in a row",
            _each_angle_twice,
            "Your table of angles holds each angle twice in a row, which fits pairs of neighbours. The partners stand "
            "d / 2 apart here, and both must turn by the same angle.",
        ),
        Misconception(
            "half the exponent",
            _half_the_exponent,
            "Your exponent is -i / d. It should be -2i / d, with i counting the pairs: your later pairs turn too fast.",
        ),
        Misconception(
            "turns backwards",
            lambda tokens, position: rotate_halves(tokens, -position),
            "You turned the other way. (Scores would not notice, as long as queries and keys agree.)",
        ),
        Misconception(
            "both signs equal",
            lambda tokens, position: torch.cat(
                [
                    tokens.chunk(2, -1)[0] * _angles(tokens, position).cos()
                    + tokens.chunk(2, -1)[1] * _angles(tokens, position).sin(),
                    tokens.chunk(2, -1)[0] * _angles(tokens, position).sin()
                    + tokens.chunk(2, -1)[1] * _angles(tokens, position).cos(),
                ],
                dim=-1,
            ),
            "Both of your sines are added. A rotation keeps lengths, and yours does not: one of them needs a minus.",
        ),
        Misconception(
            "one angle for all pairs",
            lambda tokens, position: _turn_halves(tokens, position[:, None].float()),
            "Every pair turns equally fast, so two positions look alike after every full turn. "
            "Pair i has a frequency of its own.",
        ),
        Misconception(
            "ignores the position given",
            lambda tokens, position: rotate_halves(tokens, torch.arange(len(position))),
            "You counted positions from 0. The caller says where the tokens stand.",
        ),
        Misconception(
            "adds a code",
            lambda tokens, position: (
                tokens + torch.cat([_angles(tokens, position).sin(), _angles(tokens, position).cos()], -1)
            ),
            "You added sines and cosines to the tokens: that is the sinusoidal code. RoPE multiplies.",
        ),
    ),
    differentiable=True,
)


def _turn_halves(tokens, angle):
    first, second = tokens.chunk(2, dim=-1)
    return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], dim=-1)


# --- rotary attention for the newest tokens -----------------------------------------------------------


def rotary_attention(query, key, value):
    n_queries, n_keys = query.size(-2), key.size(-2)
    position = torch.arange(n_keys)
    return _attend(rotate(query, position[n_keys - n_queries :]), rotate(key, position), value)


def _attend(query, key, value):
    return scaled_dot_product_attention(query, key, value)[0]


def _turned(tokens, start=0, sign=1):
    return rotate(tokens, sign * (start + torch.arange(tokens.size(-2))))


def _gap(query, key):
    """How many tokens came before the first query."""
    return key.size(-2) - query.size(-2)


def _counts_from_zero_and_turns_values(query, key, value):
    """Handed out to be fixed."""
    return _attend(_turned(query), _turned(key), _turned(value))


def _rotary_inputs(size, generator):
    n_keys = size + integer(0, 4, generator)
    return tuple(normal(generator, n, 2 * size) for n in (size, n_keys, n_keys))


ROTARY = Exercise(
    "relative.rotary_attention",
    rotary_attention,
    _rotary_inputs,
    (
        Misconception(
            "queries from 0",
            lambda query, key, value: _attend(_turned(query), _turned(key), value),
            "You counted the queries from 0. They are the newest tokens, so the last query stands at the last key: "
            "this is the mistake that shows only once a cache is used.",
        ),
        Misconception(
            "turns the values too",
            lambda query, key, value: _attend(_turned(query, _gap(query, key)), _turned(key), _turned(value)),
            "You turned the values too. Only the scores should know about positions: what is blended stays as it is.",
        ),
        Misconception(
            "turns the queries only",
            lambda query, key, value: _attend(_turned(query, _gap(query, key)), key, value),
            "You turned the queries and not the keys, so scores depend on where the query stands, not on the offset.",
        ),
        Misconception(
            "turns the keys only",
            lambda query, key, value: _attend(query, _turned(key), value),
            "You turned the keys and not the queries, so scores depend on where the key stands, not on the offset.",
        ),
        Misconception(
            "turns keys the other way",
            lambda query, key, value: _attend(_turned(query, _gap(query, key)), _turned(key, sign=-1), value),
            "Queries and keys turn in opposite directions, so angles add up: scores depend on the sum of the "
            "positions. Both turn the same way, and the dot product takes the difference by itself.",
        ),
        Misconception(
            "no positions",
            lambda query, key, value: _attend(query, key, value),
            "Nothing is turned: this is attention without positions.",
        ),
    ),
    given=_counts_from_zero_and_turns_values,
    differentiable=True,
)


EXERCISES = (SHAW, ALIBI, ROTATE, ROTARY)
