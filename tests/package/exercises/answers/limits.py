import torch

from attention_course.exercises.limits import step

WRONG = {
    "limits.step": {
        "not sharp": lambda state, symbol, table, sharp: step(state, symbol, table, 1.0),
        "divided by a root": lambda state, symbol, table, sharp: step(state, symbol, table, sharp / 2**0.5),
    },
}


def with_keys(state, symbol, table, sharp):
    """A query of both, and a key for each row of the table."""
    query = torch.cat([state, symbol])
    keys = [torch.cat([a, b]) for a in torch.eye(len(state)) for b in torch.eye(len(symbol))]
    return (sharp * torch.stack(keys) @ query).softmax(0) @ table.flatten(0, 1)


RIGHT = {"limits.step": {"query and keys": with_keys}}
