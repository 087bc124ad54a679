"""Quick checks: made of Markdown by the extension, asked by the script, in a real browser."""

import pytest
from built_site import ROOT, WIDTHS
from course_site.quick_checks import malformed_checks
from sample_book import PAGES
from visits import run_axe

TEXT = (PAGES / "checks.md").read_text(encoding="utf-8")
SCRIPT = (ROOT / "_ext" / "course_site" / "quick_checks.js").read_text(encoding="utf-8")
ASKED = ["Prose that asks.", "Prose behind it.", "Prose of the next section."]
COVERED = ["print('the output')", "the output", "Prose that answers."]


@pytest.fixture
def show(open_sample, alone):
    """A function that opens the page of checks without the theme."""
    return lambda scheme="light", **options: open_sample(alone("checks", "quick_checks", scheme), scheme, **options)


def find(page, kind):
    return page.locator(f".course-check[data-kind={kind}]")


def said(page, kind):
    return find(page, kind).get_by_role("status").inner_text()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def answer(page, kind):
    """Check what is chosen, or how lines stand, and return what is said."""
    find(page, kind).get_by_role("button", name="Check").click()
    return said(page, kind)


def submit(page, text):
    find(page, "number").get_by_label("Your answer").fill(text)
    press(page, "Enter")
    return said(page, "number")


def visible(page, texts=(*ASKED, *COVERED)):
    return [text for text in texts if page.get_by_text(text, exact=text != COVERED[0]).is_visible()]


def test_options_by_keyboard_wrong_then_right(show):
    """Arrow keys choose and say nothing; a wrong option gets its own sentence, and another try."""
    page = show()
    group = page.get_by_role("group", name="Predict. Ada’s mentor holds a")
    # Mixed, and always in the same order: writers like to begin with the right one.
    orders = [option.split()[:2] for option in group.locator("label").all_inner_texts()]
    assert orders == [["Ada’s", "result"], ["They", "differ"], ["They", "do"]]
    assert answer(page, "choice") == "Choose one of the options first."
    group.get_by_role("radio").first.focus()
    press(page, "Space", "ArrowDown")
    assert page.get_by_label("They differ in the order").is_checked()
    assert said(page, "choice") == ""
    assert visible(page) == ASKED
    press(page, "Tab", "Enter")
    assert said(page, "choice").startswith("Not this one: a sum has no order.")
    right = find(page, "choice").locator("details")
    assert right.get_attribute("open") is None
    press(page, "Shift+Tab", "ArrowUp")
    assert said(page, "choice") == ""
    press(page, "Tab", "Enter")
    assert said(page, "choice").startswith("Not this one: that would need unequal weights.")
    press(page, "Shift+Tab", "ArrowDown", "ArrowDown", "Tab", "Enter")
    assert said(page, "choice") == "Right."
    assert right.get_by_text("is the same sum as").is_visible()


def test_options_cover_what_follows_and_a_number_what_the_next_cell_shows(show):
    """Code and prose up to the next check too, for they would answer options. The box says what is under it."""
    page = show()
    assert visible(page) == ASKED
    assert page.get_by_text("Covered until").first.inner_text().endswith("above: code, output and text.")
    heights = page.locator(".course-check-covered").evaluate_all("parts => parts.map((part) => part.offsetHeight)")
    assert heights == [0, 0, 0]
    assert page.get_by_text("print('the number')").is_visible()
    assert not page.get_by_text("the number", exact=True).is_visible()
    assert page.get_by_text("Covered until").last.inner_text().endswith("above: output.")
    assert submit(page, "3").endswith("What was covered is open now.")
    assert page.get_by_text("the number", exact=True).is_visible()
    assert visible(page) == ASKED
    page.get_by_label("They do not differ.").check()
    answer(page, "choice")
    assert visible(page) == ASKED + COVERED


