"""What a diagram shows, read back out of its SVG."""

from xml.etree import ElementTree

import numpy as np
from torch import Tensor

from attention_course.diagrams import Diagram

SVG = "{http://www.w3.org/2000/svg}"


def parse(picture: Diagram) -> ElementTree.Element:
    """The picture's elements; XML that is not well formed raises."""
    return ElementTree.fromstring(picture.svg)


def drawn(picture: Diagram) -> dict[str, np.ndarray]:
    """The numbers of every tensor as its cells say them, by name, in the shape they are laid out in."""
    return {group.get("data-tensor"): _table(group) for group in parse(picture).iter(f"{SVG}g")}


def close(cells: np.ndarray, tensor: Tensor) -> bool:
    """Whether cells say a tensor's numbers, with the three digits behind the point that they have."""
    cells, numbers = np.squeeze(cells), tensor.detach().squeeze().numpy()
    return cells.shape == numbers.shape and np.allclose(cells, numbers, atol=1e-3, rtol=1e-3)


def texts(picture: Diagram) -> list[str]:
    """Every line of text, in the order it was written."""
    return ["".join(text.itertext()).replace("\N{ZERO WIDTH SPACE}", "") for text in parse(picture).iter(f"{SVG}text")]


def strengths(picture: Diagram, name: str) -> np.ndarray:
    """How strongly each cell of a tensor is coloured, with the sign of its colour."""
    group = next(group for group in parse(picture).iter(f"{SVG}g") if group.get("data-tensor") == name)
    cells = [cell for cell in group.iter(f"{SVG}rect") if cell.get("data-value")]
    signs = [-1 if cell.get("class") == "course-negative" else 1 for cell in cells]
    return np.array([sign * float(cell.get("fill-opacity")) for sign, cell in zip(signs, cells, strict=True)])


def _table(group: ElementTree.Element) -> np.ndarray:
    cells = [cell for cell in group.iter(f"{SVG}rect") if cell.get("data-value")]
    rows: dict[str, list[float]] = {}
    for cell in sorted(cells, key=lambda cell: (float(cell.get("y")), float(cell.get("x")))):
        rows.setdefault(cell.get("y"), []).append(float(cell.get("data-value")))
    return np.array(list(rows.values()))
