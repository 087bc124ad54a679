import math

from attention_course.exercises.modern_block import count_operations, gated_width

WRONG = {
    "modern_block.gated_width": {
        "always 256": lambda d, multiple: gated_width(d, 256),
        "a float": lambda d, multiple: gated_width(d, multiple) + 0.5,
        "rounded before the thirds": lambda d, multiple: 2 * (-(-(4 * d) // multiple) * multiple) // 3,
        "half": lambda d, multiple: -(-(2 * d) // multiple) * multiple,
        "the multiple alone": lambda d, multiple: multiple,
    },
    "modern_block.operations": {
        "one too many": lambda t, d, h, f: count_operations(t, d, h, f) + 1,
        "causal": lambda t, d, h, f: 8 * t * d**2 + 6 * t * d * f + 2 * t * (t + 1) * d,
        "softmax too": lambda t, d, h, f: count_operations(t, d, h, f) + t**2 * h,
        "one token": lambda t, d, h, f: 8 * d**2 + 6 * d * f + 4 * t * d,
        "length and width exchanged": lambda t, d, h, f: count_operations(d, t, h, f),
        "the gate twice": lambda t, d, h, f: count_operations(t, d, h, f) + 2 * t * d * f,
    },
}

RIGHT = {
    "modern_block.gated_width": {
        "with ceil": lambda d, multiple: multiple * math.ceil(int(2 * (4 * d) / 3) / multiple),
    },
    "modern_block.operations": {
        "head by head": lambda t, d, h, f: sum(4 * t**2 * (d // h) for _ in range(h)) + 8 * t * d**2 + 6 * t * d * f,
    },
}
