import torch
import torch.nn.functional as F

from attention_course.exercises.vision import image_patches, places

WRONG = {
    "vision.image_patches": {
        "squeezed": lambda images, patch: image_patches(images, patch).squeeze(),
        "as many rows as columns": lambda images, patch: (
            images.unfold(1, patch, patch)
            .unfold(2, patch, patch)
            .reshape(len(images), (images.size(1) // patch) ** 2, -1)
        ),
        "patches of 2": lambda images, patch: image_patches(images, 2),
        "reversed": lambda images, patch: image_patches(images, patch).flip(1),
        "rows of patches": lambda images, patch: images.unflatten(1, (-1, patch)).flatten(2),
        "first image": lambda images, patch: image_patches(images[:1], patch),
    },
    "vision.places": {
        "reversed": lambda tokens, row, column: places(tokens, row.flip(0), column),
        "first token": lambda tokens, row, column: places(tokens, row, column)[:, :1],
        "multiplied": lambda tokens, row, column: tokens * (row[:, None] + column).flatten(0, 1),
        "one for all": lambda tokens, row, column: tokens + row.mean(0) + column.mean(0),
    },
}

RIGHT = {
    "vision.image_patches": {
        "unfold": lambda images, patch: F.unfold(images[:, None], patch, stride=patch).transpose(1, 2),
    },
    "vision.places": {
        "broadcast": lambda tokens, row, column: tokens + (row[:, None] + column).flatten(0, 1),
        "repeated": lambda tokens, row, column: (
            tokens + row.repeat_interleave(len(column), 0) + column.repeat(len(row), 1)
        ),
        "a loop": lambda tokens, row, column: torch.stack(
            [
                tokens[:, i] + row[i // len(column)] + column[i - i // len(column) * len(column)]
                for i in range(tokens.size(1))
            ],
            dim=1,
        ),
    },
}
