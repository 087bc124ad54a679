import re

from reading import SVG, parse, texts

from attention_course import diagrams

PARTS = [
    {
        "part": "First",
        "lessons": [
            {"name": "a", "title": "Title A", "minutes": 40, "needs": [], "further": False},
            {"name": "b", "title": "Title B", "minutes": 45, "needs": ["a"], "further": True},
        ],
    },
    {
        "part": "Second",
        "lessons": [
            {"name": "c", "title": "Title C", "minutes": 20, "needs": ["b"], "further": False},
            {"name": "d", "title": "Title D", "minutes": 50, "needs": ["a", "c"], "further": False},
        ],
    },
]
LINKS = {("Title A", "Title B"), ("Title B", "Title C"), ("Title A", "Title D"), ("Title C", "Title D")}


def heights(picture):
    """The middle of each line of text, by the text."""
    return {"".join(text.itertext()): float(text.get("y")) for text in parse(picture).iter(f"{SVG}text")}


def lines(picture):
    """The points of each line that ends in an arrow's head."""
    paths = [path.get("d") for path in parse(picture).iter(f"{SVG}path") if path.get("stroke") and "L" in path.get("d")]
    return [[tuple(map(float, point)) for point in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in paths]


def test_every_line_leads_from_a_lesson_to_one_that_needs_it():
    picture = diagrams.course_map(PARTS)
    lessons = {text: y for text, y in heights(picture).items() if text.startswith("Title")}

    def lesson_at(y):
        return min(lessons, key=lambda title: abs(lessons[title] - y))

    assert {(lesson_at(points[0][1]), lesson_at(points[-1][1])) for points in lines(picture)} == LINKS


def test_lines_stand_apart_unless_they_come_from_one_lesson():
    upright = [(points[1][0], points[1][1], points[2][1]) for points in lines(diagrams.course_map(PARTS))]
    for x, top, bottom in upright:
        beside = [other for other in upright if other[0] == x and other[1] < bottom and top < other[2]]
        assert {other[1] for other in beside} == {top}
    from_a = [x for x, top, _ in upright if top == min(top for _, top, _ in upright)]
    assert len(from_a) == 2 and len(set(from_a)) == 1
    assert min(x for x, *_ in upright) > 0


def test_times_are_those_of_the_lessons():
    shown = texts(diagrams.course_map(PARTS))
    assert [text for text in shown if "min" in text] == ["40 min", "45 min", "20 min", "50 min"]
    assert [text for text in shown if text.endswith(" h")] == ["1½ h", "1 h"]
    assert "4 lessons of the course, 3 hours" in diagrams.course_map(PARTS).alt


def test_the_map_of_this_course_is_drawn_without_being_told_of_it():
    assert "Multi-head attention" in texts(diagrams.course_map())
