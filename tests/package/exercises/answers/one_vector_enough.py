import torch
import torch.nn.functional as F

from attention_course.exercises.one_vector_enough import alignment_error, sort

WRONG = {
    "one_vector_enough.sort": {
        "one too many": lambda numbers, n_symbols: sort(numbers, n_symbols) + 1,
        "each twice": lambda numbers, n_symbols: sort(numbers, n_symbols).unique().repeat_interleave(2),
    },
    "one_vector_enough.alignment_error": {
        "largest gold weight": lambda weights, gold: (~gold).gather(-1, weights.argmax(-1, True)).any().double(),
        "first example only": lambda weights, gold: alignment_error(weights[:1], gold[:1]),
        "per gold token": lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, True)).sum() / gold.sum(),
    },
}

RIGHT = {
    "one_vector_enough.sort": {
        "a sum": lambda numbers, n_symbols: torch.arange(n_symbols).repeat_interleave(
            F.one_hot(numbers, n_symbols).sum(0)
        ),
    },
    "one_vector_enough.alignment_error": {
        "a Python number": lambda weights, gold: (~gold).gather(-1, weights.argmax(-1, True)).float().mean().item(),
    },
}
