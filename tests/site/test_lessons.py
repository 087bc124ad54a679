"""How far a reader with a phone scrolls in lessons, as the page opens: folds, hints and answers closed."""

import pytest
from lessons import FURTHER, IN_THE_NEW_FORM
from visits import SITE

PHONE = {"width": 390, "height": 844}
MOST_SCREENS = dict.fromkeys(IN_THE_NEW_FORM, 20) | dict.fromkeys(FURTHER, 30)
FIRST_PICTURE = 1.5

# Where the exercises begin and where the first picture ends, in pixels from the top of the page.
MEASURE = """() => {
  const top = (element) => element && element.getBoundingClientRect().top + scrollY;
  const pictures = [...document.querySelectorAll(".bd-article .cell_output :is(img, svg, .course-explorer)")];
  const first = pictures.find((picture) => picture.getBoundingClientRect().height > 50);
  const headings = [...document.querySelectorAll(".bd-article h2")];
  return {
    exercises: top(headings.find((heading) => heading.textContent.startsWith("Exercises"))),
    picture: first && first.getBoundingClientRect().bottom + scrollY,
  };
}"""


def screens(browser, address):
    """Where the exercises begin and the first picture ends, in screens of a phone; `None` where there are none."""
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.fonts.ready.then(() => null)")
    measured = page.evaluate(MEASURE)
    context.close()
    return {name: pixels and pixels / PHONE["height"] for name, pixels in measured.items()}


@pytest.mark.parametrize("lesson", sorted(MOST_SCREENS))
def test_the_exercises_come_soon(browser, site, lesson):
    measured = screens(browser, (SITE / "chapters" / f"{lesson}.html").as_uri())
    assert measured["exercises"] is None or measured["exercises"] <= MOST_SCREENS[lesson]


@pytest.mark.parametrize("lesson", sorted(IN_THE_NEW_FORM))
def test_the_first_picture_comes_at_once(browser, site, lesson):
    measured = screens(browser, (SITE / "chapters" / f"{lesson}.html").as_uri())
    assert measured["picture"] is not None and measured["picture"] <= FIRST_PICTURE


PAGE = """<!doctype html><meta name="viewport" content="width=device-width"><body style="margin: 0">
<article class="bd-article"><details><summary style="height: {above}px">Code</summary><p>{long}</p></details>
<div class="cell_output"><svg height="20"></svg><svg style="display: block" height="{picture}"></svg></div>
<h2>Exercises</h2></article>"""


def test_screens_are_counted_as_the_page_opens(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(above=400, picture=444, long="long " * 5000))
    measured = screens(browser, page.as_uri())
    assert 1 < measured["picture"] < measured["exercises"] < 1.1
    page.write_text("<article class='bd-article'>No picture.</article>")
    assert screens(browser, page.as_uri()) == {"exercises": None, "picture": None}
