"""Quick checks: made of Markdown by the extension, asked by the script, in a real browser."""

import sys

import nbformat
import pytest
from bare_page import bare_page
from bs4 import BeautifulSoup
from serving import serving
from small_book import build, make_book, write_cells
from visits import MARK_KINDS_OF_TEXT, ROOT, WIDTHS, run_axe

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.quick_checks import malformed_checks  # noqa: E402

BUDGET = 17_000  # bytes of script and style, uncompressed

CHOICE = """\
**Predict.** Ada's mentor holds *a* and her friend holds *b*. Ben's mentor holds *b* and his friend holds *a*.
How do the two results differ?

- They do not differ.
- Ada's result has more of *a* in it.
- They differ in the order of the two letters.

<details><summary>Answer</summary>

**They do not differ.** Half of *a* plus half of *b* is the same sum as half of *b* plus half of *a*.

- They differ in the order of the two letters. → a sum has no order.
- Ada's result has more of *a* in it. → that would need *unequal* weights.

</details>"""

OPTIONS = CHOICE[CHOICE.index("- They") : CHOICE.index("<details>")]

NUMBER = """\
**By hand.** The scores are 0 and 0.7. What is the larger weight?

<details><summary>Answer</summary>

**0.67** is what is left: two thirds.

- 0.33 → that is the *smaller* weight.
- 0.7 → that is a score.

</details>"""

ORDER = """\
**Put in order.** These lines train a model for one step.

- `    loss.backward()`
- `optimizer.zero_grad()`
- `if training_is_not_over(step, the_number_of_steps_that_were_asked_for):`

<details><summary>Answer</summary>

```python
optimizer.zero_grad()
if training_is_not_over(step, the_number_of_steps_that_were_asked_for):
    loss.backward()
```

</details>"""

UNTOUCHED = """\
<details><summary>Hint</summary>

An exercise has hints.

</details>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A built book of one page: each kind of check, the first two before code cells."""
    book = make_book(tmp_path_factory.mktemp("checks"))
    text, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    show = "from IPython.display import HTML\nprint('the output')\n"
    link = show + 'HTML(\'<a id="inside" href="#a-page">a link in it</a>\')'
    write_cells(
        book,
        text(f"# A page\n\nProse that asks.\n\n{CHOICE}"),
        code(link),
        text(f"Prose that answers.\n\n{NUMBER}"),
        code("print('the number')"),
        text(f"Prose behind it.\n\n{ORDER}\n\n{UNTOUCHED}\n\n## Later\n\nProse of the next section."),
    )
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    html = book / "_build" / "html"
    article = BeautifulSoup((html / "page.html").read_text(), "html.parser").article.decode_contents()
    for theme in ("light", "dark"):
        page = bare_page("Checks", "quick_checks", article, theme, static="_static/")
        (html / f"{theme}.html").write_text(page)
    return html


@pytest.fixture(scope="module")
def origin(folder):
    """Its address, under a policy that allows nothing but files of the same site."""
    with serving(folder) as address:
        yield address


