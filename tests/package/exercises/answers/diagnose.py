import torch

from attention_course.exercises.diagnose import say


def table_by_loops(layer, x, other):
    before, table = layer(x), torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        changed = x.clone()
        changed[j] = other[j]
        after = layer(changed)
        for i in range(len(x)):
            table[i, j] = not torch.allclose(after[i], before[i], rtol=0, atol=1e-6)
    return table


WRONG = {
    "diagnose.say": {
        "derivatives": lambda layer, x, other: torch.autograd.functional.jacobian(layer, x).abs().amax((1, 3)) > 1e-6,
        "itself left out": lambda layer, x, other: say(layer, x, other) & ~torch.eye(len(x), dtype=torch.bool),
        "a full table": lambda layer, x, other: torch.ones(len(x), len(x), dtype=torch.bool),
    },
    "diagnose.weights": {
        "values of zeros": lambda attention, query, key: attention(query, key, torch.zeros(len(key), len(key))),
        "twice the identity": lambda attention, query, key: attention(query, key, 2 * torch.eye(len(key))),
    },
}

RIGHT = {
    "diagnose.say": {
        "loops": table_by_loops,
        "all exchanges at once": lambda layer, x, other: (
            (torch.vmap(layer)(torch.where(torch.eye(len(x), dtype=torch.bool)[..., None], other, x)) - layer(x))
            .abs()
            .amax(-1)
            .T
            > 1e-6
        ),
    },
    "diagnose.weights": {
        "key by key": lambda attention, query, key: torch.cat(
            [attention(query, key, (torch.arange(len(key)) == j).float()[:, None]) for j in range(len(key))], dim=1
        ),
        "halved twice": lambda attention, query, key: attention(query, key, 0.5 * torch.eye(len(key))) * 2,
    },
}
