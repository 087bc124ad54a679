"""A state that is written pair by pair, as it stands before a script runs: pairs, matrix and readings as one SVG."""

from html import escape

from attention_course.course.palette import BLUE, ORANGE

CELL, ROW = 42, 22  # of a number
LEFT, RIGHT = 48, 44  # for names, and for answers
CHIPS = 4  # pairs side by side
STRONGEST = 0.3  # how opaque the ground of a number is that is 1 or larger: its text can be read in light and in dark
ALIKE = 1e-9  # readings that differ by less are the same, but for rounding


def draw_state(
    names: list[str],
    letters: list[str],
    pairs: list[tuple[int, int]],
    written: int,
    state: list[list[float]],
    readings: list[list[float]],
    how: str,
    alt: str,
) -> str:
    """The pairs, of which the first are written, the state, and what each name reads.

    Args:
        names: Those that read, a row each.
        letters: The columns.
        pairs: The number of a name and that of a letter.
        written: How many of the pairs are.
        state: `(d_k, n_letters)`.
        readings: `(n_names, n_letters)`.
        how: The rule and the share kept, in words.
        alt: What is seen, in words.

    Returns:
        An SVG element, for HTML.
    """
    width = LEFT + max(6, len(letters)) * CELL + RIGHT
    should = dict(pairs[:written])
    known = [reading if name in should else [] for name, reading in enumerate(readings)]
    chips, top = _pairs(names, letters, pairs, written, width / CHIPS)
    matrix, top = _table(f"The state ({how})", letters, [""] * len(state), state, top)
    read, end = _table("What each name reads. Framed: its latest letter", letters, names, known, top)
    start = end - len(names) * ROW
    answers = (_answer(letters, known[name], letter, start + name * ROW) for name, letter in should.items())
    right = sum(find_answer(known[name]) == letter for name, letter in should.items())
    count = f'<text x="1" y="{end + 22}" font-weight="600">Right: {right} of {len(should)}</text>'
    return (
        f'<svg role="img" aria-label="{escape(alt)}" width="{width}" height="{end + 30}" '
        f'viewBox="0 0 {width} {end + 30}" fill="currentColor" font-size="12">'
        f"{chips}{matrix}{read}{''.join(answers)}{count}</svg>"
    )


def find_answer(reading: list[float]) -> int | None:
    """The letter with the largest number, unless two are the same."""
    best = [letter for letter, value in enumerate(reading) if value > max(reading) - ALIKE]
    return best[0] if len(best) == 1 else None


def _text(x: float, y: float, text: str, style: str = "") -> str:
    """In the middle of a row that starts at y."""
    return f'<text x="{x:g}" y="{y + 15:g}" text-anchor="middle"{style}>{escape(text)}</text>'


def _pairs(names, letters, pairs, written, width: float) -> tuple[str, int]:
    """A box for each: dashed before it is written, thick if it is the last, struck out if a later one replaces it."""
    boxes = []
    for i, (name, letter) in enumerate(pairs):
        x, y = (i % CHIPS) * width, (i // CHIPS) * (ROW + 6) + 2
        frame = ' stroke-width="2"' if i == written - 1 else ' stroke-opacity="0.4"'
        dashes = "" if i < written else ' stroke-dasharray="3"'
        old = any(name == later for later, _ in pairs[i + 1 : written])
        boxes.append(
            f'<rect x="{x + 1:g}" y="{y}" width="{width - 6:g}" height="{ROW}" rx="4" fill="none" '
            f'stroke="currentColor"{frame}{dashes}/>'
        )
        struck = ' text-decoration="line-through"' if old else ""
        boxes.append(_text(x + width / 2 - 2, y, f"{names[name]} → {letters[letter]}", struck))
    return "".join(boxes), -(-len(pairs) // CHIPS) * (ROW + 6)


def _table(title: str, letters, heads: list[str], rows: list[list[float]], top: int) -> tuple[str, int]:
    """Numbers under the letters, each row behind its head, and where the table ends."""
    start = top + 52
    parts = [f'<text x="1" y="{top + 25}">{escape(title)}</text>']
    parts += [_text(LEFT + (j + 0.5) * CELL, top + 30, letter) for j, letter in enumerate(letters)]
    for i, (head, row) in enumerate(zip(heads, rows, strict=True)):
        y = start + i * ROW
        parts += [_text(LEFT / 2, y, head)] if head else []
        parts += [_cell(LEFT + j * CELL, y, value) for j, value in enumerate(row)]
    return "".join(parts), start + len(rows) * ROW


def _cell(x: int, y: int, value: float) -> str:
    number = "0" if abs(value) < 0.005 else f"{value:.2f}".replace("-", "−")
    ground = f'fill="{ORANGE if value < 0 else BLUE}" fill-opacity="{STRONGEST * min(1, abs(value)):.2f}"'
    return f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{ROW - 2}" {ground}/>{_text(x + CELL / 2 - 1, y, number)}'


def _answer(letters, reading: list[float], letter: int, y: int) -> str:
    """A frame where the largest number should be, and which letter has it."""
    best = find_answer(reading)
    frame = f'<rect x="{LEFT + letter * CELL + 1}" y="{y + 1}" width="{CELL - 4}" height="{ROW - 4}"'
    said = f"{'✓' if best == letter else '✗'} {'tie' if best is None else letters[best]}"
    return f'{frame} fill="none" stroke="{ORANGE}" stroke-width="2"/>{_text(LEFT + len(letters) * CELL + 20, y, said)}'