def test_a_link_to_what_is_covered_uncovers_it(show, open_sample, alone):
    """When the page opens, and on the page; so does an explorer that a link leads to."""
    page = open_sample(f"{alone('checks', 'quick_checks')}#inside")
    assert visible(page) == ASKED + COVERED
    page = show()
    page.evaluate("location.hash = 'inside'")
    page.get_by_role("link", name="a link in it").wait_for()
    page = show()
    page.evaluate("inside.dispatchEvent(new Event('course-linked', { bubbles: true }))")
    assert visible(page) == ASKED + COVERED
    assert not page.get_by_text("the number", exact=True).is_visible()


@pytest.mark.parametrize("reads", [True, False])
def test_a_late_script_covers_nothing_under_the_reader(open_sample, alone, reads):
    """What stands on the screen already stays; what the reader has left behind is covered as ever."""
    page = open_sample("about:blank")
    held = []
    page.route("**/quick_checks.js", lambda route: held.append(route))
    page.set_viewport_size({"width": 390, "height": 300})
    page.goto(alone("checks", "quick_checks"), wait_until="commit")
    page.get_by_text("Prose of the next section.").wait_for()
    # A style that comes later moves what the reader has before them.
    while not page.evaluate("[...document.querySelectorAll('link[rel=stylesheet]')].every((link) => link.sheet)"):
        page.wait_for_timeout(25)
    target = "div.cell" if reads else "[data-kind=order]"
    page.evaluate(f"scrollTo(0, document.querySelector('{target}').getBoundingClientRect().top + 40)")
    while not held:
        page.wait_for_timeout(25)
    held[0].continue_()
    page.locator("form").first.wait_for(state="attached")
    assert visible(page, COVERED) == (COVERED if reads else [])
    assert page.locator(".course-check-cover").count() == (1 if reads else 2)


def test_what_is_covered_is_no_stop_until_an_answer(show):
    """Not for the Tab key and not for assistive technology; a wrong answer uncovers it too."""
    page = show()
    link = page.get_by_text("a link in it", exact=True)
    assert not link.is_visible()
    assert page.get_by_role("link", name="a link in it").count() == 0
    link.evaluate("link => link.focus()")
    assert page.evaluate("document.activeElement.localName") == "body"
    page.get_by_label("Ada’s result").check()
    assert answer(page, "choice").endswith("What was covered is open now.")
    assert page.get_by_role("link", name="a link in it").is_visible()
    assert page.get_by_role("button", name="Show anyway").count() == 1  # the number's


def test_show_anyway_and_showing_the_answer_uncover(show):
    """The first button is gone then, so the focus moves on to what it uncovered."""
    page = show()
    assert page.locator("summary").all_inner_texts() == ["Show the answer"] * 3 + ["Hint"]
    find(page, "choice").get_by_text("Show the answer").click()
    page.get_by_text("the output", exact=True).wait_for()
    assert visible(page) == ASKED + COVERED
    page = show(width="phone")
    page.get_by_role("button", name="Show anyway").first.press("Enter")
    assert visible(page) == ASKED + COVERED
    assert "the output" in page.evaluate("document.activeElement.textContent")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.textContent") == "a link in it"


def test_nothing_is_covered_in_print(show):
    """Paper has no buttons."""
    page = show()
    page.emulate_media(media="print")
    assert visible(page) == ASKED + COVERED
    assert not page.get_by_text("Show anyway").first.is_visible()
    assert not page.get_by_text("Check", exact=True).first.is_visible()


SAID = {
    "Right.": ["0.67", ".67", "0,67", "2/3", " 2 / 3 ", "⅔", "67 %", "0.6666667", "≈ 0.67", "6.7e-1"],
    "Close: rounded? Give 2 digits behind the point.": ["0.68", "0.66", "0.65"],
    "Not this number: that is the smaller weight.": ["0.33", "1/3", "33%"],
    "Not this number: that is a score.": [".7"],
    "Look at the sign.": ["-0.67", "−2/3"],
    "Not this number.": ["0.5", "½", "1 2/3", "1⅔", "67", "0"],
    "Write a number": ["", "two thirds", "0.6.7", "2/", "0x1"],
}


