"""The picture at the end of a lesson: which parts of the front page's model are built, and what they are worth."""

from attention_course.course import recorded
from attention_course.course.ladder import LESSONS
from attention_course.diagrams.diagram import Area, Diagram
from attention_course.diagrams.ladder import Chart

# From the text down to what the model writes: what a part does, and the lesson in which it is built.
BEFORE = (("embedding: numbers for each character", "primer"),)
BLOCK = (
    ("queries, keys and values: W_Q, W_K, W_V", "self_attention"),
    ("positions: turn queries and keys", "positions"),
    ("scores: how well each key fits", "scaled_dot_product"),
    ("mask: nobody looks ahead", "masking"),
    ("weights, and a blend of the values", "bottleneck"),
    ("several heads, joined by W_O", "multi_head"),
    ("norms, and a layer for each token", "transformer"),
)
BEHIND = (
    ("logits, loss and training", "primer"),
    ("all of it in one model, trained to write", "language_model"),
)
ROW, HEIGHT, LEFT, WIDTH = 38, 30, 20, 340


def built_so_far(lesson: str, bits: float | None = None) -> Diagram:
    """The parts of the front page's model, built before this lesson, in it, or still to come; and their bits a letter.

    Args:
        lesson: The file of one of the lessons in which a part is built, such as `multi_head`.
        bits: What the model as far as it is built needs for a letter of unread text, in the reader's own run.

    Raises:
        ValueError: If no part of the model is built in that lesson.
    """
    if lesson not in LESSONS:
        raise ValueError(f"lesson must be one of {list(LESSONS)}, got {lesson!r}")
    parts = [*BEFORE, *BLOCK, *BEHIND]
    read = LESSONS[: LESSONS.index(lesson) + 1]
    built = [what for what, where in parts if where in read]
    new = [what for what, where in parts if where == lesson]
    n_blocks = recorded.load("character_model")["models"]["causal"]["settings"]["n_layers"]
    chart, height = Chart(lesson, bits), ROW * (len(parts) + 1) + 44
    picture = Diagram(
        f"The language model of the front page has {len(parts)} parts, of which you have built {len(built)}. "
        f"New in this lesson: {_listed(new)}. {_still_to_come(len(parts) - len(built))} "
        f"Below, {chart.alt[0].lower()}{chart.alt[1:]}",
        height=height + chart.height,
    )
    y = 34
    picture.text(LEFT, 14, "The model of the front page, from reading to writing", quiet=True)
    block = Area(LEFT, y + ROW * len(BEFORE), WIDTH, ROW * (len(BLOCK) + 1) - (ROW - HEIGHT))
    picture.box(block.x - 14, block.y - 4, block.width + 118, block.height + 8)
    picture.text(LEFT, block.y + HEIGHT / 2, f"a block (there are {n_blocks}, one after the other)", quiet=True)
    for group, start in ((BEFORE, y), (BLOCK, block.y + ROW), (BEHIND, block.y + block.height + ROW - HEIGHT + 4)):
        for number, (what, where) in enumerate(group):
            _draw_part(picture, start + number * ROW, what, "new" if where == lesson else where in read)
    chart.draw(picture, height)
    return picture


def _draw_part(picture: Diagram, y: float, what: str, state: str | bool):
    """Draw a part: `new`, built (`True`), or still to come (`False`)."""
    area = picture.box(LEFT, y, WIDTH, HEIGHT, what, tone={"new": "key", True: "value", False: "plain"}[state])
    words = {"new": "new here", True: "built", False: "to come"}[state]
    picture.text(area.x + area.width + 10, area.right[1], words, bold=state == "new", quiet=not state)


def _listed(parts: list[str]) -> str:
    return "; ".join(part.replace("_", "") for part in parts)


def _still_to_come(n_parts: int) -> str:
    return f"Still to come: {n_parts}." if n_parts else "Nothing is still to come: the model is complete."
