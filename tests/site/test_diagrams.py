"""What a reader of a diagram could not read is noticed: text that is small, cut off, or on another."""

import pytest
from visits import DIAGRAM_FAULTS, WIDTHS

from attention_course.diagrams import Diagram


@pytest.fixture
def show(browser, tmp_path):
    """A function that shows a diagram on a page as wide as a lesson's on a phone."""

    def show(picture: Diagram):
        page = browser.new_page(viewport={"width": WIDTHS["phone"], "height": 900})
        svg = picture.svg.replace("<svg ", '<svg style="width: 100%; height: auto" ', 1)
        page.set_content(f'<div style="width: 350px">{svg}</div>')
        return page

    return show


def test_faults_are_seen(show):
    picture = Diagram("A picture.", height=100)
    picture.text(10, 20, "the first line")
    picture.text(40, 22, "the second line")
    picture.text(440, 60, "beyond the edge")
    assert show(picture).evaluate(DIAGRAM_FAULTS) == [
        'A picture.: "beyond the edge" is cut off',
        'A picture.: "the first line" lies on "the second line"',
    ]


def test_small_text_is_seen(show):
    picture = Diagram("A picture.", height=100)
    picture.text(10, 20, "fine")
    page = show(picture)
    assert page.evaluate(DIAGRAM_FAULTS) == []
    page.evaluate("document.querySelector('div').style.width = '310px'")
    assert page.evaluate(DIAGRAM_FAULTS) == ['A picture.: "fine" is 9.7 pixels high']


def test_ink_is_the_readers_own_where_colours_are_forced(show):
    picture = Diagram("A picture.", height=100)
    picture.box(10, 20, 100, 40, "decoder")
    page = show(picture)
    page.emulate_media(forced_colors="active", color_scheme="dark")
    ink, text, line = page.evaluate(
        "[getComputedStyle(document.body).color, ...['text', 'rect'].map((part) => "
        "getComputedStyle(document.querySelector(part))).map((style, i) => i ? style.stroke : style.fill)]"
    )
    assert text == line == ink
