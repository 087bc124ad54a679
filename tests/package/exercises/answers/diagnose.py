import torch

from attention_course.exercises.diagnose import say, shown_weights


def table_by_loops(layer, x, other):
    before, table = layer(x), torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        changed = x.clone()
        changed[j] = other[j]
        after = layer(changed)
        for i in range(len(x)):
            table[i, j] = not torch.allclose(after[i], before[i], rtol=0, atol=1e-6)
    return table


def _by_rule(layer, x, other, rule):
    columns = [rule(layer(torch.cat([x[:j], other[j : j + 1], x[j + 1 :]])) - layer(x)) for j in range(len(x))]
    return torch.stack(columns, dim=1)


WRONG = {
    "diagnose.say": {
        "one token for all outputs": lambda layer, x, other: (
            say(layer, x, other).any(0, keepdim=True).expand(len(x), -1)
        ),
        "derivatives": lambda layer, x, other: torch.autograd.functional.jacobian(layer, x).abs().amax((1, 3)) > 1e-6,
        "floats": lambda layer, x, other: say(layer, x, other).float(),
        "itself left out": lambda layer, x, other: say(layer, x, other) & ~torch.eye(len(x), dtype=torch.bool),
        "a full table": lambda layer, x, other: torch.ones(len(x), len(x), dtype=torch.bool),
        "a causal table": lambda layer, x, other: torch.ones(len(x), len(x), dtype=torch.bool).tril(),
        "zeros in place of the other token": lambda layer, x, other: (
            say(layer, x, torch.zeros_like(x)) & say(layer, x, other).flip(0)
        ),
    },
    "diagnose.weights": {
        "values of zeros": lambda attention, query, key: attention(query, key, torch.zeros(len(key), len(key))),
        "one row": lambda attention, query, key: shown_weights(attention, query, key)[0],
        "the largest alone": lambda attention, query, key: torch.eye(len(key))[
            shown_weights(attention, query, key).argmax(-1)
        ],
        "twice the identity": lambda attention, query, key: attention(query, key, 2 * torch.eye(len(key))),
    },
}

RIGHT = {
    "diagnose.say": {
        "loops": table_by_loops,
        "lengths of the moves": lambda layer, x, other: _by_rule(
            layer, x, other, lambda moved: moved.norm(dim=-1) > 1e-6
        ),
        "all exchanges at once": lambda layer, x, other: (
            (torch.vmap(layer)(torch.where(torch.eye(len(x), dtype=torch.bool)[..., None], other, x)) - layer(x))
            .abs()
            .amax(-1)
            .T
            > 1e-6
        ),
        "torch.where": lambda layer, x, other: torch.stack(
            [
                (layer(torch.where(torch.arange(len(x))[:, None] == j, other, x)) - layer(x)).abs().amax(-1) > 1e-6
                for j in range(len(x))
            ],
            dim=-1,
        ),
    },
    "diagnose.weights": {
        "key by key": lambda attention, query, key: torch.cat(
            [attention(query, key, (torch.arange(len(key)) == j).float()[:, None]) for j in range(len(key))], dim=1
        ),
        "halved twice": lambda attention, query, key: attention(query, key, 0.5 * torch.eye(len(key))) * 2,
    },
}