@pytest.fixture
def show(browser, origin):
    """A function that opens the page; `page.errors` fills as it lives."""
    contexts = []

    def show(scheme="light", width="desktop", address=None, **options):
        viewport = {"width": WIDTHS[width], "height": 900}
        context = browser.new_context(color_scheme=scheme, viewport=viewport, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.errors = []
        page.on("console", lambda message: message.type in ("error", "warning") and page.errors.append(message.text))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(address or f"{origin}/{scheme}.html", wait_until="load")
        return page

    yield show
    errors = [error for context in contexts for page in context.pages for error in page.errors]
    for context in contexts:
        context.close()
    assert errors == []


def find(page, kind):
    """The check of a kind."""
    return page.locator(f".course-check[data-kind={kind}]")


def said(page, kind):
    """What the check says of the last answer."""
    return find(page, kind).get_by_role("status").inner_text()


def press(page, *keys):
    """Press keys wherever the focus is."""
    for key in keys:
        page.keyboard.press(key)


def submit(page, answer):
    """Type a number and check it."""
    find(page, "number").get_by_label("Your answer").fill(answer)
    press(page, "Enter")
    return said(page, "number")


# --- options and covers ------------------------------------------------------------------------


def test_options_by_keyboard_wrong_then_right(show, width):
    """Arrow keys choose and say nothing; a wrong option gets its own sentence, and another try."""
    page = show(width=width)
    group = page.get_by_role("group", name="Predict. Ada’s mentor holds a")
    assert group.get_by_role("radio").count() == 3
    answer = find(page, "choice").locator("details")
    group.get_by_role("radio").first.focus()
    press(page, "Space", "ArrowDown")
    assert page.get_by_label("They differ in the order").is_checked()
    assert said(page, "choice") == ""
    press(page, "Tab", "Enter")
    assert said(page, "choice").startswith("Not this one: a sum has no order.")
    assert answer.get_attribute("open") is None
    press(page, "Shift+Tab", "ArrowUp")
    assert said(page, "choice") == ""
    press(page, "Tab", "Enter")
    assert said(page, "choice").startswith("Not this one: that would need unequal weights.")
    press(page, "Shift+Tab", "ArrowDown", "ArrowDown", "Tab", "Enter")
    assert said(page, "choice") == "Right."
    assert answer.get_by_text("is the same sum as").is_visible()


def test_options_are_mixed_and_always_in_the_same_order(show):
    """Writers like to begin with the right one."""
    as_written = ["They do not differ.", "Ada’s result", "They differ"]
    orders = [find(show(width=width), "choice").locator("label").all_inner_texts() for width in WIDTHS]
    assert orders[0] == orders[1]
    assert [next(text for text in as_written if option.startswith(text)) for option in orders[0]] == [
        "Ada’s result",
        "They differ",
        "They do not differ.",
    ]


def test_nothing_chosen_is_no_answer(show):
    """The output stays covered."""
    page = show()
    find(page, "choice").get_by_role("button", name="Check").click()
    assert said(page, "choice") == "Choose one of the options first."
    assert not page.get_by_text("the output", exact=True).is_visible()


ASKED = ["Prose that asks.", "Prose behind it.", "Prose of the next section."]
COVERED = ["print('the output')", "the output", "Prose that answers."]


def visible(page, texts):
    """Which of some texts can be seen."""
    return [text for text in texts if page.get_by_text(text, exact=text != COVERED[0]).is_visible()]


def test_options_cover_what_follows_up_to_the_next_check(show, width):
    """Code and prose too, for they would answer; the box says what is under it."""
    page = show(width=width)
    assert visible(page, ASKED + COVERED) == ASKED
    assert page.get_by_text("Covered until").first.inner_text().endswith("above: code, output and text.")
    heights = page.locator(".course-check-covered").evaluate_all("parts => parts.map((part) => part.offsetHeight)")
    assert heights == [0, 0, 0]
    page.get_by_label("They do not differ.").check()
    find(page, "choice").get_by_role("button", name="Check").click()
    assert visible(page, ASKED + COVERED) == ASKED + COVERED


def test_a_number_covers_what_the_next_cell_shows(show):
    """And nothing else, for prose that goes on seldom has it."""
    page = show()
    assert page.get_by_text("print('the number')").is_visible()
    assert not page.get_by_text("the number", exact=True).is_visible()
    assert page.get_by_text("Covered until").last.inner_text().endswith("above: output.")
    assert submit(page, "3").endswith("What was covered is open now.")
    assert page.get_by_text("the number", exact=True).is_visible()
    assert visible(page, COVERED) == []


def test_a_link_to_what_is_covered_uncovers_it(show, origin):
    """When the page opens, and on the page; so does an explorer that a link leads to."""
    page = show(address=f"{origin}/light.html#inside")
    assert visible(page, COVERED) == COVERED
    page = show()
    page.evaluate("location.hash = 'inside'")
    page.get_by_role("link", name="a link in it").wait_for()
    page = show()
    page.evaluate("inside.dispatchEvent(new Event('course-linked', { bubbles: true }))")
    assert visible(page, COVERED) == COVERED
    assert not page.get_by_text("the number", exact=True).is_visible()


@pytest.mark.parametrize("reads", [True, False])
def test_a_late_script_covers_nothing_under_the_reader(show, origin, reads):
    """What stands on the screen already stays; what the reader has left behind is covered as ever."""
    page = show(address="about:blank")
    held = []
    page.route("**/quick_checks.js", lambda route: held.append(route))
    page.set_viewport_size({"width": 390, "height": 300})
    page.goto(f"{origin}/light.html", wait_until="commit")
    page.get_by_text("Prose of the next section.").wait_for()
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
    find(page, "choice").get_by_role("button", name="Check").click()
    assert said(page, "choice").endswith("What was covered is open now.")
    assert page.get_by_role("link", name="a link in it").is_visible()
    assert page.get_by_role("button", name="Show anyway").count() == 1  # the number's


def test_show_anyway_uncovers_and_goes_there(show):
    """The button is gone, so the focus moves on to what it uncovered."""
    page = show(width="phone")
    page.get_by_role("button", name="Show anyway").first.press("Enter")
    assert visible(page, COVERED) == COVERED
    assert "the output" in page.evaluate("document.activeElement.textContent")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.textContent") == "a link in it"


def test_showing_the_answer_uncovers(show):
    """Whoever reads the answer may see the output."""
    page = show()
    find(page, "choice").get_by_text("Show the answer").click()
    page.get_by_text("the output", exact=True).wait_for()
    assert visible(page, COVERED) == COVERED


def test_nothing_is_covered_in_print(show):
    """Paper has no buttons."""
    page = show()
    page.emulate_media(media="print")
    assert visible(page, COVERED) == COVERED
    assert not page.get_by_text("Show anyway").first.is_visible()
    assert not page.get_by_text("Check", exact=True).first.is_visible()


# --- numbers -------------------------------------------------------------------------------------


RIGHT = ["0.67", ".67", "0,67", "2/3", " 2 / 3 ", "⅔", "67 %", "0.6666667", "≈ 0.67", "6.7e-1"]
CLOSE = ["0.68", "0.66", "0.65"]
WRONG = ["0.5", "½", "1 2/3", "1⅔", "67", "0"]
NONE = ["", "two thirds", "0.6.7", "2/", "0x1"]


def test_numbers_as_readers_write_them(show):
    """Decimals with a point or a comma, fractions and percentages."""
    page = show()
    submit(page, "0")  # uncovers, which is said once
    assert [text for text in RIGHT if submit(page, text) != "Right."] == []
    assert [text for text in CLOSE if submit(page, text) != "Close: rounded? Give 2 digits behind the point."] == []
    assert [
        text for text in ("0.33", "1/3", "33%") if submit(page, text) != "Not this number: that is the smaller weight."
    ] == []
    assert submit(page, ".7") == "Not this number: that is a score."
    assert [text for text in WRONG if not submit(page, text).startswith("Not this number.")] == []
    assert [text for text in NONE if not submit(page, text).startswith("Write a number")] == []
    assert [text for text in ("-0.67", "−2/3") if submit(page, text) != "Look at the sign."] == []


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
def test_how_exact_a_number_has_to_be(show, right, accepted, refused):
    """To the digits that the answer shows: a whole number exactly, a fraction to two digits."""
    page = show(address="about:blank")
    script = (ROOT / "_ext" / "course_site" / "quick_checks.js").read_text()
    page.set_content(
        f'<div class="course-check" data-kind="number" data-right="{right}"><p>How many?</p>'
        "<details><summary>Answer</summary></details></div>"
    )
    page.add_script_tag(content=script)
    assert [text for text in accepted if submit(page, text) != "Right."] == []
    assert [text for text in refused if submit(page, text) == "Right."] == []
    if right.lstrip("-").isdigit():  # what is counted is not rounded
        assert [text for text in refused if submit(page, text).startswith("Close")] == []


def test_a_wrong_number_gets_another_try(show):
    """The answer opens with the right one, and can be opened before."""
    page = show(width="phone")
    answer = find(page, "number").locator("details")
    submit(page, "3")
    assert answer.get_attribute("open") is None
    assert submit(page, "2/3") == "Right."
    assert answer.get_by_text("two thirds").is_visible()


# --- lines in order ------------------------------------------------------------------------------


def test_lines_are_put_in_order_by_keyboard(show, width):
    """The focus stays on the button that moved a line, which is said; the check counts from the top."""
    page = show(width=width)
    check = find(page, "order")
    check.get_by_role("button", name="Check").click()
    assert said(page, "order").startswith("No line from the top is right yet.")
    check.get_by_role("button", name="Move down: loss.backward()").focus()
    press(page, "Enter")
    assert said(page, "order") == "Now line 2 of 3."
    check.get_by_role("button", name="Check").click()
    assert said(page, "order").startswith("The first line is right.")
    check.get_by_role("button", name="Move down: loss.backward()").focus()
    press(page, "Enter", "Enter")
    assert said(page, "order") == "Already the last line."
    check.get_by_role("button", name="Check").click()
    assert said(page, "order") == "Right: all 3 lines are in order."
    assert check.locator("details pre").is_visible()


def test_lines_are_right_on_a_translated_page(show):
    """Where a browser translates all the same, it is the place of a line that counts."""
    page = show()
    check = find(page, "order")
    lines = check.locator(".course-check-lines code")
    assert lines.evaluate_all("all => all.map((code) => code.translate)") == [False] * 3
    lines.evaluate_all("all => all.forEach((code) => (code.textContent = 'Zeile'))")
    check.get_by_role("button", name="Move down: loss.backward()").focus()
    press(page, "Enter", "Enter")
    check.get_by_role("button", name="Check").click()
    assert said(page, "order") == "Right: all 3 lines are in order."


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


# --- everywhere ----------------------------------------------------------------------------------


def test_plain_without_scripts(show):
    """Questions, options and answers are there, and nothing is covered."""
    page = show(java_script_enabled=False)
    assert page.locator("form").count() == 0
    assert visible(page, ASKED + COVERED) == ASKED + COVERED
    assert find(page, "choice").locator("ul > li").count() == 5
    assert page.locator("summary").all_inner_texts() == ["Answer", "Answer", "Answer", "Hint"]


def test_other_details_are_left_alone(show):
    """An exercise's hint stays a hint."""
    page = show()
    assert page.locator("summary").all_inner_texts() == ["Show the answer"] * 3 + ["Hint"]


def test_the_page_of_the_book_works_from_a_folder(show, folder):
    """With the theme around it, and no server."""
    page = show(address=(folder / "page.html").as_uri())
    page.get_by_label("They do not differ.").check()
    find(page, "choice").get_by_role("button", name="Check").click()
    assert said(page, "choice").startswith("Right.")


@pytest.mark.parametrize("answered", [False, True])
def test_accessible(show, scheme, answered):
    """Axe finds no violation, in all words and in their contrast."""
    page = show(scheme=scheme)
    if answered:
        page.get_by_label("Ada’s result").check()
        find(page, "choice").get_by_role("button", name="Check").click()
        submit(page, "2/3")
        find(page, "order").get_by_role("button", name="Move down").first.click()
    page.evaluate(MARK_KINDS_OF_TEXT)
    assert run_axe(page, {"include": [[".course-check"], ["div.cell"]], "exclude": [["pre"]]}) == []


def test_within_budget(folder):
    """Script and style stay small."""
    files = [folder / "_static" / f"quick_checks.{suffix}" for suffix in ("js", "css")]
    assert sum(file.stat().st_size for file in files) < BUDGET


@pytest.mark.parametrize(
    ("right", "broken", "complaint"),
    [
        ("- 0.33 → that", "- a third → that", "is no other number: 'a third'"),
        ("- 0.33 → that", "- 0.67 → that", "is no other number: '0.67'"),
        ("**They do not differ.**", "They do not differ.", "none of the options: ''"),
        ("**They do not differ.**", "**They differ not.**", "none of the options: 'They differ not.'"),
        (" → a sum has no order.", "", "without a sentence behind"),
        ("- They differ in the order of the two letters. → a sum has no order.\n", "", "what is wrong with its wrong"),
        ("more of *a* in it. →", "less of *a* in it. →", "['Ada's result has less"),
        ("- They do not differ.\n", "- They do not differ.\n" * 2, "needs different options, two or more"),
        (OPTIONS, "", "has no list of options"),
        ("**0.67**", "**two thirds**", "is no number: 'two thirds'"),
        ("**0.67** is", "0.67 is", "is no number: ''"),
        ("- `optimizer.zero_grad()`", "- `optimizer.step()`", "has other lines than its answer"),
        ("```python\noptimizer", "``` python\noptimizer", None),
        ("- `optimizer.zero_grad()`", "- optimizer.zero_grad()", "not one piece of code"),
        ("<details><summary>Answer</summary>", "Answer:", "not followed by its answer"),
    ],
)  # fmt: skip
def test_a_malformed_check_is_named(right, broken, complaint):
    """What is wrong, and with which question."""
    text = next(text for text in (CHOICE, NUMBER, ORDER) if right in text)
    found = malformed_checks(text.replace(right, broken))
    assert malformed_checks(text) == []
    if complaint is None:
        assert found == []
    else:
        (found,) = found
        assert complaint in found.replace('"', "'")
        assert text.splitlines()[0].replace("*", "")[:30] in found


def test_which_sentence_explains_it_is_asked_like_a_prediction():
    """Only the words in front differ."""
    text = CHOICE.replace("**Predict.**", "**Say why.**")
    assert malformed_checks(text) == []
    (found,) = malformed_checks(text.replace("**They do not differ.**", "They do not differ."))
    assert "none of the options" in found


def test_a_list_may_speak_of_checks():
    """Only a paragraph of the page itself is a check."""
    assert malformed_checks("- **Predict.** Say what you expect.\n- **Build.** Write it.") == []


def test_a_malformed_check_fails_the_build(tmp_path):
    """With the page and the question."""
    book = make_book(tmp_path)
    cell = nbformat.v4.new_markdown_cell("# A page\n\n" + NUMBER.replace("0.67", "two thirds"))
    write_cells(book, cell)
    result = build(book)
    assert result.returncode != 0
    assert "page.ipynb: WARNING: the quick check 'By hand. The scores are" in result.stdout + result.stderr