def test_numbers_as_readers_write_them(show):
    """Decimals with a point or a comma, fractions and percentages. The answer opens with the right one."""
    page = show(width="phone")
    right = find(page, "number").locator("details")
    submit(page, "0")  # uncovers, which is said once
    assert right.get_attribute("open") is None
    for sentence, texts in SAID.items():
        assert [text for text in texts if not submit(page, text).startswith(sentence)] == []
    assert right.get_by_text("two thirds").is_visible()


@pytest.mark.parametrize(
    ("right", "accepted", "refused"),
    [
        ("-1.5", ["-1.5", "−1,5", "-3/2", "-1 1/2", "-1½"], ["1.5", "-1", "-1.56"]),
        ("1024", ["1024", "1,024", "1 024", "1024.0"], ["1.024", "1023.6", "1025"]),
        ("2/3", ["2/3", "0.67", "0.667", "4/6"], ["0.7", "0.66"]),
        ("½", ["½", "0.5", "1/2", "50%"], ["0.52", "2"]),
        ("0", ["0", "0.0", "-0"], ["0.1", "1"]),
    ],
)
def test_how_exact_a_number_has_to_be(open_sample, right, accepted, refused):
    """To the digits that the answer shows: a whole number exactly, a fraction to two digits."""
    page = open_sample("about:blank")
    page.set_content(
        f'<div class="course-check" data-kind="number" data-right="{right}"><p>How many?</p>'
        "<details><summary>Answer</summary></details></div>"
    )
    page.add_script_tag(content=SCRIPT)
    assert [text for text in accepted if submit(page, text) != "Right."] == []
    assert [text for text in refused if submit(page, text) == "Right."] == []
    if right.lstrip("-").isdigit():  # what is counted is not rounded
        assert [text for text in refused if submit(page, text).startswith("Close")] == []


def test_lines_are_put_in_order_by_keyboard(show):
    """The focus stays on the button that moved a line, which is said; the check counts from the top."""
    page = show()
    down = find(page, "order").get_by_role("button", name="Move down: loss.backward()")
    assert answer(page, "order").startswith("No line from the top is right yet.")
    down.press("Enter")
    assert said(page, "order") == "Now line 2 of 3."
    assert answer(page, "order").startswith("The first line is right.")
    down.focus()
    press(page, "Enter", "Enter")
    assert said(page, "order") == "Already the last line."
    assert answer(page, "order") == "Right: all 3 lines are in order."
    assert find(page, "order").locator("details pre").is_visible()


def test_lines_cover_the_cell_that_has_them_in_order(open_sample):
    """Its code too."""
    page = open_sample("about:blank")
    page.set_content(
        '<div class="course-check" data-kind="order"><p>Order.</p><ul><li><code>b = a</code></li><li><code>a = 1</code>'
        "</li></ul><details><summary>Answer</summary><pre>a = 1\nb = a</pre></details></div>"
        '<div class="cell"><div class="cell_input">the code</div></div>'
    )
    page.add_script_tag(content=SCRIPT)
    assert page.locator("div.cell").evaluate("cell => cell.inert")
    page.get_by_role("button", name="Move down: b = a").click()
    assert answer(page, "order") == "Right: all 2 lines are in order. What was covered is open now."
    assert page.get_by_text("the code").is_visible()


def test_lines_are_right_on_a_translated_page(show):
    """Where a browser translates all the same, it is the place of a line that counts."""
    page = show()
    lines = find(page, "order").locator(".course-check-lines code")
    assert lines.evaluate_all("all => all.map((code) => code.translate)") == [False] * 3
    lines.evaluate_all("all => all.forEach((code) => (code.textContent = 'Zeile'))")
    find(page, "order").get_by_role("button", name="Move down: loss.backward()").focus()
    press(page, "Enter", "Enter")
    assert answer(page, "order") == "Right: all 3 lines are in order."


