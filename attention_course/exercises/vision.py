"""Exercises of the page "How is a picture a sequence?"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- patches of an image, without a loop ------------------------------------------------------------


def image_patches(images, patch_size):
    patches = images.unflatten(2, (-1, patch_size)).unflatten(1, (-1, patch_size))
    return patches.transpose(2, 3).flatten(3).flatten(1, 2)


def _images(size, generator):
    patch_size, batch = 2 + size % 2, (2, 3, 1)[size % 3]
    height, width = (1 + size // 2, 2 + size // 2) if size % 4 < 2 else (1 + size // 2, size // 2)
    return normal(generator, batch, patch_size * height, patch_size * width), patch_size


PATCHES = Exercise(
    "vision.image_patches",
    image_patches,
    _images,
    (
        Misconception(
            "reshape alone",
            lambda images, patch_size: images.reshape(len(images), -1, patch_size**2),
            "A reshape alone cuts the image into strips of pixels that lie side by side in memory. A patch has "
            "pixels from several rows: split both sides, then swap two dimensions before you flatten.",
        ),
        Misconception(
            "column by column",
            lambda images, patch_size: image_patches(images.transpose(1, 2), patch_size),
            "Patches go column by column, and so do their pixels: the image is mirrored at its diagonal.",
        ),
        Misconception(
            "patches column by column",
            lambda images, patch_size: (
                images.unflatten(2, (-1, patch_size))
                .unflatten(1, (-1, patch_size))
                .permute(0, 3, 1, 2, 4)
                .flatten(3)
                .flatten(1, 2)
            ),
            "Each patch is right, but they come column by column. Row by row is asked: the right neighbour next.",
        ),
        Misconception(
            "pixels column by column",
            lambda images, patch_size: (
                images.unflatten(2, (-1, patch_size))
                .unflatten(1, (-1, patch_size))
                .permute(0, 1, 3, 4, 2)
                .flatten(3)
                .flatten(1, 2)
            ),
            "The patches are in order, but the pixels within each are transposed.",
        ),
        Misconception(
            "pixels before patches",
            lambda images, patch_size: image_patches(images, patch_size).transpose(1, 2),
            "The dimensions are (batch, pixels, patches), as F.unfold returns them. A token for each patch comes "
            "first, its pixels last.",
        ),
        Misconception(
            "overlapping",
            lambda images, patch_size: F.unfold(images[:, None], patch_size).transpose(1, 2),
            "The patches overlap: the window moves on by one pixel. Move it by a whole patch (stride).",
        ),
        Misconception(
            "one token a row of pixels",
            lambda images, patch_size: images,
            "These are the rows of pixels: tokens, but not patches.",
        ),
        Misconception(
            "not flattened",
            lambda images, patch_size: image_patches(images, patch_size).unflatten(2, (patch_size, patch_size)),
            "The patches are right and still squares. A token is a vector: flatten each.",
        ),
    ),
)


# --- places in a picture that is no square, given with a mistake --------------------------------------


def places(tokens, row, column):
    index = torch.arange(tokens.size(1))
    return tokens + row[index // len(column)] + column[index % len(column)]


def _rows_counted(tokens, row, column):
    """What the page prints: right for squares, wrong for all other pictures."""
    index = torch.arange(tokens.size(1))
    return tokens + row[index // len(row)] + column[index % len(column)]


def _column_by_column(tokens, row, column):
    index = torch.arange(tokens.size(1))
    return tokens + row[index % len(row)] + column[index // len(row)]


def _grid(size, generator):
    """Tokens of a tall or a wide grid of patches, and its vectors; a batch of one is among them."""
    n_rows, n_columns = (size, size + 2) if size % 2 else (size + 2, size)
    d_model, batch = size + 4, (2, 3, 1)[size % 3]
    tokens = normal(generator, batch, n_rows * n_columns, d_model)
    return tokens, normal(generator, n_rows, d_model), normal(generator, n_columns, d_model)


PLACES = Exercise(
    "vision.places",
    places,
    _grid,
    (
        Misconception(
            "column by column",
            _column_by_column,
            "This numbers the patches column by column. They come row by row: the neighbour on the right is the next.",
        ),
        Misconception(
            "the number of rows in both lines",
            lambda tokens, row, column: _by_width(tokens, row, column, len(row)),
            "Now both lines count with the number of rows. How many patches are there from one line of the picture to "
            "the next?",
        ),
        Misconception(
            "rows alone",
            lambda tokens, row, column: tokens + row[torch.arange(tokens.size(1)) // len(column)],
            "The rows are right. The vectors of the columns are not added.",
        ),
        Misconception(
            "columns alone",
            lambda tokens, row, column: tokens + column[torch.arange(tokens.size(1)) % len(column)],
            "The columns are right. The vectors of the rows are not added.",
        ),
        Misconception(
            "places alone",
            lambda tokens, row, column: places(torch.zeros_like(tokens), row, column),
            "These are the places. Add them to the tokens.",
        ),
    ),
    given=_rows_counted,
    differentiable=True,
)


def _by_width(tokens, row, column, width):
    index = torch.arange(tokens.size(1))
    return tokens + row[index // width] + column[index % width]


EXERCISES = (PATCHES, PLACES)
