"""The diagram of the page on pictures: a picture, its patches, and the rows that they become."""

import torch.nn.functional as F
from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram, Grid

GAP = 6  # between patches that were cut apart


def picture_tokens(image: Tensor, patch_size: int, label: int, *, chosen: int) -> Diagram:
    """Cut a picture into patches, and lay them out as rows.

    Args:
        image: Grey values from 0 to 1, `(height, width)`, of at most 16 patches.
        patch_size: Side of a patch in pixels.
        label: The digit that it shows.
        chosen: The patch to follow, counted from 1, row by row.
    """
    height, width = image.shape
    n_columns = width // patch_size
    rows = F.unfold(image[None, None], patch_size, stride=patch_size)[0].T  # (n_patches, pixels)
    down, across = divmod(chosen - 1, n_columns)
    picture = Diagram(
        f"A picture becomes a sequence. A handwritten {label} of {height} × {width} pixels is cut into {len(rows)} "
        f"patches of {patch_size} × {patch_size}. Read row by row, the patches are {len(rows)} rows of "
        f"{rows.size(1)} numbers. Patch {chosen}, in row {down + 1} and column {across + 1} of the patches, is framed "
        f"in all three, and the vectors of row {down + 1} and column {across + 1} are added to it to make a token.",
        height=316,
    )
    whole = picture.tensor(8, 40, image, name="picture", cell=144 / width, largest=1)
    picture.text(whole.top[0], 20, f"{height} × {width} pixels", anchor="middle", bold=True)
    picture.frame(_patch(whole, down, across, patch_size), margin=1)
    side = (144 - GAP * (n_columns - 1)) / n_columns
    for number, pixels in enumerate(rows):
        y, x = divmod(number, n_columns)
        place = 196 + x * (side + GAP), 40 + y * (side + GAP)
        patch = picture.tensor(
            *place,
            pixels.view(patch_size, patch_size),
            name=f"patch {number + 1}",
            cell=side / patch_size,
            largest=1,
        )
        if number == chosen - 1:
            picture.frame(patch, margin=2)
    picture.text(268, 20, f"{len(rows)} patches", anchor="middle", bold=True)
    picture.arrow((160, 112), (188, 112))
    sequence = picture.tensor(
        394,
        40,
        rows,
        name="sequence",
        cell=(76 / rows.size(1), 256 / len(rows)),
        largest=1,
        rows=[str(number + 1) for number in range(len(rows))],
    )
    picture.text(432, 20, f"{len(rows)} rows", anchor="middle", bold=True)
    picture.frame(sequence.row(chosen - 1), margin=2)
    picture.arrow((348, 112), (366, 112))
    words = (
        f"token {chosen}: row {chosen} times a matrix,\nplus a vector for patches in row {down + 1},\n"
        f"plus one for patches in column {across + 1}"
    )
    token = picture.box(8, 220, 312, 78, words, tone="output")
    picture.arrow((366, token.right[1]), (328, token.right[1]))
    return picture


def _patch(grid: Grid, down: int, across: int, size: int) -> Area:
    """The area of a patch of a picture."""
    first = grid.cell(down * size, across * size)
    return Area(first.x, first.y, size * first.width, size * first.height)
