"""The state that is written in the reader's browser: its arithmetic beside PyTorch's, and what a reader sees of it."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from built_site import WIDTHS
from explorer_pages import Mounted
from visits import run_axe

from attention_course.explore import explore_state
from attention_course.explore.state import read_state

NAMES = ["Ann", "Ben", "Cem", "Dan", "Eva", "Fei"]
LETTERS = "ABCDEF"
PAIRS = list(zip(["Ann", "Ben", "Cem", "Dan", "Eva", "Fei", "Ann", "Ben", "Ann", "Ben"], "CAFBDEFDEB", strict=True))
SHARES = [round(0.5 + step / 20, 2) for step in range(11)]


def make_keys(width: int = 4) -> torch.Tensor:
    """Six keys of length 1, which overlap."""
    return F.normalize(torch.randn(6, width, generator=torch.Generator().manual_seed(3)), dim=-1)


def make_explorer(**options):
    """Six names, two of which get other letters."""
    return explore_state(NAMES, make_keys(), PAIRS, LETTERS, alt="Pairs that are written into a state.", **options)


@pytest.fixture
def page(show):
    return show(make_explorer())


def run_in_python(delta: bool, kept: float) -> tuple[np.ndarray, np.ndarray]:
    """What each name reads, and each row of the state, after every pair: `(n_pairs, n_names or d_k, n_letters)`."""
    written = [(NAMES.index(name), LETTERS.index(letter)) for name, letter in PAIRS]
    keys, counts = make_keys().double(), range(1, len(PAIRS) + 1)
    runs = [read_state(keys, written[:count], 6, delta=delta, kept=kept) for count in counts]
    states, readings = (torch.stack(each).numpy() for each in zip(*runs, strict=True))
    return readings, states


RUN = "(view, [delta, kept, n]) => Array.from({length: n + 1}, (_, i) => view.explorer.run(delta, kept, i))"


def test_the_browser_computes_what_pytorch_computes(page):
    """Every state and every reading to 12 digits, by both rules, at all shares kept, after every pair."""
    view = page.locator(".course-explorer-view")
    for delta in (False, True):
        for kept in SHARES:
            runs = view.evaluate(RUN, [delta, kept, len(PAIRS)])
            readings, states = run_in_python(delta, kept)
            assert not np.any(runs[0]["state"]) and not np.any(runs[0]["readings"])
            np.testing.assert_allclose([run["readings"] for run in runs[1:]], readings, rtol=0, atol=1e-12)
            np.testing.assert_allclose([run["state"] for run in runs[1:]], states, rtol=0, atol=1e-12)
            for run, before, (name, _) in zip(runs[1:], runs, PAIRS, strict=False):
                key = make_keys()[NAMES.index(name)].double().numpy()
                added = np.array(run["state"]) - kept * np.array(before["state"])
                np.testing.assert_allclose(np.outer(key, run["added"]), added, rtol=0, atol=1e-12)


def numbers(cells) -> np.ndarray:
    """What stands in cells, as numbers; an empty one is none."""
    return np.array([float(text.replace("−", "-") or "nan") for text in cells.all_inner_texts()])


def assert_shows(explorer: Mounted, rule: str, kept: float, written: int) -> None:
    """All that is on show is that of this rule, this share and so many pairs."""
    readings, states = run_in_python(rule == "delta", kept)
    view, last = explorer.view, written - 1
    matrix = numbers(view.locator(".course-state-matrix tr:nth-child(n + 2) td")).reshape(4, 6)
    np.testing.assert_allclose(matrix, states[last], rtol=0, atol=0.0051)
    given = dict(PAIRS[:written])
    rows = view.locator(".course-state-readings tbody tr").all()
    right = 0
    for name, row, reading in zip(NAMES, rows, readings[last], strict=True):
        cells = row.locator("td:not(.course-state-answer)")
        answer = row.locator(".course-state-answer").inner_text()
        if name not in given:
            assert set(cells.all_inner_texts()) == {""} and answer == ""
            continue
        np.testing.assert_allclose(numbers(cells), reading, rtol=0, atol=0.0051)
        best = LETTERS[reading.argmax()]
        assert answer == f"{'✓' if best == given[name] else '✗'} {best}"
        framed = cells.evaluate_all("cells => cells.map((cell) => cell.classList.contains('course-state-gold'))")
        assert framed == [letter == given[name] for letter in LETTERS]
        right += best == given[name]
    assert view.locator(".course-state-said").inner_text() == f"Right: {right} of {len(given)}"
    assert explorer.state == {"rule": rule, "kept": kept, "written": written, "right": right}
    newest = view.locator(".course-state-pairs [aria-current=step]")
    assert newest.all_inner_texts() == [" → ".join(PAIRS[last])]


def test_what_is_seen_is_what_was_computed(page):
    """Numbers, frames, answers and the count, as the reader moves all three controls by keyboard."""
    explorer = Mounted(page)
    assert_shows(explorer, "add", 1, 10)
    explorer.control("rule").select_option("1")
    assert_shows(explorer, "delta", 1, 10)
    explorer.press("kept", *["ArrowLeft"] * 4)
    assert_shows(explorer, "delta", 0.8, 10)
    explorer.control("rule").select_option("0")
    explorer.press("written", *["ArrowLeft"] * 3)
    assert explorer.output("written") == "7 of 10" and explorer.output("kept") == "0.8"
    assert_shows(explorer, "add", 0.8, 7)
    explorer.press("kept", "Home")
    explorer.press("written", "Home", "ArrowRight", "ArrowRight")
    assert_shows(explorer, "add", 0.5, 2)
    assert page.errors == []


def test_pairs_tell_which_are_written_which_is_the_last_and_which_are_overwritten(page):
    """As words for who does not see their frames: the newest is the current step, an old one is struck out."""
    explorer = Mounted(page)
    explorer.press("written", *["ArrowLeft"] * 3)
    items = explorer.view.locator(".course-state-pairs li")
    styles = items.evaluate_all(
        """items => items.map((item) => getComputedStyle(item))
             .map((style) => [style.borderTopStyle, style.textDecorationLine])"""
    )
    assert [style for style, _ in styles] == ["solid"] * 7 + ["dashed"] * 3
    assert [line for _, line in styles] == ["line-through"] + ["none"] * 9
    assert items.nth(6).get_attribute("aria-current") == "step"
    caption = explorer.view.locator(".course-state-matrix figcaption")
    assert "the key of Ann" in caption.inner_text()


def test_a_button_writes_the_next_pair_and_starts_again(page):
    """From the last pair to none, then to the first, which every rule reads as it was written."""
    explorer = Mounted(page)
    button = explorer.view.get_by_role("button")
    assert button.inner_text() == "Start again"
    button.press("Enter")
    assert explorer.state["written"] == 0
    assert explorer.output("written") == "0 of 10"
    assert explorer.view.locator(".course-state-said").inner_text() == "Nothing yet"
    assert explorer.view.locator(".course-state-readings tbody td").all_inner_texts() == [""] * 42
    assert button.inner_text() == "Write the next pair"
    button.press("Enter")
    assert_shows(explorer, "add", 1, 1)


def test_two_that_are_largest_are_a_tie(show):
    """With keys that do not overlap, adding has two letters alike for a name that has had two."""
    pairs = [("Ann", "C"), ("Ann", "F")]
    explorer = Mounted(show(explore_state(["Ann"], torch.tensor([[1.0]]), pairs, LETTERS, alt="One name.")))
    answer = explorer.view.locator("td.course-state-answer")
    assert (answer.inner_text(), explorer.state["right"]) == ("✗ tie", 0)
    explorer.control("rule").select_option("1")
    assert (answer.inner_text(), explorer.state["right"]) == ("✓ F", 1)


def test_words_are_text(show):
    """Markup in a name or a letter is shown as it was written."""
    names, letters = ["<b>a", "&lt;"], ["<", "B"]
    keys = torch.eye(2)
    page = show(explore_state(names, keys, [("<b>a", "<"), ("&lt;", "B")], letters, alt="<img src=x>"))
    explorer = Mounted(page)
    assert explorer.view.locator(".course-state-pairs li").all_inner_texts() == ["<b>a → <", "&lt; → B"]
    assert explorer.view.locator(".course-state-readings tbody th").all_inner_texts() == names
    assert explorer.view.locator("b, i, img").count() == 0 and page.errors == []


def make_largest():
    """As many of everything, and as long names, as there may be."""
    names = [f"Nam{mark}" for mark in "abcdefghijkl"]
    keys = F.normalize(torch.randn(12, 12, generator=torch.Generator().manual_seed(0)), dim=-1)
    pairs = [(names[index % 12], LETTERS[index * 5 % 6]) for index in range(24)]
    return explore_state(names, keys, pairs, LETTERS, alt="As much as there may be.")


def test_accessible_and_within_the_page(show, scheme, width):
    """Axe finds no violation, nothing is refused under a strict policy, and nothing lies off the screen or is cut."""
    page = show(make_explorer(), make_largest(), scheme=scheme, width=width)
    for rule in ("0", "1"):
        Mounted(page, 0).control("rule").select_option(rule)
        Mounted(page, 0).press("written", "ArrowLeft", "ArrowLeft")
        assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    wide = page.locator(".course-explorer-view :is(li, td, th, p, button, figcaption)").evaluate_all(
        """parts => parts.filter((part) => part.getBoundingClientRect().right > innerWidth
             || part.scrollWidth > part.clientWidth + 1).map((part) => part.outerHTML)"""
    )
    assert wide == []
    assert page.errors == []


def test_nothing_moves_as_pairs_are_written(show):
    """On a phone the tables stand where they stood, whatever their captions say."""
    explorer = Mounted(show(make_explorer(), width="phone"))
    tops = set()
    for _ in range(11):
        tops.add(explorer.view.locator(".course-state-readings table").bounding_box()["y"])
        explorer.view.get_by_role("button").click()
    assert len(tops) == 1


def test_without_scripts_the_first_state_is_there(show):
    """And no control that would do nothing."""
    page = show(make_explorer(), java_script_enabled=False, width="phone")
    assert page.locator(".course-explorer-first svg").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert page.locator("input, select, button").count() == 0
    assert "Right: " in page.locator(".course-explorer-first").text_content()


def test_starts_where_it_is_told_to_also_in_a_folder_and_prints(show):
    """The rule, the share and the number of pairs are those of Python; on paper it is without the button."""
    page = show(make_explorer(delta=True, kept=0.9, written=8), from_folder=True)
    explorer = Mounted(page)
    assert_shows(explorer, "delta", 0.9, 8)
    assert explorer.box.locator(".course-explorer-first").count() == 0
    assert page.errors == []
    page.emulate_media(media="print")
    assert not explorer.view.get_by_role("button").is_visible()
    cell = explorer.view.locator(".course-state-matrix td[style]").first
    assert cell.evaluate("cell => getComputedStyle(cell).printColorAdjust") == "exact"
