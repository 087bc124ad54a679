"""Exercises of the page on what a state keeps."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception

# --- what the delta rule writes, all tokens at once -----------------------------------------------


def written(keys, values, strength):
    overlap = strength[:, None] * (keys @ keys.mT).tril(-1)
    return torch.linalg.solve(torch.eye(len(keys), dtype=keys.dtype) + overlap, strength[:, None] * values)


def _inputs(size, generator):
    n, d = 2 * size - 1, size + 1
    return (
        F.normalize(torch.randn(n, d, generator=generator), dim=1),
        torch.randn(n, size + 3, generator=generator),
        0.2 + 0.7 * torch.rand(n, generator=generator),
    )


def _token_by_token(found):
    """A wrong answer by what is found at a key: of the earlier keys and values, what these wrote, and the key."""

    def wrong(keys, values, strength):
        news = []
        for i, key in enumerate(keys):
            new = torch.stack(news) if news else values[:0]
            news.append(strength[i] * (values[i] - found(keys[:i], values[:i], new, key)))
        return torch.stack(news)

    return wrong


def _solved(overlap, keys, values, strength):
    return torch.linalg.solve(torch.eye(len(keys)) + overlap, strength[:, None] * values)


WRITTEN = Exercise(
    "states.written",
    written,
    _inputs,
    (
        Misconception(
            "the values themselves",
            lambda keys, values, strength: strength[:, None] * values,
            "You write each value as it comes, as a plain sum does. First take off what is found at the key.",
        ),
        Misconception(
            "finds values, not what was written",
            _token_by_token(lambda keys, values, new, key: (keys @ key) @ values),
            "What is found at a key is made of the earlier tokens' values. But the state does not hold these: it holds "
            "what they wrote, which is already less.",
        ),
        Misconception(
            "strength forgotten on what is found",
            lambda keys, values, strength: _solved((keys @ keys.T).tril(-1), keys, values, strength),
            "The strength multiplies the value alone. It is to multiply the value without what is found.",
        ),
        Misconception(
            "strength forgotten",
            lambda keys, values, strength: written(keys, values, torch.ones_like(strength)),
            "The strengths are not used: each token writes all of the difference.",
        ),
        Misconception(
            "strength of the token that is found",
            lambda keys, values, strength: _solved(strength * (keys @ keys.T).tril(-1), keys, values, strength),
            "You took the strength of the earlier token once more. What it wrote has that in it already; the strength "
            "of the token that writes now is missing.",
        ),
        Misconception(
            "added instead of taken off",
            lambda keys, values, strength: _solved(
                -strength[:, None] * (keys @ keys.T).tril(-1), keys, values, strength
            ),
            "You add what is found at the key to the value. Write what is new: the value without it.",
        ),
        Misconception(
            "finds itself too",
            lambda keys, values, strength: _solved(strength[:, None] * (keys @ keys.T).tril(), keys, values, strength),
            "A token finds what it is about to write. Only earlier tokens have written when it looks.",
        ),
        Misconception(
            "finds later tokens too",
            lambda keys, values, strength: _solved(
                strength[:, None] * (keys @ keys.T).fill_diagonal_(0), keys, values, strength
            ),
            "A token finds what later ones write as well. Only earlier tokens have written when it looks.",
        ),
        Misconception(
            "only the token before",
            _token_by_token(lambda keys, values, new, key: (keys[-1:] @ key) @ new[-1:]),
            "You look only at what the token just before has written. The state holds what all earlier ones wrote.",
        ),
        Misconception(
            "earlier keys taken for the same key",
            _token_by_token(lambda keys, values, new, key: new.sum(0)),
            "You take off all that was written, whatever its key. What is found of it is its product with the key.",
        ),
        Misconception(
            "the outer products",
            lambda keys, values, strength: torch.einsum("nd,nv->ndv", keys, written(keys, values, strength)),
            "You returned the outer products that are added to the state. Asked for is what stands in them beside the "
            "key, one row a token.",
        ),
        Misconception(
            "the state",
            lambda keys, values, strength: keys.T @ written(keys, values, strength),
            "You returned the state. Asked for is what each token writes, one row a token.",
        ),
    ),
    differentiable=True,
)


# --- one step of the delta rule with a gate for each feature --------------------------------------


def step(state, key, value, strength, keep):
    state = keep[:, None] * state
    return state + torch.outer(key, strength * (value - key @ state))


def _looks_before_it_fades(state, key, value, strength, keep):
    return keep[:, None] * state + torch.outer(key, strength * (value - key @ state))


def _step_inputs(size, generator):
    strength, keep = (0.2 + 0.6 * torch.rand(shape, generator=generator) for shape in ((), (size + 1,)))
    return (
        torch.randn(size + 1, size + 2, generator=generator),
        F.normalize(torch.randn(size + 1, generator=generator), dim=0),
        torch.randn(size + 2, generator=generator),
        strength,
        keep,
    )


STEP = Exercise(
    "states.step",
    step,
    _step_inputs,
    (
        Misconception(
            "nothing fades",
            lambda state, key, value, strength, keep: step(state, key, value, strength, torch.ones_like(keep)),
            "`keep` is not used: nothing fades.",
        ),
        Misconception(
            "fades last",
            lambda state, key, value, strength, keep: (
                keep[:, None] * step(state, key, value, strength, torch.ones_like(keep))
            ),
            "What was just written fades, too. The state fades before the token looks and writes.",
        ),
        Misconception(
            "what is found fades twice",
            lambda state, key, value, strength, keep: (
                keep[:, None] * state + torch.outer(key, strength * (value - (keep**2 * key) @ state))
            ),
            "You made what is found fade after the state had faded already.",
        ),
        Misconception(
            "the strength fades, too",
            lambda state, key, value, strength, keep: (
                keep[:, None] * state + torch.outer(keep * key, strength * (value - (keep * key) @ state))
            ),
            "You multiplied what is written by `keep`. Only the old state fades.",
        ),
        Misconception(
            "one gate for all features",
            lambda state, key, value, strength, keep: step(state, key, value, strength, keep.mean().expand_as(keep)),
            "All rows fade by the same share. Each feature of the key has a gate of its own.",
        ),
        Misconception(
            "nothing is taken off",
            lambda state, key, value, strength, keep: keep[:, None] * state + torch.outer(key, strength * value),
            "You write the value as it is. Take off what is found at the key.",
        ),
        Misconception(
            "strength on the value alone",
            lambda state, key, value, strength, keep: (
                keep[:, None] * state + torch.outer(key, strength * value - (keep * key) @ state)
            ),
            "The strength multiplies the value alone. It is to multiply the value without what is found.",
        ),
        Misconception(
            "only what is written",
            lambda state, key, value, strength, keep: torch.outer(key, strength * (value - (keep * key) @ state)),
            "You returned what is added to the state, without the state.",
        ),
    ),
    given=_looks_before_it_fades,
    differentiable=True,
)

# --- what other pairs add to what a key reads -----------------------------------------------------


def from_others(keys, values):
    read = keys @ (keys.mT @ values)
    return read - keys.square().sum(-1, keepdim=True) * values


def _pair_inputs(size, generator):
    n, d = 2 * size - 1, size + 1
    return torch.randn(n, d, generator=generator), torch.randn(n, size + 3, generator=generator)


OTHERS = Exercise(
    "states.from_others",
    from_others,
    _pair_inputs,
    (
        Misconception(
            "all that is read",
            lambda keys, values: keys @ (keys.T @ values),
            "This is all that a key reads, its own value included. Take its own share off.",
        ),
        Misconception(
            "as if keys had length 1",
            lambda keys, values: keys @ (keys.T @ values) - values,
            "You took the value off once. A key meets itself with its squared length, which is 1 only for some keys.",
        ),
        Misconception(
            "length not squared",
            lambda keys, values: keys @ (keys.T @ values) - keys.norm(dim=-1, keepdim=True) * values,
            "You took the value off times the key's length. A key's product with itself is its length squared.",
        ),
        Misconception(
            "normalised",
            lambda keys, values: (
                (keys @ (keys.T @ values) - keys.square().sum(-1, keepdim=True) * values)
                / (keys @ keys.sum(0))[:, None]
            ),
            "You divided by a normaliser. Here nothing is divided.",
        ),
        Misconception(
            "earlier pairs only",
            lambda keys, values: (keys @ keys.T).tril(-1) @ values,
            "You counted the earlier pairs only. The state holds all of them when it is read.",
        ),
        Misconception(
            "the same for every key",
            lambda keys, values: (keys.T @ values).sum(0).expand(len(keys), -1) - values,
            "You did not ask the state with the keys: every key gets the same sum.",
        ),
        Misconception(
            "sizes of the products",
            lambda keys, values: (keys @ keys.T).fill_diagonal_(0).abs() @ values,
            "You made the products of keys positive. One that points the other way takes away.",
        ),
    ),
)

EXERCISES = (STEP, OTHERS, WRITTEN)
