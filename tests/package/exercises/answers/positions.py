import torch

from attention_course.exercises.positions import add_codes, shift_matrix

WRONG = {
    "positions.add_codes": {
        "whole table": lambda tokens, table: tokens + table,
        "squeezed": lambda tokens, table: add_codes(tokens, table).squeeze(),
        "another code for each example": lambda tokens, table: (
            tokens + torch.stack([table.roll(i, 0)[: tokens.size(1)] for i in range(len(tokens))])
        ),
    },
    "positions.shift_matrix": {
        "always one step": lambda steps, d: shift_matrix(1, d),
        "size of the steps": lambda steps, d: shift_matrix(abs(steps), d),
        "frequencies reversed": lambda steps, d: shift_matrix(steps, d).flip(0, 1).T,
    },
}

RIGHT = {
    "positions.add_codes": {"a loop": lambda tokens, table: torch.stack([x + table[: len(x)] for x in tokens])},
}
