"""What a visit looks at is enough: one text of each kind stands for the others, and no kind is left out."""

import faults
from visits import (
    IN_ALL_MODES,
    OF_THE_REFERENCE,
    ON_A_DESKTOP,
    ON_A_PHONE,
    ROOT,
    SCHEMES,
    SITE,
    VIEW,
    WIDTHS,
    find_violations,
    is_for_the_week,
    is_one_of_many,
    modes_of,
    one_of_each_kind,
    page_names,
)

PAGE = """<!doctype html><html lang="en"><title>Text</title><main><h1>Text</h1>
<style>body {{ background: #fff; color: #222 }} .dark {{ background: #333 }} .pale {{ color: #ccc }}</style>
{body}</main>"""
FINE = "<p>dark on white</p>" * 50

BODIES = {
    "fine": (FINE, 0),
    "one pale among many": (FINE + "<p class=pale>pale on white</p>", 1),
    "the same pale many times": (FINE + "<p class=pale>pale on white</p>" * 50, 1),
    "pale is fine on dark": (FINE + "<div class=dark><p class=pale>pale on dark</p></div>", 0),
    "the same colour on another ground": (FINE + "<div class=dark><p>dark on dark</p></div>", 1),
    "made pale by its parent": (FINE + "<div style='opacity: .3'><p>faded</p></div>", 1),
    "a word of code": (FINE + "<pre><span class=k>for</span> <span class=pale>word</span></pre>", 1),
    "the same word of code many times": (FINE + "<pre>" + "<span class=pale>word</span> " * 9 + "</pre>", 1),
    "behind the same, hidden from screen readers": ("<p class=pale aria-hidden=true>-</p><p class=pale>pale</p>", 1),
    "in a line of a paragraph": (FINE + "<p>dark and <em class=pale>pale</em></p>", 1),
}


def test_every_kind_of_text_is_looked_at(browser):
    page = browser.new_page()
    found = {}
    for name, (body, _) in BODIES.items():
        page.set_content(PAGE.format(body=body))
        found[name] = len(find_violations(page))
    assert found == {name: n_violations for name, (_, n_violations) in BODIES.items()}
    page.close()


def test_other_rules_look_at_all_there_is(browser):
    page = browser.new_page()
    page.set_content(PAGE.format(body=FINE + "<img src='data:,'>" * 2))
    assert [violation.split(":")[0] for violation in find_violations(page)] == ["image-alt"] * 2
    page.close()


def test_words_of_code_are_looked_at_but_for_those_that_are_nothing_but_coloured(browser):
    page = browser.new_page()
    words = "<span class=k>for</span> <span class=k>in</span> <span class=k role=button></span>"
    page.set_content(PAGE.format(body=f"{FINE}<pre><span class=code-line>{words}</span></pre>"))
    assert [violation.split(":")[0] for violation in find_violations(page)] == ["aria-command-name"]
    assert page.locator("pre .k").all_inner_texts() == ["for", ""]
    page.close()


def test_of_formulas_what_is_spoken_is_looked_at(browser):
    page = browser.new_page()
    spoken = "<span class=katex-mathml><img src='data:,'></span>"
    boxes = "<span class=katex-html aria-hidden=true><span class=pale>x</span></span>"
    page.set_content(PAGE.format(body=f"<p>{spoken}{boxes}</p>"))
    assert [violation.split(":")[0] for violation in find_violations(page)] == ["image-alt"]
    assert page.locator(".katex-html").inner_text() == ""
    page.close()


def test_what_is_touched_is_large_enough_where_that_is_asked(browser):
    page = browser.new_page()
    small = "<button style='width: 9px; height: 9px; padding: 0; border: 0' aria-label='{}'></button>"
    row = small.format("a") + small.format("b")
    page.set_content(PAGE.format(body=f"<nav aria-label='Ways'>{row}</nav><article>{row}</article>"))
    assert find_violations(page) == []
    found = find_violations(page, target_size=True)
    assert [violation.split(":")[0] for violation in found] == ["target-size"] * 2
    page.close()


def test_every_page_is_looked_at_in_each_scheme_and_at_each_width():
    """The course's every week, and on a phone on each change; of the reference some."""
    for name in page_names():
        modes = modes_of(name)
        now = [mode for mode in modes if not is_for_the_week(name, mode)]
        if is_one_of_many(name):
            assert len(modes) == 1 and len(now) == (name in OF_THE_REFERENCE)
            continue
        assert [*map(set, zip(*modes, strict=True))] == [set(SCHEMES), set(WIDTHS)]
        assert ON_A_PHONE in now and (ON_A_DESKTOP in now or name not in one_of_each_kind())
    assert len({modes_of(name)[0] for name in page_names() if is_one_of_many(name)}) == 2
    assert {*IN_ALL_MODES, *OF_THE_REFERENCE, *one_of_each_kind()} <= set(page_names())


LESSON, ORIGIN = "chapters/self_attention.html", "http://here"
NO_FAULT = {
    **dict.fromkeys(("errors", "requests", "violations", "overflow", "squashed", "diagram_faults"), []),
    **{"background": 0.01, "figures": [(0.1, 0.6)], "formulas": 1, "fonts": ["KaTeX_Main"], "unrendered_formulas": []},
    **{"explorers": 1, "mounted_explorers": 1, "asked_for": [f"{ORIGIN}/{LESSON}"], "off_screen": {"wide": []}},
    **{"as_opened": {"exercises": 844, "picture": 844}, "wide_code": 0, "wrapped": [(4, 0, 40)]},
}
FAULTS = {
    **{name: ["one"] for name in ("errors", "requests", "violations", "overflow", "squashed", "diagram_faults")},
    **{"background": 0.9, "figures": [(0.1, 0.6), (0.9, 0.6)], "fonts": ["Another"], "unrendered_formulas": ["x"]},
    **{"mounted_explorers": 0, "asked_for": [f"{ORIGIN}/{LESSON}", f"{ORIGIN}/objects.inv"], "wide_code": 1},
    **{"off_screen": {"wide": ["a table"]}, "wrapped": [(4, 5, 40)]},
    "as_opened": {"exercises": 844 * 21, "picture": None},
}


def test_every_fault_is_told(monkeypatch):
    monkeypatch.setattr(faults, "sent", lambda path: 600_000 if path.name == "objects.inv" else 1)
    mode = (LESSON, "dark", "phone", ORIGIN)
    assert faults.find_faults(NO_FAULT, *mode) == {}
    assert [name for name, seen in FAULTS.items() if len(faults.find_faults(NO_FAULT | {name: seen}, *mode)) != 1] == []
    assert len(faults.find_faults(NO_FAULT | FAULTS, *mode)) == len(FAULTS)


def test_each_view_is_on_a_page_that_stands_for_its_kind():
    views = {path.stem for path in (ROOT / "attention_course/explore/views").glob("*.js")}
    assert {view for name in one_of_each_kind() for view in VIEW.findall((SITE / name).read_text())} == views
