"""The chart at the end of a lesson: what each part of the model is worth, in bits for a letter, beside its rivals."""

from statistics import mean

from attention_course.course import recorded
from attention_course.course.ladder import LADDER, LESSONS
from attention_course.diagrams.diagram import Diagram

# What else predicts letters, and the first lesson whose chart it stands on.
COUNTS = {1: "counting 1 letter", 2: "counting 2 letters", 3: "counting 3 letters", 4: "counting 4 letters"}
GRUS = {
    "GRU, last letter": ("GRU, 16 letters", "bottleneck"),
    "GRU, one block": ("GRU, size of 1 block", "transformer"),
    "GRU, three blocks": ("GRU, size of 3 blocks", "language_model"),
}
LONGER, GRU_FOR_LONGER = "recorded, for longer", "GRU like it, as long"
ROW, BAR, LEFT, UNITS = 25, 19, 196, 36  # heights, where bars begin, and how long a bit is
HEAD = 34


def ladder(lesson: str = LESSONS[-1], bits: float | None = None) -> Diagram:
    """Bits for a letter of unread text, for each step up to a lesson's and for its rivals.

    Args:
        lesson: One of `LESSONS`; the last if left out, which is the whole ladder.
        bits: Of the reader's own model in this lesson.

    Raises:
        ValueError: If there is no such lesson.
    """
    chart = Chart(lesson, bits)
    picture = Diagram(chart.alt, height=chart.height)
    chart.draw(picture, 0)
    return picture


class Chart:
    """The bars, to be drawn into a picture.

    Args:
        lesson: As for `ladder`.
        bits: As for `ladder`.

    Raises:
        ValueError: As `ladder`.
    """

    def __init__(self, lesson: str, bits: float | None = None):
        if lesson not in LESSONS:
            raise ValueError(f"lesson must be one of {list(LESSONS)}, got {lesson!r}")
        self.steps, self.rivals, self.newest = _bars(lesson)
        self.bits = bits

    @property
    def alt(self) -> str:
        """What the bars show, in words."""
        told, beside = (", ".join(f"{label} {bits:.2f}" for label, bits in bars) for bars in (self.steps, self.rivals))
        here = "" if self.bits is None else f" The model that was trained on this page: {self.bits:.2f}."
        means = "means of ten trainings, but one training each where it was longer"
        return f"Bits for a letter of unread help pages, {means}. {told}.{here} Rivals: {beside}."

    @property
    def height(self) -> float:
        """In units."""
        return HEAD + ROW * (len(self.steps) + 1 + len(self.rivals))

    def draw(self, picture: Diagram, top: float):
        """Draw them below a height."""
        picture.text(8, top + 16, "Bits for a letter of unread text: fewer are better", bold=True)
        y = top + HEAD
        for label, bits in self.steps:
            new = label == self.newest
            note = f"{bits:.2f}, here {self.bits:.2f}" if new and self.bits is not None else f"{bits:.2f}"
            _draw_bar(picture, y, label, bits, note, "key" if new else "value")
            y += ROW
        picture.text(LEFT - 8, y + ROW / 2, "rivals:", anchor="end", quiet=True)
        for label, bits in self.rivals:
            y += ROW
            _draw_bar(picture, y, label, bits, f"{bits:.2f}", "plain")


def _bars(lesson: str) -> tuple[list[tuple[str, float]], list[tuple[str, float]], str | None]:
    """The steps up to a lesson, and the rivals, each with its bits; and which step is the lesson's last."""
    record, longer = recorded.load("ladder"), recorded.load("character_model")["models"]["causal"]["bits"]
    of = {name: mean(row["bits"] for row in record["results"] if row["model"] == name) for name in record["best_rates"]}
    read = LESSONS[: LESSONS.index(lesson) + 1]
    steps = [(step.part, of[name]) for name, step in LADDER.items() if step.lesson in read]
    newest = [step.part for step in LADDER.values() if step.lesson == lesson]
    if lesson == LESSONS[-1]:
        steps.append((LONGER, longer))
    counts = {row["order"]: row["bits"] for row in record["counts"]}
    rivals = [(label, counts[order]) for order, label in COUNTS.items()]
    rivals += [(label, of[name]) for name, (label, since) in GRUS.items() if since in read]
    if lesson == LESSONS[-1]:
        rivals.append((GRU_FOR_LONGER, min(row["bits"] for row in record["longer"])))
    return steps, rivals, newest[-1] if newest else None


def _draw_bar(picture: Diagram, y: float, label: str, bits: float, note: str, tone: str):
    picture.text(LEFT - 8, y + BAR / 2, label, anchor="end", bold=tone == "key", quiet=tone == "plain")
    area = picture.box(LEFT, y, UNITS * bits, BAR, tone=tone)
    picture.text(area.x + area.width + 6, area.right[1], note, bold=tone == "key")
