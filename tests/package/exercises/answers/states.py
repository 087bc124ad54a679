import torch

from attention_course.exercises.states import from_others, step, written


def with_the_state(keys, values, strength):
    state, new = torch.zeros(keys.size(1), values.size(1)), []
    for key, value, beta in zip(keys, values, strength, strict=True):
        new.append(beta * (value - key @ state))
        state = state + torch.outer(key, new[-1])
    return torch.stack(new)


def by_the_triangle(keys, values, strength):
    overlap = strength[:, None] * (keys @ keys.T).tril(-1)
    return torch.linalg.solve_triangular(overlap, strength[:, None] * values, upper=False, unitriangular=True)


def by_matrices(state, key, value, strength, keep):
    erase = torch.eye(len(key)) - strength * torch.outer(key, key)
    return erase @ torch.diag(keep) @ state + strength * torch.outer(key, value)


def in_place(state, key, value, strength, keep):
    faded = state.clone().mul_(keep.unsqueeze(1))
    found = (key.unsqueeze(1) * faded).sum(0)
    return faded + key.unsqueeze(1) * (strength * (value - found)).unsqueeze(0)


WRONG = {
    "states.from_others": {
        "mean of the others": lambda keys, values: from_others(keys, values) / (len(keys) - 1),
        "softmax": lambda keys, values: (keys @ keys.T).softmax(-1) @ values - values,
        "later pairs only": lambda keys, values: (keys @ keys.T).triu(1) @ values,
    },
    "states.step": {
        "keeps the complement": lambda state, key, value, strength, keep: step(state, key, value, strength, 1 - keep),
        "erases the row": lambda state, key, value, strength, keep: (
            keep[:, None] * state * (1 - key.unsqueeze(1)) + torch.outer(key, strength * value)
        ),
    },
    "states.written": {
        "strength squared": lambda keys, values, strength: strength[:, None] * written(keys, values, strength),
        "corrected once": lambda keys, values, strength: (
            strength[:, None] * (values - (keys @ keys.T).tril(-1) @ (strength[:, None] * values))
        ),
    },
}

RIGHT = {
    "states.from_others": {
        "with the matrix": lambda keys, values: (keys @ keys.T * (1 - torch.eye(len(keys)))) @ values,
    },
    "states.step": {"by matrices": by_matrices, "in place": in_place},
    "states.written": {
        "with the state": with_the_state,
        "by the triangle": by_the_triangle,
    },
}
