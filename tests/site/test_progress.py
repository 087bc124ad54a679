"""What a browser remembers of answered questions, on pages of the site."""

import json

import pytest
from built_site import WIDTHS
from playwright.sync_api import TimeoutError
from visits import run_axe

LESSON = "chapters/masking"
NAMES = "all => all.map((question) => question.dataset.question)"
# For the course alone: the theme, which keeps light or dark, would complain too.
BLOCKED = """for (const name of ["getItem", "setItem"]) {
  const plain = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...rest) {
    if (key === "attention-course") throw Error("blocked");
    return plain.call(this, key, ...rest);
  };
}"""
KEPT = "JSON.parse(localStorage.getItem('attention-course'))"


@pytest.fixture
def reader(browser, origin):
    """A function that opens a page of the site in a browser that remembers what it was asked before."""
    contexts, errors = {}, []

    def reader(name, width="desktop", scheme="light", before="", origin=origin):
        key = width, scheme, before, origin
        if key not in contexts:
            viewport = {"width": WIDTHS[width], "height": 900}
            contexts[key] = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce")
            contexts[key].add_init_script(before)
        page = contexts[key].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: said.type in ("error", "warning") and errors.append(said.text))
        page.goto(f"{origin}/{name}.html", wait_until="load")
        return page

    yield reader
    for context in contexts.values():
        context.close()
    assert errors == []


def answer(page, place=0, rightly=True):
    """Choose the right option of a question, or a wrong one, and check it."""
    check = page.locator(".course-check[data-kind=choice]").nth(place)
    right = int(check.get_attribute("data-right"))
    check.get_by_role("radio").nth(right if rightly else 1 - min(right, 1)).check()
    check.get_by_role("button", name="Check").click()


def marks(page, place):
    """The marks behind the lesson's link in a list. What another page has just kept may come a moment later."""
    found = page.locator(f"{place} a[href*='masking.html'] .course-progress-mark")
    try:
        found.first.wait_for(state="attached", timeout=5000)
    except TimeoutError:  # on a busy machine the page was opened too early, and a page from a folder hears of nothing
        page.reload()
        found.first.wait_for(state="attached")
    return found.all_inner_texts()


def test_a_right_answer_is_counted_once_and_marked(reader):
    page = reader(LESSON)
    names = page.locator("[data-question]").evaluate_all(NAMES)
    total = len(names)
    assert len(set(names)) == total > 2
    assert page.locator(".course-progress").count() == 0
    answer(page, rightly=False)
    assert page.evaluate(KEPT) is None
    answer(page)
    answer(page)
    assert f"You answered 1 of this page’s {total} questions." in page.locator(".course-progress").inner_text()
    assert page.locator(".course-progress-before").count() == 0

    page = reader(LESSON)
    assert page.locator(".course-check[data-kind=choice]").first.locator(".course-progress-before").is_visible()
    assert page.locator(".course-progress-before").count() == 1
    answer(page, 1)
    page = reader("intro")
    spoken = f" 2 of {total} questions answered"
    assert [" ".join(mark.split()) for mark in marks(page, "#the-parts")] == [spoken.strip()]
    assert [" ".join(mark.split()) for mark in marks(page, ".bd-sidebar-primary")] == [spoken.strip()]
    assert page.locator(".course-progress-mark").count() == 2  # of no other page


def test_clearing_forgets_everything_and_says_so(reader):
    answer(reader(LESSON))
    page = reader("intro")
    assert marks(page, "#the-parts")
    page.get_by_role("button", name="Clear it").press("Enter")
    assert page.locator(".course-progress-mark").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "This browser remembers no answers now."
    assert page.evaluate("localStorage.getItem('attention-course')") is None
    page = reader("intro")
    assert page.locator(".course-progress").count() == 0


def test_another_tab_and_a_way_back_show_what_was_answered(reader):
    """Both pages were drawn before."""
    front = reader("intro")
    lesson = reader(LESSON)
    answer(lesson)
    front.locator("#the-parts .course-progress-mark").wait_for()
    front.get_by_role("button", name="Clear it").click()
    lesson.locator(".course-progress").wait_for(state="detached")
    kept = {LESSON: {"total": 3, "right": ["a"]}}
    front.evaluate("kept => localStorage.setItem('attention-course', kept)", json.dumps(kept))
    assert front.locator("#the-parts .course-progress-mark").count() == 0
    front.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert len(marks(front, "#the-parts")) == 1


def test_all_questions(reader):
    """Whoever has them all reads so; what a page no longer asks does not count."""
    page = reader(LESSON)
    names = page.locator("[data-question]").evaluate_all(NAMES)
    asked = page.locator(".course-check[data-kind=choice]").first.get_attribute("data-question")
    right = [name for name in names if name != asked]
    kept = {LESSON: {"total": len(names), "right": [*right, "no longer asked"]}}
    page.evaluate("kept => localStorage.setItem('attention-course', kept)", json.dumps(kept))
    page = reader(LESSON)
    said = f"You answered {len(names) - 1} of this page’s {len(names)} questions."
    assert said in page.locator(".course-progress").inner_text()
    answer(page)
    page = reader("intro")
    assert [" ".join(mark.split()) for mark in marks(page, "#the-parts")] == [f"all {len(names)} questions answered"]


def test_what_cannot_be_read_is_as_nothing(reader):
    page = reader(LESSON)
    for kept in ("null", "7", "[1]", '{"chapters/masking": null}', '{"chapters/masking": {}}', "{"):
        page.evaluate("kept => localStorage.setItem('attention-course', kept)", kept)
        page.reload()
        assert page.locator(".course-progress").count() == 0
        answer(page)
        assert page.locator(".course-progress").count() == 1


def test_a_browser_that_keeps_nothing(reader):
    """The questions work as before."""
    page = reader(LESSON, before=BLOCKED)
    answer(page)
    said = page.locator(".course-check[data-kind=choice] .course-check-result").first.inner_text()
    assert said.startswith("Right.")
    assert page.locator(".course-progress").count() == 0


def test_from_a_folder(reader, site):
    answer(reader(LESSON, origin=site.as_uri()))
    assert len(marks(reader("intro", origin=site.as_uri()), "#the-parts")) == 1


def test_marks_are_accessible_and_not_printed(reader, scheme):
    answer(reader(LESSON, "phone", scheme))
    page = reader("intro", "phone", scheme)
    mark = page.locator("#the-parts .course-progress-mark")
    assert mark.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert page.get_by_role("button", name="Clear it").bounding_box()["height"] >= 24
    assert run_axe(page, {"include": [["#the-parts"]]}) == []
    page.emulate_media(media="print")
    assert not mark.is_visible() and not page.locator(".course-progress").is_visible()
