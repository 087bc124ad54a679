import torch

WRONG = {
    "recurrence.merge": {
        "the first alone": lambda A_1, b_1, A_2, b_2: (A_1, b_1),
        "a sum of matrices": lambda A_1, b_1, A_2, b_2: (A_1 + A_2, b_1 + b_2),
        "through the product": lambda A_1, b_1, A_2, b_2: (A_1 @ A_2, b_1 @ (A_1 @ A_2) + b_2),
    },
}

RIGHT = {
    "recurrence.merge": {"two calls": lambda A_1, b_1, A_2, b_2: (A_1 @ A_2, torch.addmv(b_2, A_2.T, b_1))},
}
