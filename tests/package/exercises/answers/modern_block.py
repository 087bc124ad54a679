import math

from attention_course.exercises.modern_block import gated_width

WRONG = {
    "modern_block.gated_width": {
        "always 256": lambda d, multiple: gated_width(d, 256),
        "a float": lambda d, multiple: gated_width(d, multiple) + 0.5,
        "rounded before the thirds": lambda d, multiple: 2 * (-(-(4 * d) // multiple) * multiple) // 3,
        "half": lambda d, multiple: -(-(2 * d) // multiple) * multiple,
        "the multiple alone": lambda d, multiple: multiple,
    },
}

RIGHT = {
    "modern_block.gated_width": {
        "with ceil": lambda d, multiple: multiple * math.ceil(int(2 * (4 * d) / 3) / multiple),
    },
}
