"""The diagram of the page "What does attention store and retrieve?"."""

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

SIDE = 8  # of an image, in pixels


def retrieval(state: Tensor, patterns: Tensor, weights: Tensor, output: Tensor, shown: int = 4) -> Diagram:
    """A damaged image, the stored images it resembles most, and the blend of all that is brought back.

    Cells say how much darker than paper a pixel is: its value less the lowest of the stored ones.

    Args:
        state: The damaged image, `(64,)`.
        patterns: The stored images, `(n, 64)`.
        weights: Of the stored images, `(n,)`.
        output: Their blend, `(64,)`.
        shown: How many of the stored images to draw, those with the largest weights.
    """
    alt = (
        f"Retrieval from a memory of {len(patterns)} digits. On the left the damaged digit that is asked for, in the "
        f"middle the {shown} stored digits with the largest weights, each with a line as thick as its weight, on the "
        "right the blend of all stored digits: the whole digit."
    )
    paper, ink = patterns.min(), patterns.max() - patterns.min()
    height = 86
    picture = Diagram(alt, height=34 + height * shown)

    def image(x: float, y: float, values: Tensor, cell: float, name: str, tone: str):
        grid = (values - paper).view(SIDE, SIDE)
        return picture.tensor(x, y, grid, name=name, cell=cell, tone=tone, largest=ink.item())

    middle = 29 + height * shown / 2
    asked = image(4, middle - 52, state, 13, "asked", "query")
    answer = image(372, middle - 52, output, 13, "retrieved", "output")
    picture.text(56, 14, "asked", anchor="middle", bold=True)
    picture.text(225, 14, "stored", anchor="middle", bold=True)
    picture.text(424, 14, "retrieved", anchor="middle", bold=True)
    for rank, index in enumerate(weights.argsort(descending=True)[:shown].tolist()):
        weight, y = weights[index].item(), 34 + height * rank
        stored = image(197, y, patterns[index], 7, f"stored {rank + 1}", "key")
        picture.line(asked.right, stored.left, weight=weight)
        picture.line(stored.right, answer.left, weight=weight)
        picture.text(225, y + stored.height + 12, f"{weight:.0%}", anchor="middle")
    return picture
