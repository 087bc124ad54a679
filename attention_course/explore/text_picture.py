"""What the last character of a text looks at, on the text itself: as a picture and in words, before a script runs."""

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 20, 30  # of a character
ACROSS = 16  # characters in a row: as many as stand beside each other on a phone
BLUE, FILL = "#0072B2", 0.3
SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
MOST_TOLD, LEAST = 3, 0.005


def draw_text(text: str, row: Sequence[float], alt: str) -> str:
    """The text as an SVG element, its last character framed, and each filled as far as that one looks at it.

    Args:
        text: What is drawn.
        row: The weight on each character, from 0 to 1.
        alt: What is seen, in words.
    """
    width, height = min(len(text), ACROSS) * WIDTH, -(-len(text) // ACROSS) * HEIGHT
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    characters = "".join(map(_draw, range(len(text)), text, row))
    x, y = (len(text) - 1) % ACROSS * WIDTH, (len(text) - 1) // ACROSS * HEIGHT
    frame = f'<rect x="{x + 1}" y="{y + 1}" width="{WIDTH - 2}" height="{HEIGHT - 2}" fill="none"'
    return (
        f'<svg role="img" aria-label="{escape(alt)}" {size} fill="currentColor" font-size="15">'
        f'<g font-family="monospace">{characters}</g>{frame} stroke="currentColor" stroke-width="2"/></svg>'
    )


def _draw(place: int, character: str, weight: float) -> str:
    x, y = place % ACROSS * WIDTH, place // ACROSS * HEIGHT
    filled = round(weight * HEIGHT, 1)
    place = f'x="{x}" y="{y + HEIGHT - filled:g}" width="{WIDTH}" height="{filled:g}"'
    name = escape(SIGNS.get(character, character))
    return (
        f'<rect {place} fill="{BLUE}" fill-opacity="{FILL}"/>'
        f'<text x="{x + WIDTH // 2}" y="{y + 20}" text-anchor="middle">{name}</text>'
    )


def tell_looks(text: str, row: Sequence[float], block: int, head: int) -> str:
    """The sentence that the explorer says of the last character.

    Args:
        text: What was read.
        row: The last character's weight on each.
        block: Counted from 1.
        head: Counted from 1; 0 for the mean over the heads of the block.
    """
    place = f"In block {block}, head {head}," if head else f"On average over the heads of block {block},"
    last = len(text) - 1
    names = [SIGNS.get(character, character) for character in text]
    best = sorted(range(len(text)), key=lambda key: -row[key])[:MOST_TOLD]
    called = [f"“{names[key]}” ({last - key}\u00a0back)" if key < last else "itself" for key in best]
    told = [
        f"{name}\u00a0{round(100 * row[key])}%"
        for name, key in zip(called, best, strict=True)
        if row[key] >= LEAST or key == best[0]
    ]
    return f"{place} “{names[-1]}” looks at {', '.join(told)}."
