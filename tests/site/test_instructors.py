"""Pages for instructors that are made from the lessons: first pictures, what builds on what, who made which mistake."""

import re
from types import SimpleNamespace

import pytest
from built_site import HEIGHTS, ROOT, SITE, WIDTHS
from course_site.objectives import direct_needs, lanes_of, read_lesson
from small_book import read_page
from test_files import anchors
from visits import run_axe

from attention_classroom.assignment import Assignment, Task
from attention_classroom.mistakes import write_mistakes
from attention_course.course.environment import PLACEHOLDER
from attention_course.exercises import CHAPTERS, chapter_exercises

PICTURES = {"multi_head": "A large box", "second": "Two & more", "last": "Three"}
LESSONS = {"multi_head": "Heads & more", "second": "About <second>", "plain": "Plain", "last": "The last"}


def test_each_lesson_has_its_first_picture_once_and_in_order(sample):
    """A picture in an explorer does not count, nor a further page; a lesson without a picture is left out."""
    page = read_page(sample, "instructors/pictures")
    shown = page.select(".course-projector")
    assert [one.svg.title.get_text().rstrip(".") for one in shown] == list(PICTURES.values())
    assert len(page.select("svg.course-diagram")) == len(PICTURES)
    sections = [one.find_parent("section") for one in shown]
    assert [section.h2.find(string=True) for section in sections] == [LESSONS[name] for name in PICTURES]
    assert sections[1].p.get_text() == "Two & more. From About <second>."
    assert [section.p.a["href"] for section in sections] == [f"../chapters/{name}.html" for name in PICTURES]


def test_a_picture_can_be_shown_alone_left_and_followed_by_the_next(open_sample):
    page = open_sample("instructors/pictures.html")
    window = {"x": 0, "y": 0, "width": WIDTHS["desktop"], "height": HEIGHTS["desktop"]}

    def filling():
        boxes = {one: page.locator(f"#picture-{one.replace('_', '-')}").bounding_box() for one in PICTURES}
        return [one for one, box in boxes.items() if box == window]

    assert filling() == []
    links = page.locator(".course-projector a:visible")
    assert links.all_inner_texts() == ["Show it alone"] * 3
    links.nth(1).click()
    assert filling() == ["second"]
    page.locator("#picture-second a:visible", has_text="Next").click()
    assert filling() == ["last"]
    assert page.locator("#picture-last a:visible").all_inner_texts() == ["Close"]
    assert not run_axe(page)
    page.locator("#picture-last a:visible").click()
    assert filling() == []


def test_what_lessons_need_and_teach_is_drawn_and_listed(sample):
    page = read_page(sample, "instructors/objectives")
    assert page.select_one("svg.course-diagram desc").get_text() == (
        "About <second> needs Heads & more; Plain needs About <second>; The last needs About <second>."
    )
    parts = {section.h2.find(string=True): section for section in page.select("section > section")}
    assert list(parts) == ["First part", "Last part"]
    assert [item.get_text() for part in parts.values() for item in part.select("li")] == [
        "Heads & more. Afterwards you can say heads.",
        "About <second> needs Heads & more. Afterwards you can say second.",
        "Plain needs About <second>. Afterwards you can say plain.",
        "The last needs Heads & more, About <second>. Afterwards you can say last.",
    ]


def test_a_need_that_another_need_has_is_not_drawn():
    needs = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "c"], "e": ["a"]}
    assert direct_needs(needs) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"], "e": ["a"]}


@pytest.mark.parametrize(
    ("needs", "lanes"),
    [
        # The shorter lies inside. An arrow to the next lesson needs no lane.
        ({"a": [], "b": ["a"], "c": ["a"], "d": ["b"], "e": ["d"], "f": ["a"]}, {"b": 0, "a": 1}),
        ({"a": [], "b": ["a"], "c": [], "d": ["a"], "e": ["d"], "f": [], "g": ["e"]}, {"a": 0, "e": 0}),
    ],
)
def test_arrows_that_would_meet_have_lanes_of_their_own_and_others_share_one(needs, lanes):
    assert lanes_of(needs) == lanes


def test_a_lesson_that_does_not_say_is_named(sample):
    with pytest.raises(ValueError, match="turning must say"):
        read_lesson(SimpleNamespace(srcdir=sample.parents[1]), "turning")


def test_the_page_of_mistakes_leads_to_the_heading_of_every_exercise(site, tmp_path):
    for path in (ROOT / "chapters").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(text.replace(PLACEHOLDER, "a"), encoding="utf-8")
    tasks = tuple(Task(exercise, 1, None) for lesson in CHAPTERS for exercise in chapter_exercises(lesson))
    assignment, page = Assignment(tuple(CHAPTERS), tasks, "0", "", "00", None, 0.0), tmp_path / "mistakes.html"
    write_mistakes(assignment, [], tmp_path, page)
    links = re.findall(r'<a href="https://[^"]*/(chapters/[^"#]+)#([^"]+)">', page.read_text(encoding="utf-8"))
    assert len(links) == len(tasks)
    assert [(name, place) for name, place in links if place not in anchors(SITE / name)] == []
