"""The kit that schematics are drawn with: boxes, arrows, text, and tensors as grids of coloured cells, in SVG."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from attention_course.course import palette
from attention_course.support.arrays import as_array

# Ink is the page's own (`currentColor`) and every colour lies half transparent on the page's ground, so that one
# picture serves a light page and a dark one.
TONES = {
    "plain": "currentColor",
    "query": palette.BLUE,
    "key": palette.ORANGE,
    "value": palette.GREEN,
    "weights": palette.PINK,
    "output": palette.GREEN,
}
TEXT = 15  # at 480 units across 350 pixels of a phone's page, 11 pixels
SUBSCRIPT = 14
SUBSCRIPTED = re.compile(r"(?<=[A-Za-z])_([A-Za-z0-9])\b")
MIDDLE = 0.35 * TEXT  # from a line's middle to where its letters stand
ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"
INK = 'fill="currentColor"'
DASHES = ' stroke-dasharray="5 4"'
EXACT = 1e-6  # by how much a whole number may be missed: what 32 bits make of it
STRONGEST = 0.8  # of a cell's colour: a number in the page's ink can still be read on it

Point = tuple[float, float]


@dataclass(frozen=True)
class Area:
    """A rectangle of a diagram, in its units; `left`, `right`, `top` and `bottom` are the middles of its sides."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        return self.x + self.width, self.y + self.height / 2

    @property
    def top(self) -> Point:
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> Point:
        return self.x + self.width / 2, self.y + self.height

    @property
    def centre(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Grid(Area):
    """The area of a tensor, whose parts can be pointed at."""

    n_rows: int
    n_columns: int

    def cell(self, row: int, column: int) -> Area:
        """The area of one number."""
        width, height = self.width / self.n_columns, self.height / self.n_rows
        return Area(self.x + column * width, self.y + row * height, width, height)

    def row(self, row: int) -> Area:
        """The area of one row."""
        height = self.height / self.n_rows
        return Area(self.x, self.y + row * height, self.width, height)

    def column(self, column: int) -> Area:
        """The area of one column."""
        width = self.width / self.n_columns
        return Area(self.x + column * width, self.y, width, self.height)


class Diagram:
    """A schematic. As the last expression of a cell it shows itself.

    The origin is the upper left corner. On a page of 390 pixels a picture of 480 units is shown at about 0.73 of
    its size, so that text of 15 units is 11 pixels high.

    Args:
        alt: What the picture shows, in words: its first sentence is its title, the rest its description.
        height: In units.
        width: In units, at most 480.

    Raises:
        ValueError: If there are no words, or the picture is wider than 480 units.
    """

    def __init__(self, alt: str, *, height: float, width: float = 480):
        if not isinstance(alt, str) or not alt.strip():
            raise ValueError(f"alt must say in words what the diagram shows, got {alt!r}")
        if width > 480:
            raise ValueError(f"width must be at most 480 units, or a phone shrinks the text too far; got {width}")
        self.alt = alt
        self.width, self.height = width, height
        self.tensors: dict[str, np.ndarray] = {}
        self._parts: list[str] = []

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False, quiet: bool = False):
        """Write a line of text whose middle has the height `y`.

        Args:
            x: Where it starts, has its middle, or ends, as `anchor` says.
            y: Of its middle.
            text: `W_Q` is W with a subscript Q.
            anchor: `start`, `middle` or `end`.
            bold: For what a picture is about.
            quiet: For remarks.
        """
        look = ' font-weight="600"' if bold else ' fill-opacity="0.75"' if quiet else ""
        self._add(_text(f'x="{x:g}" y="{y + MIDDLE:g}" text-anchor="{anchor}"{look}', text))

    def box(self, x: float, y: float, width: float, height: float, text: str = "", *, tone: str = "plain") -> Area:
        """Draw a rounded box with lines of text in its middle, and return its area."""
        color = TONES[tone]
        self._add(
            f'<rect class="course-tone-{tone}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
            f'fill="{color}" fill-opacity="{0.06 if tone == "plain" else 0.18}" stroke="{color}" stroke-width="1.5"/>'
        )
        lines = text.split("\n") if text else []
        for number, line in enumerate(lines):
            offset = (number - (len(lines) - 1) / 2) * 1.25 * TEXT
            self.text(x + width / 2, y + height / 2 + offset, line, anchor="middle")
        return Area(x, y, width, height)

    def arrow(self, *points: Point, label: str = "", dashed: bool = False):
        """Draw an arrow through points. A label stands at its longest stretch: above a flat one, else to its right."""
        self._add(f'<path d="{_path(points)}" stroke="currentColor" stroke-width="1.5"{DASHES if dashed else ""}/>')
        (x0, y0), (x1, y1) = points[-2:]
        turn = math.degrees(math.atan2(y1 - y0, x1 - x0))
        self._add(f'<path d="M0 0L-9 -4.5V4.5z" transform="translate({x1:g} {y1:g}) rotate({turn:g})" {INK}/>')
        if label:
            (x0, y0), (x1, y1) = max(zip(points, points[1:], strict=False), key=lambda pair: math.dist(*pair))
            flat = abs(x1 - x0) >= abs(y1 - y0)
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            self.text(x if flat else x + 8, y - 0.8 * TEXT if flat else y, label, anchor="middle" if flat else "start")

    def line(self, start: Point, end: Point, *, weight: float = 0.25, dashed: bool = False):
        """Draw a line, thicker for a larger weight between 0 and 1: one query's attention to one key."""
        self._add(
            f'<path d="{_path((start, end))}" stroke="{TONES["query"]}" class="course-weight" '
            f'stroke-width="{8 * weight:.3g}" data-value="{weight:.4g}"{DASHES if dashed else ""}/>'
        )

    def tensor(
        self,
        x: float,
        y: float,
        values,
        *,
        name: str,
        cell: float | tuple[float, float],
        tone: str = "plain",
        numbers: bool = False,
        largest: float | None = None,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
    ) -> Grid:
        """Draw numbers as a grid of cells: blue above zero, orange with a dash below it, stronger the larger.

        Args:
            x: Of the grid's left side; labels of rows stand left of it.
            y: Of the grid's upper side; labels of columns stand above it.
            values: `(rows, columns)` or `(columns,)`, tensor or array.
            name: What the numbers are; tests find them under it.
            cell: A cell's side, or its width and height.
            tone: Of the grid's frame: what part the numbers play.
            numbers: Whether to write each number, with two decimals, into its cell.
            largest: The size that has the strongest colour; that of the largest of the values if left out.
            rows: Labels.
            columns: Labels, upright where they are wider than a cell.

        Returns:
            The area of the grid.

        Raises:
            ValueError: If the values are not one row or a matrix of finite numbers, the name is taken, or labels do not
                fit.
        """
        table = np.atleast_2d(as_array(values)).astype(float)
        if table.ndim != 2:
            raise ValueError(f"values must have shape (rows, columns) or (columns,), got {table.shape}")
        if not np.isfinite(table).all():
            raise ValueError(f"values must be finite, got {(~np.isfinite(table)).sum()} that are not in {name!r}")
        if name in self.tensors:
            raise ValueError(f"name must be new in this diagram, got {name!r} again")
        for what, labels, size in (("rows", rows, table.shape[0]), ("columns", columns, table.shape[1])):
            if len(labels) not in (0, size):
                raise ValueError(f"{what} must have {size} labels or none, got {len(labels)}")
        self.tensors[name] = table
        side, height = cell if isinstance(cell, tuple) else (cell, cell)
        grid = Grid(x, y, side * table.shape[1], height * table.shape[0], *table.shape)
        largest = largest or np.abs(table).max() or 1.0
        cells = "".join(
            _cell(x + column * side, y + row * height, side, height, number, largest, numbers)
            for (row, column), number in np.ndenumerate(table)
        )
        frame = f'<rect class="course-tone-{tone}" {_sides(grid)} stroke="{TONES[tone]}" stroke-width="1.5"/>'
        self._add(f'<g data-tensor="{escape(name)}">{cells}{frame}</g>')
        for row, label in enumerate(rows):
            self.text(x - 6, y + (row + 0.5) * height, label, anchor="end")
        self._label_columns(x, y, side, columns)
        return grid

    def frame(self, area: Area, *, margin: float = 3):
        """Outline what the text points out."""
        around = Area(area.x - margin, area.y - margin, area.width + 2 * margin, area.height + 2 * margin)
        self._add(f'<rect class="course-frame" {_sides(around)} rx="4" stroke="{palette.ORANGE}" stroke-width="3"/>')

    @property
    def svg(self) -> str:
        """The picture as one SVG element, the same bytes whenever it is drawn."""
        title, _, description = self.alt.strip().partition(". ")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="course-diagram" role="img" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}" '
            f'fill="none" font-size="{TEXT}" font-family="system-ui, sans-serif">'
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
            f"{''.join(self._parts)}</svg>"
        )

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Diagram: {self.alt}"

    def _add(self, part: str):
        self._parts.append(part)

    def _label_columns(self, x: float, y: float, side: float, labels: Sequence[str]):
        upright = any(0.55 * TEXT * len(label) > side for label in labels)
        for column, label in enumerate(labels):
            middle = x + (column + 0.5) * side
            if upright:
                self._add(_text(f'transform="translate({middle + MIDDLE:g} {y - 6:g}) rotate(-90)"', label))
            else:
                self.text(middle, y - 0.7 * TEXT, label, anchor="middle")


