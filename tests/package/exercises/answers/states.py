import torch

from attention_course.exercises.states import step, written


def in_a_loop(keys, values, strength):
    new = []
    for i, key in enumerate(keys):
        found = sum(((keys[j] @ key) * new[j] for j in range(i)), torch.zeros_like(values[i]))
        new.append(strength[i] * (values[i] - found))
    return torch.stack(new)


def with_the_state(keys, values, strength):
    state, new = torch.zeros(keys.size(1), values.size(1)), []
    for key, value, beta in zip(keys, values, strength, strict=True):
        new.append(beta * (value - key @ state))
        state = state + torch.outer(key, new[-1])
    return torch.stack(new)


def by_the_triangle(keys, values, strength):
    overlap = strength[:, None] * (keys @ keys.T).tril(-1)
    return torch.linalg.solve_triangular(overlap, strength[:, None] * values, upper=False, unitriangular=True)


def by_the_inverse(keys, values, strength):
    overlap = (strength[:, None] * (keys @ keys.T)).tril(-1)
    return torch.linalg.inv(torch.eye(len(keys)) + overlap) @ (strength[:, None] * values)


def by_matrices(state, key, value, strength, keep):
    erase = torch.eye(len(key)) - strength * torch.outer(key, key)
    return erase @ torch.diag(keep) @ state + strength * torch.outer(key, value)


def in_place(state, key, value, strength, keep):
    faded = state.clone().mul_(keep.unsqueeze(1))
    found = (key.unsqueeze(1) * faded).sum(0)
    return faded + key.unsqueeze(1) * (strength * (value - found)).unsqueeze(0)


WRONG = {
    "states.step": {
        "keeps the complement": lambda state, key, value, strength, keep: step(state, key, value, strength, 1 - keep),
        "adds what is found": lambda state, key, value, strength, keep: (
            keep[:, None] * state + torch.outer(key, strength * (value + (keep * key) @ state))
        ),
        "erases the row": lambda state, key, value, strength, keep: (
            keep[:, None] * state * (1 - key.unsqueeze(1)) + torch.outer(key, strength * value)
        ),
    },
    "states.written": {
        "negative": lambda keys, values, strength: -written(keys, values, strength),
        "in the order of last to first": lambda keys, values, strength: written(
            keys.flip(0), values.flip(0), strength.flip(0)
        ).flip(0),
        "strength squared": lambda keys, values, strength: strength[:, None] * written(keys, values, strength),
        "one strength for all": lambda keys, values, strength: written(
            keys, values, strength.mean().expand_as(strength)
        ),
        "corrected once": lambda keys, values, strength: (
            strength[:, None] * (values - (keys @ keys.T).tril(-1) @ (strength[:, None] * values))
        ),
        "one row short": lambda keys, values, strength: written(keys, values, strength)[1:],
    },
}

RIGHT = {
    "states.step": {"by matrices": by_matrices, "in place": in_place},
    "states.written": {
        "in a loop": in_a_loop,
        "with the state": with_the_state,
        "by the triangle": by_the_triangle,
        "by the inverse": by_the_inverse,
    },
}
