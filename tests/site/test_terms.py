"""Words of the glossary: marked where a chapter first uses them, and explained there, in a real browser."""

import json
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from built_site import HEIGHTS, WIDTHS
from course_site.quick_checks import Parser, publish_doctree
from course_site.terms import depend_on_exceptions, drop_link, mark_terms
from docutils import nodes
from playwright.sync_api import expect
from small_book import read_page
from visits import run_axe

PAGE = "chapters/terms"
MARKS = ["Queries", "cross-attention", "recurrent networks", "softmax", "gradient"]
LINK = "the other page"


@pytest.fixture
def show(open_sample, alone):
    """A function that opens the chapter without the theme."""
    return lambda *mode, **options: open_sample(alone(PAGE, "terms"), *mode, **options)


def word(page, name):
    return page.get_by_role("button", name=name, exact=True)


def shown(page):
    return page.locator(".course-entry:popover-open .course-entry-term").all_inner_texts()


def focused(page):
    return page.evaluate("document.activeElement.textContent")


def read(markdown):
    settings = {"myst_enable_extensions": ["deflist", "dollarmath"], "report_level": 5}
    return publish_doctree(markdown, parser=Parser(), settings_overrides=settings)


def marks_of(folder, text, exceptions="", glossary="mask\n: What forbids.\n\nsoftmax\n: Weights.", page="chapters/a"):
    (folder / "_terms.yml").write_text(exceptions or "{}")
    env = Mock(srcdir=folder, get_doctree={"glossary": read(glossary)}.get, found_docs={page, "glossary"})
    document = read(text)
    mark_terms(SimpleNamespace(env=env), document, page)
    return [mark.astext() for mark in document.findall(nodes.inline) if "course-term" in mark["classes"]]


def test_the_first_use_in_prose_is_marked(sample):
    """Whole words, the longest, capitals and plurals; what is in bold, code, a link, a check or a fold is not."""
    page = read_page(sample, PAGE)
    assert [" ".join(mark.get_text().split()) for mark in page.select(".course-term")] == MARKS


@pytest.mark.parametrize(
    ("exceptions", "marks"),
    [
        ("", ["softmax", "mask"]),
        ("said:\n  mask: [has, and]\nanother_sense:\n  chapters/b: [mask]\n", ["has", "softmax"]),
        ("said:\n  softmax: []\n", ["mask"]),
        ("another_sense:\n  chapters/a: [mask]\n", ["softmax"]),
    ],
)
def test_exceptions(tmp_path, exceptions, marks):
    assert marks_of(tmp_path, "It has a softmax and a mask.", exceptions) == marks


def test_only_chapters_are_marked(tmp_path):
    """Nor anything in a book without a glossary, or with an empty one."""
    assert marks_of(tmp_path, "It has a softmax.", page="page") == []
    assert marks_of(tmp_path, "It has a softmax.", glossary="# Glossary") == []
    app = SimpleNamespace(env=SimpleNamespace(found_docs={"chapters/a"}))
    mark_terms(app, read("It has a softmax."), "chapters/a")


def test_the_glossary_is_read_again_with_other_exceptions():
    """And chapters with it: see test_another_build.py."""
    noted = []
    for page in ("page", "glossary"):
        depend_on_exceptions(SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append)), page, [])
    assert noted == ["_terms.yml"]


def test_entries_follow_in_the_order_of_the_marks(sample):
    """With drawn formulas, and links that lead from the chapter's folder; none leads to the page itself."""
    entries = read_page(sample, PAGE).select(".course-terms .course-entry")
    names = [entry.select_one(".course-entry-term").get_text() for entry in entries]
    assert names == ["query", "cross-attention", "recurrent network", "softmax", "gradient"]
    assert [[link["href"] for link in entry("a")] for entry in entries] == [
        ["other.html#a-part"],
        ["https://example.org/a#b", "other.html"],
        ["other.html", "../glossary.html#symbols"],
        ["other.html"],
        [],
    ]
    assert entries[3].select_one(".katex-html")
    assert " ".join(entries[3]("p")[-1].get_text().split()).endswith(". See this page and the other page.")
    assert entries[4]("p")[-1].get_text().strip() == "For each parameter, how fast the loss grows."


@pytest.mark.parametrize(
    ("before", "behind", "left"),
    [
        ("A score. See ", ".", "A score. "),
        ("A score. See ", "", "A score. "),
        ("A score. See ", " and more.", "A score. See this page and more."),
        ("A score. Also ", ".", "A score. Also this page."),
        ("", " has it.", "this page has it."),
    ],
)
def test_an_entry_without_a_link_is_whole_sentences(before, behind, left):
    """The sentence is cut where it says nothing else."""
    link = nodes.reference("", "this page")
    entry = nodes.paragraph("", "", *(nodes.Text(text) for text in (before,) if text), link, nodes.Text(behind))
    drop_link(link)
    assert entry.astext() == left