def _cell(x: float, y: float, width: float, height: float, number: float, largest: float, written: bool) -> str:
    sign = "negative" if number < 0 else "positive"
    color = palette.ORANGE if number < 0 else palette.BLUE
    strength = STRONGEST * min(1.0, abs(number) / largest)
    drawn = (
        f'<rect class="course-{sign}" {_sides(Area(x, y, width, height))} fill="{color}" '
        f'fill-opacity="{strength:.3g}" stroke="currentColor" stroke-opacity="0.25" data-value="{number:.4g}"/>'
    )
    middle = x + width / 2
    if written:
        where = f'x="{middle:g}" y="{y + height / 2 + MIDDLE:g}" text-anchor="middle"'
        return drawn + _text(where, _decimals(number))
    if number < 0:
        drawn += f'<path d="M{middle - 0.2 * width:g} {y + height / 2:g}h{0.4 * width:g}" stroke="currentColor"/>'
    return drawn


def _decimals(number: float) -> str:
    """Two decimals, without the zero before the point, and with a true minus sign; whole numbers have none.

    A number that is only rounded to a whole one, such as 0.9993, keeps its decimals.
    """
    whole = math.isclose(number, round(number), rel_tol=EXACT, abs_tol=EXACT)
    number = round(number, 2) + 0.0  # without the sign of minus zero
    text = f"{number:.0f}" if whole else f"{number:.2f}"
    return re.sub(r"^(-?)0\.", r"\1.", text).replace("-", "\N{MINUS SIGN}")


def _sides(area: Area) -> str:
    return f'x="{area.x:g}" y="{area.y:g}" width="{area.width:g}" height="{area.height:g}"'


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _text(attributes: str, text: str) -> str:
    # After a subscript a space without width brings the line back up.
    subscript = rf'<tspan dy="4" font-size="{SUBSCRIPT}">\1</tspan><tspan dy="-4">{ZERO_WIDTH}</tspan>'
    return f"<text {INK} {attributes}>{SUBSCRIPTED.sub(subscript, escape(text))}</text>"
