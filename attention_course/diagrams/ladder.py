"""The chart at the end of a lesson: what each part of the model is worth, in bits for a letter, beside its rivals."""

from statistics import median

from attention_course.course import recorded
from attention_course.course.ladder import LADDER, LESSONS
from attention_course.diagrams.diagram import Diagram

# What else predicts letters, and the first lesson whose chart it stands on. Before `positions` no step of the model
# knows the order of letters, and rivals that know it wait.
COUNTS = {1: ("counting 1 letter", "primer")} | {n: (f"counting {n} letters", "positions") for n in (2, 3, 4)}
COUNTS[8] = ("counting 8 letters", "language_model")
GRUS = {
    "GRU, last letter": ("GRU, 16 letters", "positions"),
    "GRU, one block": ("GRU, size of 1 block", "transformer"),
    "GRU, three blocks": ("GRU, size of 3 blocks", "language_model"),
}
LONGER, GRU_FOR_LONGER = "the front page's model", "GRU, front page's size"
ROW, DOT = 25, 10  # how high a row is, and how wide a dot
LEFT, LEAST, UNITS = 190, 1.7, 78  # where the axis begins, with which number, and how long a bit is
HEAD = 76
LINE, WRITTEN = 20, 30  # of what the newest step writes: how high a line is, and how many letters stand in it


class Chart:
    """Bits for a letter of unread text, for each step up to a lesson's and for its rivals, to be drawn into a picture.

    Args:
        lesson: One of `LESSONS`.
        bits: Of the reader's own model: the first of the lesson's steps.
    """

    def __init__(self, lesson: str, bits: float | None = None):
        self.steps, self.rivals, self.new = _dots(lesson)
        self.bits, self.written = bits, _written(lesson)
        self.trained, self.newest = (self.new[0], self.new[-1]) if self.new else (None, None)

    @property
    def alt(self) -> str:
        """What the dots show, in words."""
        told, beside = (
            ", ".join(f"{label} {bits:.2f}" for label, bits in dots) for dots in (self.steps, self.rivals)
        )
        here = "" if self.bits is None else f" The model that was trained on this page: {self.bits:.2f}."
        medians = "medians of ten trainings, but one training each where it was longer"
        writes = f" What it writes: {self.written}" if self.written else ""
        return f"Bits for a letter of unread help pages, {medians}. {told}.{here} Rivals: {beside}.{writes}"

    @property
    def height(self) -> float:
        """In units."""
        written = LINE * (1 + len(self._lines)) + 6 if self.written else 0
        lines = len(self.steps) + 1 + len(self.rivals)
        return HEAD + ROW * lines + written

    @property
    def _lines(self) -> list[str]:
        return [self.written[start : start + WRITTEN] for start in range(0, len(self.written), WRITTEN)]

    def draw(self, picture: Diagram, top: float):
        """Draw them below a height."""
        picture.text(8, top + 16, "Bits for a letter of unread text: fewer are better", bold=True)
        picture.text(8, top + 36, "3 bits are as hard as a guess among 8 letters, 2 among 4", quiet=True)
        y = top + HEAD
        for bits in (2, 3):
            picture.text(_place(bits), y - 14, str(bits), anchor="middle", quiet=True)
            picture.line((_place(bits), y - 5), (_place(bits), y + 3), weight=0.1)
        for label, bits in self.steps:
            here = self.bits is not None and label == self.trained
            note = f"{bits:.2f}, yours {self.bits:.2f}" if here else f"{bits:.2f}"
            _draw_dot(picture, y, label, bits, note, "key" if label in self.new else "value")
            y += ROW
        picture.text(LEFT - 8, y + ROW / 2, "rivals:", anchor="end", quiet=True)
        for label, bits in self.rivals:
            y += ROW
            _draw_dot(picture, y, label, bits, f"{bits:.2f}", "plain")
        if self.written:
            y += ROW + LINE / 2 + 4
            picture.text(8, y, f"“{self.newest}” writes (¶ ends a line):", quiet=True)
            for number, line in enumerate(self._lines, start=1):
                picture.text(8, y + LINE * number, line.replace(" ", "\N{NO-BREAK SPACE}"))


def _dots(lesson: str) -> tuple[list[tuple[str, float]], list[tuple[str, float]], list[str]]:
    """The steps up to a lesson, and the rivals, each with its bits; and which steps are new."""
    record, longer = recorded.load("ladder"), recorded.load("character_model")["models"]["causal"]["bits"]
    of = {
        name: median(row["bits"] for row in record["results"] if row["model"] == name) for name in record["best_rates"]
    }
    read = LESSONS[: LESSONS.index(lesson) + 1]
    steps = [(step.part, of[name]) for name, step in LADDER.items() if step.lesson in read]
    new = [step.part for step in LADDER.values() if step.lesson == lesson]
    if lesson == LESSONS[-1]:
        steps.append((LONGER, longer))
    of |= {row["order"]: row["bits"] for row in record["counts"]}
    rivals = [(label, of[which]) for which, (label, since) in (COUNTS | GRUS).items() if since in read]
    if lesson == LESSONS[-1]:
        rivals.append((GRU_FOR_LONGER, min(row["bits"] for row in record["longer"])))
    return steps, rivals, new


def _written(lesson: str) -> str:
    """What the newest step of a lesson writes, as recorded; nothing where a lesson adds no step."""
    names = [name for name, step in LADDER.items() if step.lesson == lesson]
    return recorded.load("ladder")["written"][names[-1]] if names else ""


def _place(bits: float) -> float:
    return LEFT + UNITS * (bits - LEAST)


def _draw_dot(picture: Diagram, y: float, label: str, bits: float, note: str, tone: str):
    middle, x = y + ROW / 2, _place(bits)
    picture.text(LEFT - 8, middle, label, anchor="end", bold=tone == "key", quiet=tone == "plain")
    picture.box(x - DOT / 2, middle - DOT / 2, DOT, DOT, tone=tone)
    picture.text(x + DOT, middle, note, bold=tone == "key")
