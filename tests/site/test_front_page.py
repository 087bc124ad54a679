"""The front page on a phone: attention within the first screen, and all pages of the course within one and a half."""

from lessons import IN_ORDER
from visits import HEIGHTS

PLACE = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const links = document.querySelectorAll("#the-parts a.reference");
  return {
    tokens: box(".course-live-tokens").bottom,
    sentence: box(".course-live-looks").bottom,
    parts: box("#the-parts").height,
    pages: [...links].map((link) => link.getAttribute("href")),
  };
}"""


def test_attention_and_the_course_are_seen_at_once(open_page, origin):
    page = open_page(f"{origin}/intro.html", "dark", "phone").page
    page.mouse.move(1, 1)
    page.locator(".course-live-cost:not(:empty)").wait_for()
    place = page.evaluate(PLACE)
    assert place["tokens"] < place["sentence"] <= HEIGHTS["phone"]
    assert place["parts"] <= 1.5 * HEIGHTS["phone"]
    assert place["pages"] == [f"chapters/{name}.html" for name in IN_ORDER]
