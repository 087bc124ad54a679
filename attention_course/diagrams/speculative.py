"""A text that a large model writes with a draft: what each of its calls kept, threw away and added."""

from collections.abc import Sequence

from attention_course.diagrams.diagram import Area, Diagram

CELL, ROW, TOP, LEFT = 34, 40, 62, 74
VISIBLE = {" ": "\N{OPEN BOX}", "\n": "\N{RETURN SYMBOL}"}


def drafted_calls(calls: Sequence[tuple[str, int, str]], text: str) -> Diagram:
    """The first calls of the large model, a row each.

    Args:
        calls: For each call the drafted characters, how many of them were kept, and the character that the large model
            added.
        text: What stood there before; only its end is written above the picture.

    Returns:
        The diagram: kept characters stand in boxes, those that were thrown away stand bare and crossed out, and the
        large model's own is framed.

    Raises:
        ValueError: If a call keeps more characters than were drafted, or drafts more than 7.
    """
    for drafted, n_kept, _ in calls:
        if not 0 <= n_kept <= len(drafted) <= 7:
            raise ValueError(f"calls must keep some of at most 7 drafted characters, got {n_kept} of {drafted!r}")
    n_written = sum(n_kept + 1 for _, n_kept, _ in calls)
    told = " ".join(
        f"Call {number}: of the draft {_visible(drafted)} {n_kept} are kept, and the large model adds {_visible(own)}."
        for number, (drafted, n_kept, own) in enumerate(calls, 1)
    )
    longest = max(len(drafted) for drafted, _, _ in calls)
    own_x = LEFT + longest * CELL + 24
    picture = Diagram(
        f"Writing with a draft: {n_written} characters in {len(calls)} calls of the large model. {told} Boxes are "
        "kept, crossed characters are thrown away, and frames show what the large model adds.",
        height=TOP + ROW * len(calls),
    )
    picture.text(0, 14, f"what is written after {_visible(text[-30:])}", bold=True)
    picture.text(LEFT + longest * CELL / 2, 42, "drafted", anchor="middle", quiet=True)
    picture.text(own_x + CELL / 2, 42, "added", anchor="middle", quiet=True)
    for row, (drafted, n_kept, own) in enumerate(calls):
        y = TOP + row * ROW
        picture.text(0, y + 13, f"call {row + 1}")
        for place, character in enumerate(drafted):
            _character(picture, LEFT + place * CELL, y, character, kept=place < n_kept)
        added = picture.box(own_x, y, CELL - 8, 26, _visible(own), tone="output")
        picture.frame(added, margin=2)
        picture.text(own_x + CELL + 14, y + 13, f"{n_kept + 1} more", quiet=True)
    return picture


def _character(picture: Diagram, x: float, y: float, character: str, *, kept: bool):
    area = Area(x, y, CELL - 8, 26)
    if kept:
        picture.box(area.x, area.y, area.width, area.height, _visible(character), tone="key")
        return
    picture.text(*area.centre, _visible(character), anchor="middle", quiet=True)
    picture.line((area.x + 3, area.y + 21), (area.x + area.width - 3, area.y + 5))


def _visible(text: str) -> str:
    return "".join(VISIBLE.get(character, character) for character in text)
