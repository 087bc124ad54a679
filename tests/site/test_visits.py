"""What a visit looks at is enough: one text of each kind stands for the others, and no kind is left out."""

import pytest
from visits import (
    IN_ALL_MODES,
    ROOT,
    SCHEMES,
    SITE,
    VIEW,
    WIDTHS,
    find_violations,
    is_one_of_many,
    modes_of,
    one_of_each_kind,
    page_names,
    visited_pages,
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


@pytest.mark.parametrize(("body", "n_violations"), BODIES.values(), ids=BODIES)
def test_every_kind_of_text_is_looked_at(browser, body, n_violations):
    page = browser.new_page()
    page.set_content(PAGE.format(body=body))
    assert len(find_violations(page)) == n_violations
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


def test_every_page_is_looked_at_in_each_scheme_and_at_each_width(monkeypatch):
    monkeypatch.delenv("THIRD", raising=False)
    modes = {name: modes_of(name) for name in page_names()}
    assert {name for name, looked_at in modes.items() if len(looked_at) == 4} == IN_ALL_MODES
    one_of_many = {name: looked_at[0] for name, looked_at in modes.items() if is_one_of_many(name)}
    assert len(set(one_of_many.values())) == 2
    for name in modes.keys() - one_of_many.keys():
        assert {scheme for scheme, _ in modes[name]} == set(SCHEMES)
        assert {width for _, width in modes[name]} == set(WIDTHS)


def test_of_the_reference_a_third_is_visited_and_of_the_rest_every_page(monkeypatch):
    many = {name for name in page_names() if is_one_of_many(name)}
    seen = []
    for number in "012":
        monkeypatch.setenv("THIRD", number)
        assert set(page_names()) - set(visited_pages()) <= many
        seen += [name for name in visited_pages() if name in many]
    assert sorted(seen) == sorted(many)


def test_every_page_is_looked_at_on_a_phone_and_three_thirds_on_a_desktop_too(monkeypatch):
    pages = [name for name in page_names() if not is_one_of_many(name)]
    on_a_desktop = []
    for number in "012":
        monkeypatch.setenv("THIRD", number)
        assert all(("dark", "phone") in modes_of(name) for name in pages)
        on_a_desktop += [name for name in pages if ("light", "desktop") in modes_of(name)]
    assert set(on_a_desktop) == set(pages)
    assert {name for name in pages if on_a_desktop.count(name) == 3} == IN_ALL_MODES | set(one_of_each_kind())


def test_each_view_is_on_a_page_that_stands_for_its_kind():
    views = {path.stem for path in (ROOT / "attention_course/explore/views").glob("*.js")}
    assert {view for name in one_of_each_kind() for view in VIEW.findall((SITE / name).read_text())} == views
