import torch

from attention_course.exercises.rank import apart

WRONG = {
    "rank.apart": {
        "median": lambda tokens: (
            (tokens - tokens.median(-2, keepdim=True).values).flatten(1).norm(dim=-1) / tokens.flatten(1).norm(dim=-1)
        ),
        "the other share": lambda tokens: 1 - apart(tokens),
        "by the rest": lambda tokens: apart(tokens) / (1 - apart(tokens) ** 2).sqrt(),
    },
}

RIGHT = {
    "rank.apart": {
        "from what is shared": lambda tokens: (
            1 - tokens.size(-2) * tokens.mean(-2).pow(2).sum(-1) / tokens.pow(2).sum((-2, -1))
        ).sqrt(),
        "loop": lambda tokens: torch.stack([(one - one.mean(0)).norm() / one.norm() for one in tokens]),
    },
}