def test_code_keeps_its_indentation_and_wraps(show):
    """Every line is inside the screen of a phone, and what was indented stands further in."""
    page = show(width="phone")
    lefts, rights = page.evaluate("""() => {
      const lines = [...document.querySelectorAll(".course-check-lines code")].map((code) => {
        const range = document.createRange();
        range.selectNodeContents(code);
        return range.getBoundingClientRect();
      });
      return [lines.map((line) => line.left), lines.map((line) => line.right)];
    }""")
    assert lefts[0] > lefts[1] + 20
    assert max(rights) < WIDTHS["phone"]
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]


def test_plain_without_scripts(show):
    """Questions, options and answers are there, and nothing is covered."""
    page = show(java_script_enabled=False)
    assert page.locator("form").count() == 0
    assert visible(page) == ASKED + COVERED
    assert find(page, "choice").locator("ul > li").count() == 5
    assert page.locator("summary").all_inner_texts() == ["Answer", "Answer", "Answer", "Hint"]


def test_accessible(show, scheme):
    """Axe finds no violation, in all words and in their contrast, before answers and with them."""
    page = show(scheme)
    seen = {"include": [[".course-check"], ["div.cell"]], "exclude": [["pre"]]}
    assert run_axe(page, seen) == []
    page.get_by_label("Ada’s result").check()
    answer(page, "choice")
    submit(page, "2/3")
    find(page, "order").get_by_role("button", name="Move down").first.click()
    assert run_axe(page, seen) == []


RIGHT = TEXT[TEXT.index(" Ada's mentor") : TEXT.index(" Half of")]
WRONG = RIGHT.replace("**They do not differ.**", "They do not differ.")
CHOICE, NUMBER, ORDER = "Predict. Ada's mentor", "By hand. The scores", "Put in order. These lines"


@pytest.mark.parametrize(
    ("question", "right", "broken", "complaint"),
    [
        (NUMBER, "- 0.33 → that", "- a third → that", "is no other number: 'a third'"),
        (NUMBER, "- 0.33 → that", "- 0.67 → that", "is no other number: '0.67'"),
        (NUMBER, "**0.67** is", "0.67 is", "is no number: ''"),
        (CHOICE, "**They do not differ.**", "**They differ not.**", "none of the options: 'They differ not.'"),
        (CHOICE, " → a sum has no order.", "", "without a sentence behind"),
        (CHOICE, "- They differ in the order of the two letters. → a sum has no order.\n", "", "what is wrong with"),
        (CHOICE, "more of *a* in it. →", "less of *a* in it. →", "['Ada's result has less"),
        (CHOICE, "- They do not differ.\n", "- They do not differ.\n" * 2, "needs different options, two or more"),
        (CHOICE, TEXT[TEXT.index("- They") : TEXT.index("<details>")], "", "has no list of options"),
        (CHOICE, "<details><summary>Answer</summary>", "Answer:", "not followed by its answer"),
        ("Say why. Ada", "**Predict.**" + RIGHT, "**Say why.**" + WRONG, "none of the options: ''"),
        (ORDER, "- `optimizer.zero_grad()`", "- `optimizer.step()`", "has other lines than its answer"),
        (ORDER, "- `optimizer.zero_grad()`", "- optimizer.zero_grad()", "not one piece of code"),
    ],
)
def test_a_malformed_check_is_named(question, right, broken, complaint):
    """What is wrong, and with which question."""
    assert right in TEXT
    (found,) = malformed_checks(TEXT.replace(right, broken, 1))
    assert complaint in found.replace('"', "'") and question in found


def test_nothing_is_said_of_what_is_well_written():
    for text in (TEXT, TEXT.replace("```python", "``` python"), TEXT.replace("**Predict.**", "**Say why.**")):
        assert malformed_checks(text) == []
    # Only a paragraph of the page is a check.
    assert malformed_checks("- **Predict.** Say what you expect.\n- **Build.** Write it.") == []
