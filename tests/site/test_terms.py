"""Words of the glossary: marked where a chapter first uses them, and explained there, in a real browser."""

import json
import sys

import pytest
from bare_page import bare_page
from bs4 import BeautifulSoup
from docutils import nodes
from playwright.sync_api import expect
from serving import serving
from small_book import build, make_book
from visits import MARK_KINDS_OF_TEXT, ROOT, WIDTHS, run_axe

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.terms import drop_link  # noqa: E402

BUDGET = 5_000  # bytes of script and style, uncompressed

GLOSSARY = """\
# Glossary

cross-attention
: Attention whose queries come [from elsewhere](https://example.org/a#b). See [the other page](chapters/other.md).

gradient
: For each parameter, how fast the loss grows. See [this page](chapters/first.md).

loss
: One number. See [the other page](chapters/other.md).

mask
: What forbids. See [the other page](chapters/other.md).

memory
: What an encoder made. See [the other page](chapters/other.md).

query
: What a position looks for. See [the other page](chapters/other.md#a-part).

recurrent
: Again and again. See [the other page](chapters/other.md).

recurrent network
: A network that reads one symbol after the other. See [the other page](chapters/other.md) and [symbols](#symbols).

softmax
: Positive weights that sum to 1: $p_i = e^{s_i}$. See [this page](chapters/first.md) and
  [the other page](chapters/other.md).

## Symbols

None.
"""

FIRST = """\
# A page on the softmax and the mask

*Does a query have a question?*

Nothing is said of `softmax`, of $softmax$, of the [softmax](other.md), of a softmax-like function,
of unmasked things, of computer memory, or of its **loss**.

| softmax |
| --- |
| a mask  |

```
softmax = mask
```

**Predict.** What does a softmax do?

- A mask.
- A softmax.

<details><summary>Answer</summary>

**A mask.** The softmax.

- A softmax. → no softmax.

</details>

## What is not covered

<details><summary>A proof</summary>

The softmax again.

</details>

- Queries in cross-attention, with *Softmax* as a name, and two losses.

Many recurrent
networks have a softmax, and no second softmax. Do queries need another query?

{lines}

The gradient ends the page.
"""

EXCEPTIONS = """\
said:
  memory: []
"""

MARKS = ["Queries", "cross-attention", "recurrent networks", "softmax", "gradient"]


def write_chapters(book, chapters, glossary=GLOSSARY):
    """Give a book chapters and a glossary; none is written for None."""
    pages = [f"chapters/{name}" for name in chapters]
    (book / "chapters").mkdir()
    for name, text in chapters.items():
        (book / "chapters" / f"{name}.md").write_text(text)
    if glossary:
        (book / "glossary.md").write_text(glossary)
        pages.append("glossary")
    toc = "format: jb-book\nroot: page\nchapters:\n" + "".join(f"  - file: {page}\n" for page in pages)
    (book / "_toc.yml").write_text(toc)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A built book with a glossary and two chapters."""
    book = make_book(tmp_path_factory.mktemp("terms"))
    lines = "\n\n".join(f"{number} is the number of this line." for number in range(40))
    write_chapters(
        book, {"first": FIRST.format(lines=lines), "other": "# Another page\n\nWithout a word.\n\n## A part\n"}
    )
    (book / "_terms.yml").write_text(EXCEPTIONS)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book


@pytest.fixture(scope="module")
def folder(book):
    """Its site, with a page that shows the chapter alone."""
    html = book / "_build" / "html"
    article = soup_of(book, "chapters/first").article.decode_contents()
    (html / "chapters" / "alone.html").write_text(bare_page("Words", "terms", article, static="../_static/"))
    return html


@pytest.fixture(scope="module")
def origin(folder):
    """Its address, under a policy that allows the styles inside formulas, and else only files of the same site."""
    with serving(folder, "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:") as address:
        yield address


@pytest.fixture
def show(browser, origin):
    """A function that opens the chapter; nothing may go wrong as it lives."""
    contexts, errors = [], []

    def show(scheme="light", width="desktop", address=None, **options):
        viewport = {"width": WIDTHS[width], "height": 700}
        context = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: message.type in ("error", "warning") and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address or f"{origin}/chapters/alone.html", wait_until="load")
        return page

    yield show
    for context in contexts:
        context.close()
    assert errors == []


def soup_of(book, name):
    """A page of the built book."""
    return BeautifulSoup((book / "_build" / "html" / f"{name}.html").read_text(), "html.parser")


def words(soup):
    """The marked words of a page."""
    return [" ".join(mark.get_text().split()) for mark in soup.select(".course-term")]


def word(page, name):
    """The button of a word."""
    return page.get_by_role("button", name=name, exact=True)


def shown(page):
    """The entries that are open, each by its term."""
    return page.locator(".course-entry:popover-open .course-entry-term").all_inner_texts()


# --- marks ---------------------------------------------------------------------------------------


def test_the_first_use_in_prose_is_marked(book):
    """Whole words, the longest, capitals and plurals; what is in bold, code, a link, a check or a fold is not."""
    assert words(soup_of(book, "chapters/first")) == MARKS


def test_only_chapters_with_marks_get_entries(book):
    """The glossary itself, other pages and chapters without a word stay as they were."""
    for name in ("page", "glossary", "chapters/other"):
        page = soup_of(book, name)
        assert words(page) == []
        assert page.select(".course-terms, script[src*='terms.js']") == []


def test_entries_follow_in_the_order_of_the_marks(book):
    """With drawn formulas, and links that lead from the chapter's folder; none leads to the page itself."""
    entries = soup_of(book, "chapters/first").select(".course-terms .course-entry")
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


