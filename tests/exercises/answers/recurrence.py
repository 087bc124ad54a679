import torch

from attention_course.exercises.recurrence import multiply_adds

WRONG = {
    "recurrence.multiply_adds": {
        "one too many": lambda *sizes: multiply_adds(*sizes) + 1,
        "two projections": lambda n, d, k, v: n * d * (k + v) + n * n * (k + v),
        "output projection": lambda n, d, k, v: multiply_adds(n, d, k, v) + n * v * d,
        "causal": lambda n, d, k, v: n * d * (2 * k + v) + n * (n + 1) // 2 * (k + v),
        "softmax counted": lambda n, d, k, v: multiply_adds(n, d, k, v) + n * n,
        "complex": lambda *sizes: complex(multiply_adds(*sizes)),
    },
}

RIGHT = {
    "recurrence.multiply_adds": {"a tensor": lambda *sizes: torch.tensor(multiply_adds(*sizes))},
}
