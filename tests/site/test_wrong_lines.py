"""Code to be mended: a fold that quotes its wrong lines becomes a question, which is answered by tapping lines."""

import pytest
from built_site import WIDTHS
from course_site.quick_checks import Parser, publish_doctree
from course_site.wrong_lines import gather_folds
from sample_book import PAGES
from visits import find_violations

TEXT = (PAGES / "wrong_lines.md").read_text(encoding="utf-8").replace("{code-cell}", "")
CODE = TEXT[TEXT.index("def my_step") : TEXT.index("\n```\n\n### 3")]


@pytest.fixture
def show(open_sample):
    return lambda **options: open_sample("wrong_lines.html", **options)


def line(page, start):
    return page.get_by_role("button", name=start)


def said(page, place=0):
    """What is said of the line that was tapped last, below a code."""
    return page.get_by_role("status").nth(place).inner_text()


def test_lines_are_found_by_tapping(show):
    """Each wrong line is told with its reason, a right one as right, and how many are left."""
    page = show()
    assert page.get_by_text("Two lines are wrong. Tap them in the code below.").is_visible()
    assert page.locator("article summary").first.inner_text() == "Show the answer"
    for start, sentence in (
        ("table = table.clone()", "This line is right: it takes a copy."),
        ("def my_step", "This line is right. Two lines are wrong."),
        ("return table", "Found: a step down subtracts. One more line is wrong."),
        ("return table", "Found: a step down subtracts. One more line is wrong."),  # it counts once
        ("total =", "Found: the mean of n numbers is not their sum by 2. That was the last one."),
    ):
        line(page, start).click()
        assert said(page) == sentence
    verdicts = page.locator(".code-line").evaluate_all("lines => lines.map((line) => line.dataset.verdict)")
    assert [verdict for verdict in verdicts if verdict] == ["right", "right", "wrong", "wrong"]
    assert page.locator(".cell_input pre").nth(1).text_content().strip("\n") == CODE  # it is copied as it stands
    page.locator("article summary").first.click()
    assert page.get_by_text("a step down subtracts").last.is_visible()


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
    """Neither empty lines nor the call of the check, nor the code of other cells; without scripts, none."""
    names = show().locator(".code-line[role=button]").all_inner_texts()
    assert [name.strip().split("(")[0] for name in names] == [
        "def my_step",
        "table = table.clone",
        "total = table.sum",
        "return table + rate * total",
        "def longer",
        "return a_very_long_name_of_a_table + another_very_long_name_of_a_table",
    ]
    plain = show(java_script_enabled=False)
    assert plain.locator("article summary").all_inner_texts()[0] == "Which lines are wrong?"
    assert plain.locator(".code-line[role=button]").count() == 0


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


def test_accessible_when_lines_were_tapped(show, scheme):
    page = show(scheme=scheme, width="phone")
    page.locator("article summary").first.click()
    line(page, "total =").click()
    line(page, "def my_step").click()
    assert find_violations(page, target_size=True) == []


def complaints_about(markdown):
    """What is wrong with the folds of a page in Markdown, whose code stands in it."""
    return gather_folds(publish_doctree(markdown, parser=Parser(), settings_overrides={"report_level": 5}))


@pytest.mark.parametrize(
    ("right", "broken", "complaint"),
    [
        ("- `table = table.clone()`", "- `table = table.copy()`", "stands 0 times in the code: table = table.copy()"),
        ("- `table = table.clone()`", "- table", "quotes a line that is no piece of code in backticks"),
        (" → it takes a copy", "", "without a sentence behind"),
        (
            "    return table",
            "    table = table.clone()\n    return table",
            "stands 2 times in the code: table = table.clone()",
        ),
        ("</details>", "- `one`\n\nMore.\n\n- `two`\n\n</details>", "needs a list of wrong lines"),
        ("```\ndef my_step", "Words.\n\n```\ndef my_step", "does not stand right above its code"),
    ],
)
def test_a_malformed_fold_is_named(right, broken, complaint):
    """What is wrong with it."""
    assert right in TEXT and complaints_about(TEXT) == []
    (found,) = complaints_about(TEXT.replace(right, broken, 1))
    assert complaint in found
