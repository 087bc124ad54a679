import torch.nn.functional as F

from attention_course.exercises.vision import image_patches, places

WRONG = {
    "vision.image_patches": {
        "squeezed": lambda images, patch: image_patches(images, patch).squeeze(),
        "patches of 2": lambda images, patch: image_patches(images, 2),
        "rows of patches": lambda images, patch: images.unflatten(1, (-1, patch)).flatten(2),
        "first image": lambda images, patch: image_patches(images[:1], patch),
    },
    "vision.places": {
        "reversed": lambda tokens, row, column: places(tokens, row.flip(0), column),
        "multiplied": lambda tokens, row, column: tokens * (row[:, None] + column).flatten(0, 1),
        "one for all": lambda tokens, row, column: tokens + row.mean(0) + column.mean(0),
    },
}

RIGHT = {
    "vision.image_patches": {
        "unfold": lambda images, patch: F.unfold(images[:, None], patch, stride=patch).transpose(1, 2),
    },
    "vision.places": {"broadcast": lambda tokens, row, column: tokens + (row[:, None] + column).flatten(0, 1)},
}
