"""Exercises of the lesson "Positions"."""

import torch

from attention_course.attention import scaled_dot_product_attention
from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal
from attention_course.positions import rotate

# --- a code for each token of a batch -----------------------------------------------------------


def add_codes(tokens, table):
    return tokens + table[: tokens.size(1)]


def _one_code_a_sequence(tokens, table):
    """Handed out to be mended."""
    return tokens + table[: tokens.size(0), None]


def _add_inputs(size, generator):
    n_sequences, n_tokens, width = size - 1, size + 2, 2 * size
    n_positions = n_tokens + (3, 0, 1)[size % 3]
    return normal(generator, n_sequences, n_tokens, width), normal(generator, n_positions, width)


ADD = Exercise(
    "positions.add_codes",
    add_codes,
    _add_inputs,
    (
        Misconception(
            "the same code for all",
            lambda tokens, table: tokens + table[0],
            "Every token got the code of position 0, which tells it nothing about its place.",
        ),
        Misconception(
            "starts at 1",
            lambda tokens, table: tokens + table[1 : tokens.size(1) + 1],
            "Your first token got the code of position 1. Positions count from 0.",
        ),
        Misconception(
            "counts from the end",
            lambda tokens, table: tokens + table[-tokens.size(1) :],
            "You took the last rows of the table, so a token's code depends on how long the table is.",
        ),
        Misconception(
            "multiplies",
            lambda tokens, table: tokens * table[: tokens.size(1)],
            "You multiplied. A code is added; a product would wipe out features wherever the code is near 0.",
        ),
        Misconception(
            "concatenates",
            lambda tokens, table: torch.cat([tokens, table[: tokens.size(1)].expand(len(tokens), -1, -1)], -1),
            "You put the codes beside the tokens, which makes them twice as wide. Here they are added.",
        ),
        Misconception(
            "only the first sequence",
            lambda tokens, table: torch.cat([tokens[:1] + table[: tokens.size(1)], tokens[1:]]),
            "Only the first sequence of the batch got its codes.",
        ),
    ),
    given=_one_code_a_sequence,
    differentiable=True,
)


# --- the matrix that shifts a sinusoidal code ------------------------------------------------------


def _frequencies(d_model):
    return 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)


def _blocks(angle, make_block):
    """A block-diagonal matrix of the 2 × 2 blocks that `make_block(cos, sin)` gives for each angle."""
    return torch.block_diag(*[torch.tensor(make_block(a.cos().item(), a.sin().item())) for a in angle])


def shift_matrix(steps, d_model):
    angle = steps * _frequencies(d_model)
    return _blocks(angle, lambda cos, sin: [[cos, sin], [-sin, cos]])


def _shift_halves(steps, d_model):
    cos, sin = ((steps * _frequencies(d_model)).cos().diag(), (steps * _frequencies(d_model)).sin().diag())
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])


SHIFT = Exercise(
    "positions.shift_matrix",
    shift_matrix,
    lambda size, generator: (integer(-3, 9, generator), 2 * size),
    (
        Misconception(
            "shifts back",
            lambda steps, d_model: shift_matrix(-steps, d_model),
            "Your matrix shifts the other way. The textbook rotation turns a pair (cos, sin) forwards; "
            "our pairs are (sin, cos).",
        ),
        Misconception(
            "one frequency",
            lambda steps, d_model: _blocks(
                torch.full((d_model // 2,), float(steps)), lambda cos, sin: [[cos, sin], [-sin, cos]]
            ),
            "Every pair turns by the same angle. Pair i has a frequency of its own.",
        ),
        Misconception(
            "frequencies out of step",
            lambda steps, d_model: _blocks(
                steps * 10_000.0 ** (-torch.arange(d_model // 2) / d_model),
                lambda cos, sin: [[cos, sin], [-sin, cos]],
            ),
            "Your exponent is -i / d_model, but it should be -2i / d_model, with i counting pairs: "
            "the frequencies fall only half as far as they should.",
        ),
        Misconception(
            "sines first, cosines after",
            _shift_halves,
            "Your matrix is right for codes with all sines first and all cosines after. Ours alternate.",
        ),
        Misconception(
            "no minus",
            lambda steps, d_model: shift_matrix(steps, d_model).where(
                torch.ones(d_model, d_model).triu() > 0, -shift_matrix(steps, d_model)
            ),
            "Both sines have the same sign in your blocks, so they do not keep lengths: this is no rotation. "
            "Look at the second addition theorem once more.",
        ),
        Misconception(
            "no sines",
            lambda steps, d_model: shift_matrix(steps, d_model).diag().diag(),
            "You scaled sines and cosines one by one. In sin(a + b) = sin a cos b + cos a sin b they mix.",
        ),
    ),
)


# --- the other way to pair features -------------------------------------------------------------------


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
    "positions.rotate_halves",
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
    """Handed out to be mended."""
    return _attend(_turned(query), _turned(key), _turned(value))


def _rotary_inputs(size, generator):
    n_keys = size + integer(0, 4, generator)
    return tuple(normal(generator, n, 2 * size) for n in (size, n_keys, n_keys))


ROTARY = Exercise(
    "positions.rotary_attention",
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

EXERCISES = (ADD, SHIFT, ROTATE, ROTARY)
