"""How far a reader with a phone scrolls in lessons, as the page opens: folds, hints and answers closed."""

import pytest
from lessons import FURTHER, LESSON_NAMES
from visits import AS_OPENED, HEIGHTS, WIDTHS

PHONE = {"width": WIDTHS["phone"], "height": HEIGHTS["phone"]}
MOST_SCREENS = dict.fromkeys(LESSON_NAMES, 20) | dict.fromkeys(FURTHER, 30)
FIRST_PICTURE = 1.5


def screens(as_opened):
    """Where the exercises begin and the first picture ends, in screens of a phone; `None` where there are none."""
    return {name: pixels and pixels / PHONE["height"] for name, pixels in as_opened.items()}


@pytest.mark.parametrize(
    ("lesson", "most"), [(f"chapters/{name}.html", most) for name, most in sorted(MOST_SCREENS.items())]
)
def test_the_exercises_come_soon(visit, lesson, most):
    measured = screens(visit(lesson, "dark", "phone").as_opened)
    assert measured["exercises"] is None or measured["exercises"] <= most


@pytest.mark.parametrize("lesson", [f"chapters/{name}.html" for name in sorted(LESSON_NAMES)])
def test_the_first_picture_comes_at_once(visit, lesson):
    measured = screens(visit(lesson, "dark", "phone").as_opened)
    assert measured["picture"] is not None and measured["picture"] <= FIRST_PICTURE


PAGE = """<!doctype html><meta name="viewport" content="width=device-width"><body style="margin: 0">
<article class="bd-article"><details><summary style="height: {above}px">Code</summary><p>{long}</p></details>
<div class="cell_output"><svg height="20"></svg><svg style="display: block" height="{picture}"></svg></div>
<h2>Exercises</h2></article>"""


def test_screens_are_counted_as_the_page_opens(browser):
    page = browser.new_page(viewport=PHONE)
    page.set_content(PAGE.format(above=400, picture=444, long="long " * 5000))
    measured = screens(page.evaluate(AS_OPENED))
    assert 1 < measured["picture"] < measured["exercises"] < 1.1
    page.set_content("<article class='bd-article'>No picture.</article>")
    assert screens(page.evaluate(AS_OPENED)) == {"exercises": None, "picture": None}
    page.close()