def test_entries_are_not_searched(book):
    """A search for what an entry says finds the glossary, not every page that shows it."""
    script = (book / "_build" / "html" / "_static" / "search-index.js").read_text()
    places = json.loads(script.removeprefix("window.courseSearch = ").rstrip(";\n"))["places"]
    found = {place["address"].split("#")[0] for place in places if "one symbol after the other" in place["text"]}
    assert found == {"glossary.html"}


def test_another_glossary_changes_the_chapters(tmp_path):
    """And so do other exceptions, without a change in the chapter itself."""
    book = make_book(tmp_path)
    glossary = "# Glossary\n\nsoftmax\n: Positive weights."
    write_chapters(book, {"first": "# A page\n\nIt has a softmax and a mask."}, glossary)
    assert build(book).returncode == 0
    assert words(soup_of(book, "chapters/first")) == ["softmax"]
    (book / "glossary.md").write_text("# Glossary\n\nmask\n: What forbids.")
    assert build(book).returncode == 0
    assert words(soup_of(book, "chapters/first")) == ["mask"]
    (book / "_terms.yml").write_text("said:\n  mask: [has, and]\nanother_sense:\n  chapters/other: [mask]\n")
    assert build(book).returncode == 0
    assert words(soup_of(book, "chapters/first")) == ["has"]
    (book / "_terms.yml").write_text("another_sense:\n  chapters/first: [mask]\n")
    assert build(book).returncode == 0
    assert words(soup_of(book, "chapters/first")) == []


def test_a_book_without_a_glossary_is_left_alone(tmp_path):
    """Nothing is marked, and the build passes."""
    book = make_book(tmp_path)
    write_chapters(book, {"first": "# A page\n\nIt has a softmax."}, glossary=None)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    assert words(soup_of(book, "chapters/first")) == []


# --- buttons -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_by_keyboard(show, width, key):
    """A key opens, and the focus goes into the entry; Tab leads to its link, Escape back to the word."""
    page = show(width=width)
    button = word(page, "softmax")
    button.press(key)
    dialog = page.get_by_role("dialog", name="softmax")
    assert dialog.is_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert dialog.evaluate("dialog => document.activeElement === dialog")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "the other page"
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert shown(page) == []


def test_by_mouse(show):
    """A click opens, another one closes; so does a click outside, and the focus returns."""
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


def test_one_is_open_at_a_time(show):
    """The next one closes the last."""
    page = show()
    word(page, "softmax").click()
    word(page, "Queries").click()
    assert shown(page) == ["query"]


def test_tab_goes_on_from_the_word(show):
    """Behind its entry's link comes the next word, not the end of the page; what was left closes."""
    page = show()
    word(page, "Queries").press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "the other page"
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


@pytest.mark.parametrize("name", MARKS)
def test_an_entry_is_beside_its_word_on_the_screen(show, width, name):
    """Whole, wherever the word stands, and never over it."""
    page = show(width=width, has_touch=True)
    button = word(page, name)
    button.scroll_into_view_if_needed()
    button.tap()
    entry = page.locator(".course-entry:popover-open").bounding_box()
    box = button.bounding_box()
    assert entry["x"] >= 0
    assert entry["x"] + entry["width"] <= WIDTHS[width]
    assert entry["y"] >= 0
    assert entry["y"] + entry["height"] <= 700
    assert entry["y"] >= box["y"] + box["height"] - 12 or entry["y"] + entry["height"] <= box["y"] + 12
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]


def test_lines_break_as_without_scripts(show):
    """Every paragraph is as high as in a page of plain text, at many widths."""
    heights = "() => [...document.querySelectorAll('main p, main li')].slice(0, 12).map((box) => box.clientHeight)"
    plain, live = show(java_script_enabled=False), show()
    for width in range(240, 600, 40):
        for page in (plain, live):
            page.set_viewport_size({"width": width, "height": 700})
        assert live.evaluate(heights) == plain.evaluate(heights)


def test_plain_without_scripts(show):
    """The words are text, and no entry is seen."""
    page = show(java_script_enabled=False)
    assert page.locator(".course-term[role]").count() == 0
    assert not page.locator(".course-entry").first.is_visible()


def test_plain_on_paper(show):
    """No line of dots, and no entry, also where one was open."""
    page = show()
    word(page, "softmax").click()
    page.emulate_media(media="print")
    assert page.locator(".course-term").first.evaluate("word => getComputedStyle(word).textDecorationLine") == "none"
    assert not page.locator(".course-entry:popover-open").is_visible()


def test_the_page_of_the_book_works_from_a_folder(show, folder):
    """With the theme around it, and no server; the link leads on."""
    page = show(address=(folder / "chapters" / "first.html").as_uri())
    word(page, "softmax").click()
    page.locator(".course-entry:popover-open").get_by_role("link", name="the other page").click()
    page.wait_for_url("**/chapters/other.html")


def test_accessible(show, folder, scheme):
    """Axe finds no violation, in words and in an open entry, in the theme's colours."""
    page = show(scheme=scheme, address=(folder / "chapters" / "first.html").as_uri())
    word(page, "softmax").click()
    page.evaluate(MARK_KINDS_OF_TEXT)
    assert run_axe(page, {"include": [[".course-term"], [".course-entry:popover-open"]]}) == []


def test_within_budget(folder):
    """Script and style stay small."""
    files = [folder / "_static" / f"terms.{suffix}" for suffix in ("js", "css")]
    assert sum(file.stat().st_size for file in files) < BUDGET
