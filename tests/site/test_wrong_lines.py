"""Code to be mended: a fold that quotes its wrong lines becomes a question, which is answered by tapping lines."""

import sys

import nbformat
import pytest
from serving import BOOK, serving
from small_book import build, make_book, write_cells
from visits import ROOT, WIDTHS, find_violations

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.quick_checks import Parser, publish_doctree  # noqa: E402
from course_site.wrong_lines import gather_folds  # noqa: E402

BUDGET = 6_000  # bytes of script and style, uncompressed

FOLD = """\
### 2. Mend it (5 min, difficulty 1 of 3)

Two things in it are wrong.

<details><summary>Which lines are wrong?</summary>

- `total = table.sum() / 2` → the mean of `n` numbers is not their sum by 2.
- `return table + rate * total` → a step *down* subtracts.

The other lines are right:

- `table = table.clone()` → it takes a copy.

</details>"""

CODE = """\
def my_step(table, rate):
    table = table.clone()
    total = table.sum() / 2
    return table + rate * total


check("the.step", my_step)"""

ONE = """\
### 3. Mend this one too (5 min, difficulty 1 of 3)

<details><summary>Which line is wrong?</summary>

- `return a_very_long_name_of_a_table + another_very_long_name_of_a_table` → the code is *short*.

</details>"""

LONG = """\
def longer(a_very_long_name_of_a_table):
    return a_very_long_name_of_a_table + another_very_long_name_of_a_table"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A built book of one page with two such folds."""
    book = make_book(tmp_path_factory.mktemp("wrong_lines"))
    text, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [text("# A page\n\n## Exercises"), code("check = print"), text(FOLD), code(CODE), text(ONE), code(LONG)]
    write_cells(book, *cells)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"


@pytest.fixture(scope="module")
def address(folder):
    with serving(folder, BOOK) as origin:
        yield f"{origin}/page.html"


@pytest.fixture
def show(open_page, address):
    """A function that opens the page; there must be no error in it."""
    tabs = []

    def show(scheme="light", width="desktop"):
        tabs.append(open_page(address, scheme, width))
        return tabs[-1].page

    yield show
    assert [error for tab in tabs for error in tab.errors] == []


def line(page, start):
    """The line of code that starts so."""
    return page.get_by_role("button", name=start)


def said(page, place=0):
    """What is said of the line that was tapped last, below a code."""
    return page.get_by_role("status").nth(place).inner_text()


def test_lines_are_found_by_tapping(show, width):
    """Each wrong line is told with its reason, a right one as right, and how many are left."""
    page = show(width=width)
    assert page.get_by_text("Two lines are wrong. Tap them in the code below.").is_visible()
    assert page.locator("summary").first.inner_text() == "Show the answer"
    line(page, "table = table.clone()").click()
    assert said(page) == "This line is right: it takes a copy."
    line(page, "def my_step").click()
    assert said(page) == "This line is right. Two lines are wrong."
    line(page, "return table").click()
    assert said(page) == "Found: a step down subtracts. One more line is wrong."
    line(page, "total =").click()
    assert said(page) == "Found: the mean of n numbers is not their sum by 2. That was the last one."
    verdicts = page.locator(".code-line[data-verdict]").evaluate_all(
        "lines => lines.map((line) => line.dataset.verdict)"
    )
    assert verdicts == ["right", "right", "wrong", "wrong"]


def test_a_line_found_twice_counts_once(show):
    page = show()
    for _ in range(2):
        line(page, "return table").click()
        assert said(page).endswith("One more line is wrong.")


def test_lines_are_found_by_keyboard(show):
    """One after the other, and without the keys' own doings."""
    page = show()
    line(page, "table = table.clone()").focus()
    before = page.evaluate("scrollY")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert said(page).startswith("Found: the mean of n numbers")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said(page).startswith("Found: a step down")
    assert page.evaluate("scrollY") == before


def test_a_single_line(show):
    page = show(width="phone")
    assert page.get_by_text("One line is wrong. Tap it in the code below.").is_visible()
    line(page, "return a_very").click()
    assert said(page, 1) == "Found: the code is short."
    assert said(page, 0) == ""


def test_only_lines_of_the_code_itself_are_buttons(show):
    """Neither empty lines nor the call of the check, nor the code of other cells."""
    names = show().locator(".code-line[role=button]").all_inner_texts()
    assert [name.strip().split("(")[0] for name in names] == [
        "def my_step",
        "table = table.clone",
        "total = table.sum",
        "return table + rate * total",
        "def longer",
        "return a_very_long_name_of_a_table + another_very_long_name_of_a_table",
    ]


def test_a_tap_moves_no_line(show):
    """Lines are as high as a finger needs, wrap inside the screen, and stay where they are."""
    page = show(width="phone")

    def boxes():
        return [each.bounding_box() for each in page.locator(".code-line[role=button]").all()]

    before = boxes()
    assert min(box["height"] for box in before) >= 24
    assert max(box["x"] + box["width"] for box in before) <= WIDTHS["phone"]
    line(page, "def my_step").click()
    line(page, "total =").click()
    assert [box["height"] for box in boxes()] == [box["height"] for box in before]
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]


def test_the_code_is_copied_as_it_stands(show):
    assert show().locator(".cell_input pre").nth(1).text_content().strip("\n") == CODE


def test_the_answer_can_be_shown(show):
    page = show()
    page.locator("summary").first.click()
    assert page.get_by_text("a step down subtracts").is_visible()


def test_plain_without_scripts(browser, address):
    """The fold is there, and the code is code."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("summary").all_inner_texts()[0] == "Which lines are wrong?"
    assert page.locator(".code-line[role=button]").count() == 0
    context.close()


@pytest.mark.parametrize("tapped", [False, True])
def test_accessible(show, scheme, tapped):
    page = show(scheme, "phone")
    page.locator("summary").first.click()
    if tapped:
        line(page, "total =").click()
        line(page, "def my_step").click()
    assert find_violations(page, target_size=True) == []


def test_within_budget(folder):
    files = [folder / "_static" / f"wrong_lines.{suffix}" for suffix in ("js", "css")]
    assert sum(file.stat().st_size for file in files) < BUDGET


@pytest.mark.parametrize(
    ("right", "broken", "complaint"),
    [
        ("- `table = table.clone()`", "- `table = table.copy()`", "stands 0 times in the code: table = table.copy()"),
        ("- `table = table.clone()`", "- table", "quotes a line that is no piece of code in backticks"),
        (" → it takes a copy", "", "without a sentence behind"),
        ("    return", "    table = table.clone()\n    return", "stands 2 times in the code: table = table.clone()"),
        ("</details>", "- `one`\n\nMore.\n\n- `two`\n\n</details>", "needs a list of wrong lines"),
        ("```", "Words.\n\n```", "does not stand right above its code"),
    ],
)
def test_a_malformed_fold_is_named(right, broken, complaint):
    """What is wrong with it."""
    page = f"{FOLD}\n\n```\n{CODE}\n```\n"
    assert right in page
    (found,) = complaints_about(page.replace(right, broken, 1))
    assert complaint in found
    assert complaints_about(page) == []


def complaints_about(markdown):
    """What is wrong with the folds of a page in Markdown, whose code stands in it."""
    document = publish_doctree(markdown, parser=Parser(), settings_overrides={"report_level": 5})
    return gather_folds(document)