def test_entries_are_not_searched(sample):
    """A search for what an entry says finds the glossary, not every page that shows it."""
    script = (sample / "_static" / "search-index.js").read_text(encoding="utf-8")
    places = json.loads(script.removeprefix("window.courseSearch = ").rstrip(";\n"))["places"]
    found = {place["address"].split("#")[0] for place in places if "one symbol after the other" in place["text"]}
    assert found == {"glossary.html"}


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_by_keyboard(show, key):
    """A key opens, and the focus goes into the entry; Tab leads to its link, Escape back to the word."""
    page = show()
    button = word(page, "softmax")
    button.press(key)
    dialog = page.get_by_role("dialog", name="softmax")
    assert dialog.is_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert dialog.evaluate("dialog => document.activeElement === dialog")
    page.keyboard.press("Tab")
    assert focused(page) == LINK
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert shown(page) == []


def test_by_mouse(show):
    """A click opens, another one closes; so does one outside, and the focus returns; the next one closes the last."""
    page = show()
    button = word(page, "softmax")
    for _ in range(2):
        button.click()
        assert shown(page) == ["softmax"]
        button.click()
        assert shown(page) == []
    button.click()
    page.get_by_role("heading").first.click()
    expect(button).to_be_focused()
    assert shown(page) == []
    button.click()
    word(page, "Queries").click()
    assert shown(page) == ["query"]


def test_tab_goes_on_from_the_word(show):
    """Behind its entry's link comes the next word, not the end of the page; what was left closes."""
    page = show()
    word(page, "Queries").press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == LINK
    page.keyboard.press("Tab")
    expect(word(page, "cross-attention")).to_be_focused()
    assert shown(page) == []


def test_the_word_closes_what_it_opened(show):
    """Back on the word, a key closes its entry; so does leaving both."""
    page = show()
    button = word(page, "Queries")
    for key in ("Enter", "Shift+Tab"):
        button.press("Enter")
        page.keyboard.press("Shift+Tab")
        expect(button).to_be_focused()
        assert shown(page) == ["query"]
        page.keyboard.press(key)
        assert shown(page) == []


def test_an_entry_is_beside_its_word_on_the_screen(show, width):
    """Whole, wherever the word stands, and never over it."""
    page = show("light", width, has_touch=True)
    for name in MARKS:
        button = word(page, name)
        button.scroll_into_view_if_needed()
        button.tap()
        entry = page.locator(".course-entry:popover-open").bounding_box()
        box, bottom = button.bounding_box(), entry["y"] + entry["height"]
        assert 0 <= entry["x"] <= entry["x"] + entry["width"] <= WIDTHS[width], name
        assert 0 <= entry["y"] <= bottom <= HEIGHTS[width], name
        assert entry["y"] >= box["y"] + box["height"] - 12 or bottom <= box["y"] + 12, name
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
        button.tap()


def test_lines_break_as_without_scripts(show):
    """Every paragraph is as high as in a page of plain text, at many widths."""
    heights = "() => [...document.querySelectorAll('main p, main li')].slice(0, 12).map((box) => box.clientHeight)"
    plain, live = show(java_script_enabled=False), show()
    assert plain.locator(".course-term[role]").count() == 0
    assert not plain.locator(".course-entry").first.is_visible()
    for width in range(240, 600, 40):
        for page in (plain, live):
            page.set_viewport_size({"width": width, "height": 700})
        assert live.evaluate(heights) == plain.evaluate(heights)


def test_plain_on_paper(show):
    """No line of dots, and no entry, also where one was open."""
    page = show()
    word(page, "softmax").click()
    page.emulate_media(media="print")
    assert page.locator(".course-term").first.evaluate("word => getComputedStyle(word).textDecorationLine") == "none"
    assert not page.locator(".course-entry:popover-open").is_visible()


def test_the_page_of_the_book_works_from_a_folder(open_sample, sample, scheme):
    """With the theme around it, whose colours axe looks at, and no server; the link leads on."""
    page = open_sample((sample / f"{PAGE}.html").as_uri(), scheme)
    word(page, "softmax").click()
    assert run_axe(page, {"include": [[".course-term"], [".course-entry:popover-open"]]}) == []
    page.locator(".course-entry:popover-open").get_by_role("link", name=LINK).click()
    page.wait_for_url("**/chapters/other.html")
