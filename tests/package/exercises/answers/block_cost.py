import torch

from attention_course.exercises.block_cost import count_operations, count_parameters, multiply_adds

WRONG = {
    "block_cost.parameters": {
        "one too many": lambda d, h, f: count_parameters(d, h, f) + 1,
        "three times d": lambda d, h, f: count_parameters(d, h, 3 * d),
        "one projection bias": lambda d, h, f: count_parameters(d, h, f) - 3 * d,
        "inner bias missing": lambda d, h, f: count_parameters(d, h, f) - f,
        "a final norm": lambda d, h, f: count_parameters(d, h, f) + 2 * d,
    },
    "block_cost.multiply_adds": {
        "one too many": lambda *sizes: multiply_adds(*sizes) + 1,
        "causal": lambda n, d, k, v: n * d * (2 * k + v) + n * (n + 1) // 2 * (k + v),
        "softmax counted": lambda n, d, k, v: multiply_adds(n, d, k, v) + n * n,
    },
    "block_cost.operations": {
        "one too many": lambda t, d, h, f: count_operations(t, d, h, f) + 1,
        "softmax too": lambda t, d, h, f: count_operations(t, d, h, f) + t**2 * h,
        "length and width exchanged": lambda t, d, h, f: count_operations(d, t, h, f),
        "the gate twice": lambda t, d, h, f: count_operations(t, d, h, f) + 2 * t * d * f,
    },
}

RIGHT = {
    "block_cost.parameters": {
        "PyTorch's": lambda d, h, f: sum(
            p.numel() for p in torch.nn.TransformerEncoderLayer(d, h, f, device="meta").parameters()
        ),
    },
    "block_cost.operations": {
        "head by head": lambda t, d, h, f: sum(4 * t**2 * (d // h) for _ in range(h)) + 8 * t * d**2 + 6 * t * d * f,
    },
}
