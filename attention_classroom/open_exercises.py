"""Open exercises: no check knows their answers, and a person marks them."""

import re
from collections.abc import Iterable, Iterator

from attention_classroom.assignment import Task

OPEN = re.compile(r"^### (?P<number>\d+)\. (?P<asked>[^\n]*\(open,.*?)(?=^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)
SHOWS = re.compile(r"<details>\s*<summary>What a good \w+ shows</summary>(.*?)</details>", re.DOTALL)
NAME = re.compile(r"\w+\.open_\d+")
BEGIN = "**Answer to `{}`, down to the line that ends it:**"
END = "**End of the answer to `{}`.**"


def is_open(exercise: str) -> bool:
    """Whether it is the name of one, such as `"alignment.open_4"`, the fourth exercise of its lesson."""
    return NAME.fullmatch(exercise) is not None


def open_exercises(lesson: str, notebook: dict) -> dict[str, tuple[str, str]]:
    """What each open exercise of a lesson asks, and what a good answer shows, by name."""
    return {
        f"{lesson}.open_{one['number']}": (SHOWS.sub("", one["asked"]).strip(), "".join(SHOWS.findall(one[0])).strip())
        for cell in notebook["cells"]
        for one in _stated(cell)
    }


def with_places(cells: Iterable[dict], tasks: Iterable[Task]) -> Iterator[dict]:
    """The cells of a lesson, and behind the open exercises of which there are tasks a place for each answer."""
    by_number = {task.exercise.rpartition("_")[2]: task for task in tasks if is_open(task.exercise)}
    for cell in cells:
        yield cell
        for number in [one["number"] for one in _stated(cell)]:
            if task := by_number.get(number):
                points = f"> **{task.points:g} point{'' if task.points == 1 else 's'}**, given by a person."
                words = f"{points} Add cells of words and code as you need them, and leave the two bold lines.\n\n"
                yield _markdown(f"open-{number}", words + BEGIN.format(task.exercise) + "\n")
                yield _markdown(f"open-{number}-end", END.format(task.exercise))


def written(cells: list[str], exercises: Iterable[str]) -> dict[str, str]:
    """What stands in the place of each answer, for those whose place is there."""
    text, found = "\n\n".join(cells), {}
    for exercise in exercises:
        _, place, rest = text.partition(BEGIN.format(exercise))
        if place:
            found[exercise] = rest.partition(END.format(exercise))[0].strip()
    return found


def _stated(cell):
    return OPEN.finditer("".join(cell["source"])) if cell["cell_type"] == "markdown" else ()


def _markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}
