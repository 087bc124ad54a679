"""A chart for a model that does not learn: from what one sees to a test, and from its number to the cause."""

from collections.abc import Mapping, Sequence

from attention_course.diagrams.diagram import Diagram

TEST, CAUSE = (0, 214), (236, 244)  # left side and width of the two columns
HEADING, ROW, GAP = 32, 36, 8


def chart(symptoms: Mapping[str, Sequence[tuple[str, str, float]]]) -> Diagram:
    """Symptoms in bold, and under each a line for each test: what is asked, the cause, and a number measured.

    Args:
        symptoms: By symptom, some of `(test, cause, number)`: at most 25 letters for a test, 20 for a cause.
    """
    n_rows = sum(map(len, symptoms.values()))
    said = " ".join(
        f"{symptom}: {'; '.join(f'{test} finds {cause}, here {_short(number)}' for test, cause, number in rows)}."
        for symptom, rows in symptoms.items()
    )
    picture = Diagram(
        f"A chart of {len(symptoms)} symptoms, {n_rows} tests and their causes, each with the number that the test "
        f"measured on a model broken in this way. {said}",
        height=30 + (HEADING + GAP) * len(symptoms) + ROW * n_rows,
    )
    for x, width, heading in ((*TEST, "test"), (*CAUSE, "cause, and a number")):
        picture.text(x + width / 2, 11, heading, anchor="middle", quiet=True)
    y = 30.0
    for symptom, rows in symptoms.items():
        picture.text(2, y + HEADING / 2, symptom, bold=True)
        y += HEADING
        for test, cause, number in rows:
            asked = picture.box(TEST[0] + 2, y, TEST[1], ROW - 8, test, tone="query")
            named = picture.box(CAUSE[0], y, CAUSE[1] - 2, ROW - 8, tone="key")
            picture.arrow(asked.right, named.left)
            picture.text(named.x + 10, named.centre[1], cause)
            picture.text(named.right[0] - 10, named.centre[1], _short(number), anchor="end", quiet=True)
            y += ROW
        y += GAP
    return picture


def _short(number: float) -> str:
    """Two digits, as one would say the number."""
    return f"{number:.2g}" if abs(number) < 10 else f"{number:.0f}" if abs(number) < 1e4 else f"{number:.0e}"
