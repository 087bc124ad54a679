"""The map of the course: its lessons from top to bottom, how long each takes, and lines from what each needs."""

from attention_course import recorded
from attention_course.diagrams.diagram import Area, Diagram

WIDTH = 480
ROW, BOX = 40, 32  # from lesson to lesson, and the height of one
LANE = 9  # between two lines that run side by side
FURTHER = 14  # how far a further page is moved in


def course_map(parts: list[dict] | None = None) -> Diagram:
    """The lessons as boxes with their minutes, in their parts; lines lead from each lesson to those that need it.

    Args:
        parts: As in the record `lessons`, which is taken if left out: for each part its name and its lessons, each
            with `name`, `title`, `minutes`, `needs` (names of other lessons) and `further`.
    """
    parts = recorded.load("lessons")["parts"] if parts is None else parts
    lessons = [lesson for part in parts for lesson in part["lessons"]]
    order = {lesson["name"]: place for place, lesson in enumerate(lessons)}
    links = [(order[need], order[lesson["name"]]) for lesson in lessons for need in lesson["needs"]]
    lanes = _lanes(links)
    left = LANE * (max(lanes.values(), default=0) + 1) + 10

    hours = round(sum(lesson["minutes"] for lesson in lessons) / 60)
    needs = "; ".join(
        f"{lesson['title']}, {lesson['minutes']} minutes, needs "
        + (", ".join(lessons[order[need]]["title"] for need in lesson["needs"]) or "no other lesson")
        for lesson in lessons
    )
    alt = f"The {len(lessons)} lessons of the course, {hours} hours in all. {needs}."
    picture = Diagram(alt, width=WIDTH, height=ROW * (len(lessons) + len(parts)) + 8)
    boxes, y = [], 4.0
    for part in parts:
        picture.text(left, y + ROW / 2 + 2, part["part"], bold=True)
        minutes = sum(lesson["minutes"] for lesson in part["lessons"])
        picture.text(WIDTH - 12, y + ROW / 2 + 2, _hours(minutes), anchor="end", bold=True)
        y += ROW
        for lesson in part["lessons"]:
            boxes.append(_draw_lesson(picture, left, y, lesson))
            y += ROW
    for needed, needing in links:
        _draw_link(picture, boxes[needed], boxes[needing], left - LANE * (lanes[needed] + 1) - 4)
    return picture


def _draw_lesson(picture: Diagram, left: float, y: float, lesson: dict) -> Area:
    x = left + (FURTHER if lesson["further"] else 0)
    box = picture.box(x, y, WIDTH - 2 - x, BOX, tone="plain" if lesson["further"] else "query")
    picture.text(x + 10, y + BOX / 2, lesson["title"])
    picture.text(WIDTH - 12, y + BOX / 2, f"{lesson['minutes']} min", anchor="end")
    return box


def _draw_link(picture: Diagram, needed: Area, needing: Area, x: float):
    (x0, y0), (x1, y1) = needed.left, needing.left
    picture.arrow((x0, y0 + 6), (x, y0 + 6), (x, y1 - 6), (x1 - 1, y1 - 6))


def _lanes(links: list[tuple[int, int]]) -> dict[int, int]:
    """For each lesson that another one needs the lane of its lines, 0 next to the lessons.

    All lines from one lesson share a lane; lessons whose lines pass the same place have two.
    """
    reach = dict(sorted(links))  # to the last of those that need it
    lanes: dict[int, int] = {}
    for start, end in sorted(reach.items(), key=lambda link: (link[1] - link[0], link)):
        taken = {lane for other, lane in lanes.items() if other < end and start < reach[other]}
        lanes[start] = next(lane for lane in range(len(links)) if lane not in taken)
    return lanes


def _hours(minutes: int) -> str:
    """In hours, to the nearest half."""
    halves = round(minutes / 30)
    return f"{halves // 2 or ''}{'½' if halves % 2 else ''} h"
