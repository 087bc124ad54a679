"""Exercises of the lesson on efficient attention."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception


def _positive(generator, *shape):
    return 0.1 + torch.rand(shape, generator=generator)


# --- linear attention with padding ---------------------------------------------------------------


def linear_attention(query_features, key_features, value, mask):
    key_features = key_features * mask[:, None]
    state, normaliser = key_features.T @ value, key_features.sum(0)
    return query_features @ state / (query_features @ normaliser)[:, None]


def _linear_inputs(size, generator):
    n_keys, n_features = size + 3, size + 1
    mask = torch.rand(n_keys, generator=generator) < 0.5
    mask[0], mask[1] = True, size % 3 == 0
    value = torch.randn(n_keys, size + 2, generator=generator)
    return (
        _positive(generator, size - 1, n_features),
        _positive(generator, n_keys, n_features),
        torch.where(mask[:, None], value, 10 * value),
        mask,
    )


def _by_the_queries(query_features, key_features, value, mask):
    return query_features @ ((key_features * mask[:, None]).T @ value) / query_features.sum(-1, keepdim=True)


LINEAR = Exercise(
    "efficient.linear",
    linear_attention,
    _linear_inputs,
    (
        Misconception(
            "no normaliser",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v),
            "Nothing is divided, so the weights do not sum to 1 and outputs grow with the number of keys.",
        ),
        Misconception(
            "divided by the number of keys",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / mask.sum(),
            "You divided by the number of keys. That is the sum of the weights only if every similarity is 1.",
        ),
        Misconception(
            "mask not used",
            lambda q, k, v, mask: linear_attention(q, k, v, torch.ones_like(mask)),
            "The mask is not used: padding is summed up with the rest.",
        ),
        Misconception(
            "mask inverted",
            lambda q, k, v, mask: linear_attention(q, k, v, ~mask),
            "You kept what should be hidden. True means: may be attended to.",
        ),
        Misconception(
            "hidden keys still counted",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / (q @ k.sum(0))[:, None],
            "Hidden keys are out of the state but still in the normaliser, so what is left does not sum to 1.",
        ),
        Misconception(
            "values hidden only in the normaliser",
            lambda q, k, v, mask: q @ (k.T @ v) / (q @ (k * mask[:, None]).sum(0))[:, None],
            "Hidden keys are out of the normaliser but still in the state: padding reaches the output.",
        ),
        Misconception(
            "normaliser without the query",
            lambda q, k, v, mask: q @ ((k * mask[:, None]).T @ v) / (k * mask[:, None]).sum(),
            "You divided every query by the same number, the sum of all keys' features. How much weight there is "
            "depends on who asks.",
        ),
    ),
    given=_by_the_queries,
    differentiable=True,
)


# --- running sums with a gate ---------------------------------------------------------------------


def gated_sums(query_features, key_features, value, gate):
    state, normaliser, outputs = 0, 0, []
    for q, k, v, g in zip(query_features, key_features, value, gate, strict=True):
        state, normaliser = g * state + torch.outer(k, v), g * normaliser + k
        outputs.append(q @ state / (q @ normaliser))
    return torch.stack(outputs)


def _gated_inputs(size, generator):
    n_tokens, n_features = 2 * size - 1, size + 1
    return (
        _positive(generator, n_tokens, n_features),
        _positive(generator, n_tokens, n_features),
        torch.randn(n_tokens, size, generator=generator),
        0.2 + 0.7 * torch.rand(n_tokens, generator=generator),
    )


def _in_a_loop(update):
    """A wrong answer by another update: of a sum, what a token adds, and its gate, to the new sum."""

    def wrong(query_features, key_features, value, gate):
        state, normaliser = torch.zeros(key_features.size(1), value.size(1)), torch.zeros(key_features.size(1))
        outputs = []
        for q, k, v, g in zip(query_features, key_features, value, gate, strict=True):
            state, normaliser = update(state, torch.outer(k, v), g), update(normaliser, k, g)
            outputs.append(q @ state / (q @ normaliser))
        return torch.stack(outputs)

    return wrong


def _by_similarity(change):
    """A wrong answer by its matrix of similarities, each times the gates that it went through."""

    def wrong(query_features, key_features, value, gate):
        passed = gate.log().cumsum(0)
        similarity = query_features @ key_features.T * (passed[:, None] - passed).exp()
        return change(similarity, query_features @ key_features.T, value)

    return wrong


def _normalised(similarity, value):
    return similarity / similarity.sum(-1, keepdim=True) @ value


GATED = Exercise(
    "efficient.gated_sums",
    gated_sums,
    _gated_inputs,
    (
        Misconception(
            "no gate",
            lambda q, k, v, g: gated_sums(q, k, v, torch.ones_like(g)),
            "The gates are not used: nothing is forgotten.",
        ),
        Misconception(
            "gate on the new token too",
            _in_a_loop(lambda old, new, g: g * (old + new)),
            "The gate multiplies what the token adds as well, or is the gate of the token before, which comes to the "
            "same. A token's gate should shrink only what was there before it.",
        ),
        Misconception(
            "gate on the new token instead",
            _in_a_loop(lambda old, new, g: old + g * new),
            "The gate multiplies what the token adds, and the old sums stay as they were: nothing is forgotten.",
        ),
        Misconception(
            "a blend",
            _in_a_loop(lambda old, new, g: g * old + (1 - g) * new),
            "You blend old and new, as a GRU does: what comes in is multiplied by 1 minus the gate. Here it comes in "
            "whole.",
        ),
        Misconception(
            "one minus the gate",
            _in_a_loop(lambda old, new, g: (1 - g) * old + new),
            "You keep 1 minus the gate of the old sums. The gate says what is kept.",
        ),
        Misconception(
            "the first gate for all",
            lambda q, k, v, g: gated_sums(q, k, v, g[:1].expand_as(g)),
            "All tokens use one gate, the first. Each has its own.",
        ),
        Misconception(
            "normaliser without gates",
            _by_similarity(lambda gated, plain, v: gated.tril() @ v / plain.tril().sum(-1, keepdim=True)),
            "The state forgets, the normaliser does not: the weights no longer sum to 1. Try values that are all 1.",
        ),
        Misconception(
            "no normaliser",
            _by_similarity(lambda gated, plain, v: gated.tril() @ v),
            "Nothing is divided, so the weights do not sum to 1.",
        ),
        Misconception(
            "read before adding",
            _by_similarity(lambda gated, plain, v: _normalised(gated.tril(-1), v)),
            "A token reads the sums before it is added to them, so it does not see itself, and the first one divides "
            "nothing by nothing.",
        ),
        Misconception(
            "not causal",
            _by_similarity(lambda gated, plain, v: _normalised(gated, v)),
            "Every token reads sums of the whole sequence, the future included.",
        ),
        Misconception(
            "only the last token",
            lambda q, k, v, g: gated_sums(q, k, v, g)[-1],
            "You returned the last output only. Every token has one.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (LINEAR, GATED)
