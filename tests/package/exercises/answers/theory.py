import torch

from attention_course.exercises.theory import count_so_far, given_induction, induction, look_back


def one_hot_place(n, back, sharp):
    matrix = torch.zeros(n, n)
    for place in range(back, n):
        matrix[place, place - back] = sharp
    return matrix


def looked_up(letters, sharp):
    """Row by row, with a softmax over those that are visible."""
    rows = []
    for place in range(len(letters)):
        before = [torch.zeros(letters.size(1)), *letters[:place]]
        scores = sharp * torch.stack([letters[place] @ other for other in before])
        rows.append(scores.softmax(0) @ letters[: place + 1])
    return torch.stack(rows)


WRONG = {
    "theory.look_back": {
        "one too far": lambda n, back, sharp: sharp * torch.ones(n - back - 1).diag(-back - 1),
        "with itself": lambda n, back, sharp: look_back(n, back, sharp) + sharp * torch.eye(n),
        "the first look at themselves": lambda n, back, sharp: (
            look_back(n, back, sharp) + torch.diag((torch.arange(n) < back) * sharp)
        ),
    },
    "theory.count": {
        "only earlier ones": lambda symbols, asked: count_so_far(symbols, asked) - (symbols == asked).float(),
        "low scores": lambda symbols, asked: count_so_far(symbols, asked) + 0.1,
    },
    "theory.induction": {
        "no mask": lambda letters, sharp: (
            (sharp * letters @ torch.cat([torch.zeros_like(letters[:1]), letters[:-1]]).T).softmax(-1) @ letters
        ),
        "not sharp": lambda letters, sharp: induction(letters, 1.0),
        "twice": lambda letters, sharp: given_induction(induction(letters, sharp), sharp),
    },
}

RIGHT = {
    "theory.look_back": {"place by place": one_hot_place},
    "theory.count": {
        "sharper": lambda symbols, asked: (
            1
            / (80.0 * ((symbols == asked) | (symbols == 0)))
            .expand(len(symbols), -1)
            .masked_fill(torch.ones(len(symbols), len(symbols)).triu(1).bool(), -torch.inf)
            .softmax(-1)[:, 0]
            - 1
        ),
    },
    "theory.induction": {"row by row": looked_up},
}
